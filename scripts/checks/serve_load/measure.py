"""Sentences a second and latencies of the server beside batch translation, with wrk, and the memory of idle clients."""

import contextlib
import json
import re
import resource
import socket
import statistics
import subprocess
import time

from project import ENVIRONMENT_ERROR, REGARD, Failure
from server import Server

CONNECTIONS = ((1, 0), (8, 0), (64, 0), (8, 992))  # that send requests, that are idle
# Each connection sends the next line of the file when the last one is answered.
SCRIPT = """
local lines = {}
for line in io.lines("LINES") do lines[#lines + 1] = line end
local next_line = 0
function request()
  next_line = next_line % #lines + 1
  return wrk.format("POST", "/translate", {["Content-Type"] = "application/json"}, lines[next_line])
end
function done(summary, latency, requests)
  io.write(string.format("RESULT %d %d %d %f %f %f\\n", summary.requests, summary.duration,
    summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(95) / 1000, latency:percentile(99) / 1000))
end
"""


def batch_speed(model, source, work, threads, beam, rounds):
    """Returns lines a second of `regard translate`, without its start."""
    one = work / "one_line"
    one.write_text(source.read_text(encoding="utf-8").split("\n")[0] + "\n", encoding="utf-8")
    count = source.read_text(encoding="utf-8").count("\n")

    def seconds(path):
        began = time.perf_counter()
        command = [REGARD, "translate", "-q", "-m", model, "-i", path, "-o", work / "out", "--beam-size", beam, "--threads", threads]
        subprocess.run(list(map(str, command)), check=True, stderr=subprocess.DEVNULL)
        return time.perf_counter() - began

    return statistics.median(count / (seconds(source) - seconds(one)) for _ in range(rounds))


@contextlib.contextmanager
def idle_clients(server, count):
    """Keeps connections open that send nothing."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(count + 1000, hard), hard))
    clients = [socket.create_connection(("127.0.0.1", server.port), timeout=30) for _ in range(count)]
    deadline = time.monotonic() + 30
    while server.metric("regard_connections") < count and time.monotonic() < deadline:
        time.sleep(0.1)
    try:
        yield
    finally:
        for client in clients:
            client.close()


def idle_memory(model, count):
    """Returns the megabytes by which the server grows when so many clients are idle."""
    with Server(model, "--max-connections", count + 100) as server:
        before = server.metric("process_resident_memory_bytes")
        with idle_clients(server, count):
            connected = server.metric("regard_connections") - 1
            if connected < count:
                raise Failure(ENVIRONMENT_ERROR, f"only {connected:.0f} of {count} clients are connected; raise ulimit -n")
            return (server.metric("process_resident_memory_bytes") - before) / 1e6


def served_speed(server, connections, seconds, script):
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "60s", "-s", script, server.url]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    found = re.search(r"RESULT (\d+) (\d+) (\d+) (\S+) (\S+) (\S+)", done.stdout)
    if not found:
        raise Failure(ENVIRONMENT_ERROR, f"wrk failed: {done.stdout[-300:]}{done.stderr[-300:]}")
    requests, microseconds, errors = (int(found[i]) for i in (1, 2, 3))
    if errors:
        raise Failure(ENVIRONMENT_ERROR, f"wrk found {errors} errors")
    return {"speed": requests / (microseconds / 1e6), "p50": float(found[4]), "p95": float(found[5]), "p99": float(found[6])}


def measure(model, source, work, threads, beam, seconds, rounds):
    """Returns the speed of batch translation, and the figures for each number of connections, medians of the rounds."""
    bodies = work / "bodies"
    lines = [line for line in source.read_text(encoding="utf-8").split("\n") if line]
    bodies.write_text("".join(json.dumps({"text": line}) + "\n" for line in lines), encoding="utf-8")
    script = work / "post.lua"
    script.write_text(SCRIPT.replace("LINES", str(bodies)), encoding="utf-8")
    batch, served = [], {c: [] for c in CONNECTIONS}
    for _ in range(rounds):
        batch.append(batch_speed(model, source, work, threads, beam, 1))
        with Server(model, "--beam-size", beam, "--threads", threads) as server:
            served_speed(server, 8, 3, script)  # warm
            for active, idle in CONNECTIONS:
                with idle_clients(server, idle):
                    served[active, idle].append(served_speed(server, active, seconds, script))
    medians = {c: {key: statistics.median(f[key] for f in found) for key in found[0]} for c, found in served.items()}
    return statistics.median(batch), medians
