"""A page in Chromium, driven by the DevTools protocol."""

import base64
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.parse

from project import CHECK_FAILED, ENVIRONMENT_ERROR, Failure


class WebSocket:
    """A client for text messages (RFC 6455)."""

    def __init__(self, url):
        place = urllib.parse.urlparse(url)
        self.socket = socket.create_connection((place.hostname, place.port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {place.path} HTTP/1.1\r\nHost: {place.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.buffer += self.socket.recv(4096)
        self.buffer = self.buffer.split(b"\r\n\r\n", 1)[1]

    def send(self, text):
        data = text.encode()
        mask = os.urandom(4)
        length = len(data)
        head = bytes([0x81]) + (
            bytes([0x80 | length]) if length < 126
            else bytes([0x80 | 126]) + length.to_bytes(2, "big") if length < 1 << 16
            else bytes([0x80 | 127]) + length.to_bytes(8, "big")
        )  # fmt: skip
        self.socket.sendall(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)))

    def take(self, count):
        while len(self.buffer) < count:
            received = self.socket.recv(1 << 16)
            if not received:
                raise Failure(ENVIRONMENT_ERROR, "Chromium closed its connection")
            self.buffer += received
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def receive(self):
        message = b""
        while True:
            first, second = self.take(2)
            length = second & 0x7F
            if length > 125:
                length = int.from_bytes(self.take(2 if length == 126 else 8), "big")
            message += self.take(length)
            if first & 0x80:
                return message.decode()


class Page:
    """A tab. `requests` has the URLs of all requests, `messages` what the console said."""

    def __init__(self, program):
        path = shutil.which(program)
        if not path:
            raise Failure(ENVIRONMENT_ERROR, f"found no program {program}; run apt-get install chromium")
        self.profile = tempfile.mkdtemp()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        self.process = subprocess.Popen(
            [path, *options, "--remote-debugging-port=0", f"--user-data-dir={self.profile}", "about:blank"],
            stderr=subprocess.PIPE, text=True, errors="replace",
        )  # fmt: skip
        for line in self.process.stderr:
            if found := re.search(r"listening on (ws://\S+)", line):
                break
        else:
            raise Failure(ENVIRONMENT_ERROR, "Chromium did not start")
        self.socket = WebSocket(found[1])
        self.number, self.session = 0, None
        self.requests, self.messages = [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.receive())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failure(CHECK_FAILED, f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.note(answer)

    def note(self, event):
        parameters = event.get("params", {})
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif event.get("method") == "Log.entryAdded":
            self.messages.append(parameters["entry"]["text"])
        elif event.get("method") == "Runtime.exceptionThrown":
            self.messages.append(json.dumps(parameters["exceptionDetails"])[:500])

    def eval(self, code):
        """Returns the value of JavaScript; waits for promises."""
        result = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise Failure(CHECK_FAILED, f"{code}: {result['exceptionDetails']}"[:600])
        return result["result"].get("value")

    def wait(self, code, what, seconds=60):
        """Waits until JavaScript is true."""
        end = time.time() + seconds
        while not self.eval(f"Boolean({code})"):
            if time.time() > end:
                raise Failure(CHECK_FAILED, f"not seen in {seconds} s: {what}")
            time.sleep(0.05)

    def open(self, url, width=1280, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && document.querySelector('#login')", "the page")

    def type(self, text):
        self.call("Input.insertText", text=text)

    def press(self, key, modifiers=0):
        codes = {"Enter": 13, "Tab": 9, " ": 32}
        text = {"Enter": "\r", " ": " "}.get(key, "") if modifiers == 0 else ""
        common = {"key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": codes[key], "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def picture(self, path):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))
