"""Attacks on a server while others use it: each answer must belong to its request, and memory must not grow."""

import collections
import json
import random
import socket
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
                pass
            self.count += 1

    def head(self, length, extra=""):
        return f"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{extra}\r\n".encode()

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
        connection.sendall(b"POST /translate HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
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


KINDS = [Attack.garbage, Attack.half_open, Attack.slow, Attack.oversized, Attack.endless_chunks, Attack.endless_head,
         Attack.invalid_utf8, Attack.disconnect]  # fmt: skip


class Client(threading.Thread):
    """Sends tagged requests, and compares each answer with the translation that belongs to it."""

    def __init__(self, server, expected, counts, left, seed):
        super().__init__(daemon=True)
        self.server, self.expected, self.counts, self.left = server, expected, counts, left
        self.random = random.Random(seed)

    def run(self):
        connection = self.server.connect()
        lines = list(self.expected)
        while self.left():
            chosen = self.random.sample(lines, self.random.choice((1, 1, 1, 3)))
            body = {"text": chosen if len(chosen) > 1 else chosen[0]}
            try:
                status, answer = self.server.ask(connection, body)
            except OSError as error:
                self.counts[f"lost: {type(error).__name__}"] += 1
                connection.close()
                connection = self.server.connect()
                continue
            if status != 200:
                self.counts[f"status {status}"] += 1
                time.sleep(0.1)
                continue
            texts = [translation.get("text") for translation in answer["translations"]]
            right = texts == [self.expected[line] for line in chosen]
            self.counts["right" if right else "wrong"] += 1


def run(model, source, work, requests, minutes):
    """Returns the figures. Raises Failure if an answer is wrong or memory grows."""
    lines = list(dict.fromkeys(line for line in source.read_text(encoding="utf-8").split("\n") if line))[:LINES]
    (work / "lines").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [REGARD, "translate", "-q", "-m", model, "-i", work / "lines", "-o", work / "translations", "--beam-size", 1]
    subprocess.run(list(map(str, command)), check=True)
    expected = dict(zip(lines, (work / "translations").read_text(encoding="utf-8").split("\n"), strict=False))

    options = ["--beam-size", 1, "--receive-timeout", 3, "--max-connections", 128]
    counts, memory, lock = collections.Counter(), [], threading.Lock()
    began = time.time()
    end = began + 60 * minutes

    def left():
        with lock:
            return counts["right"] + counts["wrong"] < requests or time.time() < end

    with Server(model, *options) as server:
        clients = [Client(server, expected, counts, left, seed) for seed in range(CLIENTS)]
        attacks = [Attack(kind, server.port, end, seed) for seed, kind in enumerate(KINDS * 2)]
        for thread in clients + attacks:
            thread.start()
        while any(client.is_alive() for client in clients):
            time.sleep(5)
            memory.append((time.time() - began, server.metric("process_resident_memory_bytes") / 1e6))
        for attack in attacks:
            attack.join(timeout=60)
        time.sleep(5)
        connections = server.metric("regard_connections")
        unfinished = server.metric('regard_unfinished_lines{model="model"}')
        seconds = time.time() - began
    figures = {
        "answers": counts["right"] + counts["wrong"],
        "wrong": counts["wrong"],
        "others": {key: value for key, value in counts.items() if key not in ("right", "wrong")},
        "attacks": {kind.__name__: sum(a.count for a in attacks if a.kind is kind) for kind in KINDS},
        "seconds": seconds,
        "memory_after_a_minute": next(m for t, m in memory if t >= min(60, memory[-1][0])),
        "memory_at_the_end": memory[-1][1],
        "memory_largest": max(m for _, m in memory),
        "open_connections": connections - 1,  # without the one that asks
        "unfinished_lines": unfinished,
        "exit_code": server.exit_code,
        "log": [line for line in server.log if "error" in line][:5],
    }
    if counts["wrong"] or server.exit_code or unfinished:
        raise Failure(CHECK_FAILED, f"the server failed: {figures}")
    return figures


def describe(figures):
    """Returns the figures as a Markdown list."""
    attacks = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in figures["attacks"].items())
    others = ", ".join(f"{key} {value:,}" for key, value in figures["others"].items()) or "none"
    return (
        f"- {figures['answers']:,} tagged requests of {CLIENTS} clients in {figures['seconds'] / 60:.0f} minutes: "
        f"{figures['wrong']} wrong answers; refused or lost: {others}.\n"
        f"- Attacks at the same time: {attacks}.\n"
        f"- Resident memory: {figures['memory_after_a_minute']:.0f} MB after a minute, "
        f"{figures['memory_at_the_end']:.0f} MB at the end, at most {figures['memory_largest']:.0f} MB. "
        f"{figures['open_connections']:.0f} connections and {figures['unfinished_lines']:.0f} lines were left.\n"
    )


