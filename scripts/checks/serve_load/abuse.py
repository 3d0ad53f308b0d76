"""Attacks on a server while others use it: each answer must belong to its request, memory must not grow, and an honest
client must be served throughout."""

import collections
import contextlib
import http.client
import json
import multiprocessing
import os
import random
import socket
import statistics
import struct
import subprocess
import threading
import time

from project import CHECK_FAILED, REGARD, Failure
from server import Server

CLIENTS = 16
LINES = 500


class Attack(threading.Thread):
    """Repeats one kind of misuse until `end`."""

    def __init__(self, kind, port, end, seed):
        super().__init__(daemon=True)
        self.kind, self.port, self.end = kind, port, end
        self.random = random.Random(seed)
        self.count = 0

    def run(self):
        while time.time() < self.end:
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
                    self.kind(self, connection)
            except OSError:
                time.sleep(0.01)
            self.count += 1

    def head(self, length, extra=""):
        return f"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{extra}\r\n".encode()

    def garbage(self, connection):
        connection.sendall(self.random.randbytes(self.random.randrange(1, 5000)) + b"\r\n\r\n")
        connection.recv(1000)

    def half_open(self, connection):
        whole = self.head(30) + b'{"text": "a man on a bicycle"}'
        connection.sendall(whole[: self.random.randrange(len(whole))])
        connection.recv(1000)  # until the server closes it

    def slow(self, connection):
        for byte in self.head(30) + b'{"text": "a man on a bicycle"}':
            connection.sendall(bytes([byte]))
            time.sleep(0.5)

    def oversized(self, connection):
        connection.sendall(self.head(1 << 30))
        for _ in range(1000):
            connection.sendall(b'{"text": "' + b"a" * 65536)

    def endless_chunks(self, connection):
        connection.sendall(b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(2000):
            connection.sendall(b"8000\r\n" + b" " * 0x8000 + b"\r\n")

    def endless_head(self, connection):
        connection.sendall(b"GET / HTTP/1.1\r\n")
        for i in range(5000):
            connection.sendall(f"X-{i}: {'a' * 500}\r\n".encode())

    def invalid_utf8(self, connection):
        body = b'{"text": "' + bytes(self.random.randrange(128, 256) for _ in range(50)) + b'"}'
        connection.sendall(self.head(len(body)) + body)
        connection.recv(1000)

    def disconnect(self, connection):
        body = json.dumps({"text": ["a man rides a bicycle down the street ."] * 50, "stream": "tokens"}).encode()
        connection.sendall(self.head(len(body)) + body)
        if self.random.random() < 0.5:
            connection.recv(200)
        time.sleep(0.2)  # such a request is work for the model

    def reset(self, connection):
        body = b'{"text": "a man on a bicycle"}'
        connection.sendall(self.head(len(body)) + body)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        time.sleep(0.2)

    def ranges(self, connection):
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-" + b",0-" * 2700 + b"\r\n\r\n")
        connection.recv(100)

    def smuggling(self, connection):
        hidden = b"GET /models HTTP/1.1\r\nHost: localhost\r\n\r\n"
        extra = self.random.choice(["Transfer-Encoding: chunked", "Content-Length: 0", "Transfer-Encoding : chunked", "TE: x"])
        connection.sendall(self.head(len(hidden), extra + "\r\n") + b"0\r\n\r\n" + hidden)
        connection.recv(1000)

    def foreign_host(self, connection):
        connection.sendall(b"GET /models HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        connection.recv(1000)

    def idle(self, connection):
        with contextlib.ExitStack() as others:
            for _ in range(200):
                others.enter_context(socket.create_connection(("127.0.0.1", self.port), timeout=5))
            time.sleep(5)

    def slow_reader(self, connection):
        body = json.dumps({"text": ["a man rides a bicycle ."] * 20, "attention": True, "n_best": 1}).encode()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(self.head(len(body)) + body)
        for _ in range(20):
            connection.recv(1)
            time.sleep(1)


# Ways to leave or to mislead a proxy that shares its connection to the server.
PROXY_KINDS = [Attack.smuggling, Attack.disconnect, Attack.reset, Attack.half_open]
KINDS = [*PROXY_KINDS, Attack.garbage, Attack.slow, Attack.oversized, Attack.endless_chunks, Attack.endless_head,
         Attack.invalid_utf8, Attack.ranges, Attack.foreign_host, Attack.idle, Attack.slow_reader]  # fmt: skip


def attack(kinds, port, end, counts):
    """Runs attacks of all kinds in a process of its own, and puts their numbers into a queue."""
    os.nice(10)  # the server is attacked, not the processor
    attacks = [Attack(kind, port, end, seed) for seed, kind in enumerate(kinds)]
    for thread in attacks:
        thread.start()
    while time.time() < end:
        time.sleep(0.2)
    for thread in attacks:
        thread.join(timeout=30)
    counts.put({thread.kind.__name__: thread.count for thread in attacks})


class Client(threading.Thread):
    """Sends tagged requests, and compares each answer with the translation that belongs to it."""

    def __init__(self, port, expected, counts, left, seed):
        super().__init__(daemon=True)
        self.port, self.expected, self.counts, self.left = port, expected, counts, left
        self.random = random.Random(seed)

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        lines = list(self.expected)
        while self.left():
            chosen = self.random.sample(lines, self.random.choice((1, 1, 1, 3)))
            body = {"text": chosen if len(chosen) > 1 else chosen[0]}
            try:
                status, answer = Server.ask(connection, body)
            except (OSError, http.client.HTTPException, ValueError) as error:
                self.counts[f"lost: {type(error).__name__}"] += 1
                connection.close()
                continue
            if status != 200:
                self.counts[f"status {status}"] += 1
                time.sleep(0.1)
                continue
            texts = [translation.get("text") for translation in answer["translations"]]
            right = texts == [self.expected[line] for line in chosen]
            self.counts["right" if right else "wrong"] += 1


def p95(server, line, expected, seconds):
    """Returns the 95th percentile, in milliseconds, of the answers to a client that asks ten times a second."""
    times = []
    end = time.time() + seconds
    while time.time() < end:
        began = time.perf_counter()
        connection = server.connect()
        status, answer = Server.ask(connection, {"text": line})
        connection.close()
        if status != 200 or answer["translations"][0]["text"] != expected:
            raise Failure(CHECK_FAILED, f"an honest client got {status}: {answer}")
        times.append(1000 * (time.perf_counter() - began))
        time.sleep(0.1)
    return statistics.quantiles(times, n=20)[-1]


def translations(model, source, work):
    """Returns the translation of each of the first lines, made by `regard translate`."""
    lines = list(dict.fromkeys(line for line in source.read_text(encoding="utf-8").split("\n") if line))[:LINES]
    (work / "lines").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [REGARD, "translate", "-q", "-m", model, "-i", work / "lines", "-o", work / "translations", "--beam-size", 1]
    subprocess.run(list(map(str, command)), check=True)
    return dict(zip(lines, (work / "translations").read_text(encoding="utf-8").split("\n"), strict=False))


def besiege(server, port, kinds, expected, clients, requests, minutes):
    """Attacks `port` while clients send tagged requests to it, and returns the figures."""
    counts, memory, lock = collections.Counter(), [], threading.Lock()
    began = time.time()
    end = began + 60 * minutes
    queue = multiprocessing.Queue()
    attackers = [multiprocessing.Process(target=attack, args=(kinds, port, end, queue), daemon=True) for _ in range(2)]

    def left():
        with lock:
            return counts["right"] + counts["wrong"] < requests or time.time() < end

    threads = [Client(port, expected, counts, left, seed) for seed in range(clients)]
    for each in attackers + threads:
        each.start()
    attacks = collections.Counter()
    while time.time() < end or any(thread.is_alive() for thread in threads):
        time.sleep(5)
        memory.append((time.time() - began, server.metric("process_resident_memory_bytes") / 1e6))
    for process in attackers:
        attacks.update(queue.get(timeout=120))
        process.join(timeout=60)
    time.sleep(5)
    figures = {
        "answers": counts["right"] + counts["wrong"],
        "wrong": counts["wrong"],
        "clients": clients,
        "others": {key: value for key, value in counts.items() if key not in ("right", "wrong")},
        "attacks": dict(attacks),
        "seconds": time.time() - began,
        "memory_after_a_minute": next(m for t, m in memory if t >= min(60, memory[-1][0])),
        "memory_at_the_end": memory[-1][1],
        "memory_largest": max(m for _, m in memory),
        "open_connections": server.metric("regard_connections") - 1,  # without the one that asks
        "unfinished_sentences": server.metric('regard_unfinished_sentences{model="model"}'),
        "log": [line for line in server.log if "error" in line][:5],
    }
    grows = figures["memory_at_the_end"] > 1.2 * figures["memory_after_a_minute"] + 50
    if counts["wrong"] or figures["unfinished_sentences"] or figures["open_connections"] > 2 or grows:
        raise Failure(CHECK_FAILED, f"the server failed: {figures}")
    return figures


# What the honest client waits for: the attacks that give the model no work, the two clients, and all of it.
IDLE_MODEL = [kind for kind in KINDS if kind not in (Attack.disconnect, Attack.reset, Attack.slow_reader)]
STAGES = (("attacks", IDLE_MODEL, 0), ("clients", [], 2), ("all", KINDS, 2))
OPTIONS = ["--beam-size", 1, "--receive-timeout", 3, "--max-connections", 256]


def run(model, source, work, requests, minutes):
    """Returns the figures. Raises Failure if an answer is wrong or an honest client is not served."""
    expected = translations(model, source, work)
    line = next(iter(expected))
    with Server(model, *OPTIONS) as server:
        waits = {"alone": p95(server, line, expected[line], 20)}
        for name, kinds, of in STAGES:
            last = name == "all"
            honest = []
            seconds = 60 * minutes if last else 60
            probing = threading.Thread(target=lambda: honest.append(p95(server, line, expected[line], seconds - 5)))
            probing.start()
            # Few clients: with many, a client waits for the translations of the others.
            figures = besiege(server, server.port, kinds, expected, of, requests if last else 0, seconds / 60)
            probing.join()
            if not honest:
                raise Failure(CHECK_FAILED, f"the honest client was not served: {figures}")
            waits[name] = honest[0]
    if server.exit_code:
        raise Failure(CHECK_FAILED, f"the server failed, exit code {server.exit_code}: {figures}")
    return figures | {"p95": waits}


# One connection to the server, which all clients of the proxy share.
HAPROXY = """
defaults
  mode http
  option http-buffer-request
  timeout connect 5s
  timeout client 30s
  timeout server 60s
  timeout queue 60s
  timeout http-request 5s
frontend clients
  bind 127.0.0.1:PORT
  default_backend regard
backend regard
  http-reuse always
  http-request set-header Host localhost
  server one 127.0.0.1:UPSTREAM maxconn 1
"""


def run_behind_proxy(model, source, work, requests):
    """Returns the figures of two clients and attacks that share the connection of a proxy to the server."""
    expected = translations(model, source, work)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with Server(model, *OPTIONS) as server:
        settings = HAPROXY.replace("UPSTREAM", str(server.port)).replace("PORT", str(port))
        (work / "haproxy.cfg").write_text(settings, encoding="utf-8")
        with subprocess.Popen(["haproxy", "-q", "-f", str(work / "haproxy.cfg")]) as proxy:
            try:
                time.sleep(2)
                return besiege(server, port, PROXY_KINDS, expected, 2, requests, 1)
            finally:
                proxy.terminate()


def describe(figures):
    """Returns the figures as a Markdown list."""
    attacks = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in figures["attacks"].items())
    others = ", ".join(f"{key} {value:,}" for key, value in figures["others"].items()) or "none"
    honest = ""
    if "p95" in figures:
        waits = {name: f"{milliseconds:.0f} ms" for name, milliseconds in figures["p95"].items()}
        honest = (
            f"- A client that sends a line ten times a second: 95 % of its answers within {waits['alone']} when it is "
            f"alone, {waits['attacks']} beside the attacks that give the model no work, {waits['clients']} beside the "
            f"two clients, {waits['all']} beside all; each was right.\n"
        )
    return (
        f"- {figures['answers']:,} tagged requests of {figures['clients']} clients in {figures['seconds'] / 60:.0f} minutes: "
        f"{figures['wrong']} wrong answers; refused or lost: {others}.\n"
        f"- Attacks at the same time: {attacks}.\n"
        f"{honest}"
        f"- Resident memory: {figures['memory_after_a_minute']:.0f} MB after a minute, "
        f"{figures['memory_at_the_end']:.0f} MB at the end, at most {figures['memory_largest']:.0f} MB. "
        f"{figures['open_connections']:.0f} connections and {figures['unfinished_sentences']:.0f} sentences were left.\n"
    )
