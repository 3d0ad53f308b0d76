"""A `regard serve` of the build, for as long as a `with` block lasts."""

import http.client
import json
import re
import subprocess
import threading

from project import ENVIRONMENT_ERROR, REGARD, Failure


class Server:
    def __init__(self, model, *options):
        self.command = [REGARD, "serve", "-m", f"model={model}", "--port", 0, *options]
        self.log = []

    def __enter__(self):
        self.process = subprocess.Popen(list(map(str, self.command)), stderr=subprocess.PIPE, text=True, errors="replace")
        for line in self.process.stderr:
            self.log.append(line)
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
                self.port = int(found[1])
                # Reads the access log, which would fill the pipe otherwise.
                threading.Thread(target=self.read_log, daemon=True).start()
                return self
        raise Failure(ENVIRONMENT_ERROR, "regard serve did not start: " + "".join(self.log)[-500:])

    def read_log(self):
        for line in self.process.stderr:
            if "error" in line or "warning" in line:
                self.log.append(line)

    def __exit__(self, *_):
        self.process.terminate()
        self.exit_code = self.process.wait(timeout=120)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def connect(self, timeout=60):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def get(self, path):
        connection = self.connect()
        connection.request("GET", path)
        return connection.getresponse().read().decode()

    def metric(self, name):
        """Returns the value of a metric, with its labels."""
        for line in self.get("/metrics").splitlines():
            if line.startswith(name + " "):
                return float(line.split()[-1])
        raise KeyError(name)

    @staticmethod
    def ask(connection, body):
        """Returns the status and the JSON of an answer."""
        connection.request("POST", "/translate", json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
