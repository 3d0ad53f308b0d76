"""Sentences a second and latencies of the server beside batch translation, with wrk."""

import json
import re
import statistics
import subprocess
import time

from project import ENVIRONMENT_ERROR, REGARD, Failure
from server import Server

CONNECTIONS = (1, 8, 64)
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
            for connections in CONNECTIONS:
                served[connections].append(served_speed(server, connections, seconds, script))
    medians = {c: {key: statistics.median(f[key] for f in found) for key in found[0]} for c, found in served.items()}
    return statistics.median(batch), medians
