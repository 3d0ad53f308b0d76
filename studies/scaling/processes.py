"""Starts the processes of a training, on this machine or in two network namespaces."""

import contextlib
import os
import socket
import subprocess

from project import CHECK_FAILED, REGARD, ROOT, Failure, need_regard

SPACES = ("regard-a", "regard-b")
ADDRESS = "10.213.0.1"  # of the first namespace


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def command_in(space, command):
    return ["ip", "netns", "exec", space, *command] if space else command


def start(size, arguments, log, link=None, more=None):
    """Starts `size` processes of regard train and returns them. Their output goes to LOG.RANK. With a `link`, odd
    and even ranks are in different network namespaces. `more` maps a rank to more arguments."""
    need_regard()
    port = free_port()
    processes = []
    for rank in range(size):
        variables = {
            "RANK": rank, "WORLD_SIZE": size, "MASTER_ADDR": ADDRESS if link else "127.0.0.1", "MASTER_PORT": port,
        }  # fmt: skip
        command = [REGARD, "train", *arguments, *(more or {}).get(rank, ())]
        with open(f"{log}.{rank}", "wb") as output:
            processes.append(
                subprocess.Popen(
                    [str(word) for word in command_in(link and SPACES[rank % 2], command)],
                    cwd=ROOT,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    env={**os.environ, **{name: str(value) for name, value in variables.items()}},
                )
            )
    return processes


def train(size, arguments, log, link=None):
    """Trains to the end. Raises Failure if a process fails."""
    if size == 1:
        with open(f"{log}.0", "wb") as output:
            codes = [subprocess.call([str(w) for w in (REGARD, "train", *arguments)], cwd=ROOT, stdout=output, stderr=output)]
    else:
        codes = [process.wait() for process in start(size, arguments, log, link)]
    for rank, code in enumerate(codes):
        if code != 0:
            raise Failure(CHECK_FAILED, f"process {rank} of {size} ended with {code}; see {log}.{rank}")


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


def limit(megabits):
    """Limits the link to this rate in each direction; None removes the limit."""
    for space in SPACES:
        rate = ["root", "tbf", "rate", f"{megabits}mbit", "burst", "256kb", "latency", "50ms"] if megabits else ["root"]
        action = "replace" if megabits else "del"
        subprocess.run(
            command_in(space, ["tc", "qdisc", action, "dev", "wire", *rate]), check=bool(megabits), capture_output=True
        )


@contextlib.contextmanager
def namespaces():
    """Creates two network namespaces, joined by a pair of virtual Ethernet devices. Yields True, or False if this
    user or kernel cannot do that."""
    try:
        for space in SPACES:
            ip("netns", "add", space)
        ip("link", "add", "name", "wire", "netns", SPACES[0], "type", "veth", "peer", "name", "wire", "netns", SPACES[1])
        for i, space in enumerate(SPACES):
            ip("-n", space, "addr", "add", f"10.213.0.{i + 1}/24", "dev", "wire")
            for device in ("wire", "lo"):
                ip("-n", space, "link", "set", device, "up")
        works = True
    except (OSError, subprocess.CalledProcessError):
        works = False
    try:
        yield works
    finally:
        for space in SPACES:
            with contextlib.suppress(OSError):
                subprocess.run(["ip", "netns", "del", space], check=False, capture_output=True)
