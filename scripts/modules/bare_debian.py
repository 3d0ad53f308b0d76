"""A bare Debian 12 in a folder, in which a check runs regard: no compiler, no Python, nothing of this machine. Needs
root and debootstrap."""

import http.client
import json
import os
import re
import shutil
import subprocess

from project import BUILD, CHECK_FAILED, ENVIRONMENT_ERROR, Failure, call, warn

NOT_IN_SLIM = ("var/lib/apt/lists", "var/cache/apt", "usr/share/doc", "usr/share/man", "usr/share/locale", "var/log")
ENTER = 'mount -t proc proc "$0/proc" && exec chroot --userspec="$1" "$0" env -i PATH="$2" HOME=/tmp "${@:3}"'
ROOT_USER, NOBODY = "0:0", "65534:65534"


def base_system(*packages):
    """Returns a minimal Debian with these packages, without caches, manual pages, translations and documents, as
    debian:12-slim."""
    if os.geteuid() != 0:
        raise Failure(ENVIRONMENT_ERROR, "chroot needs root; run as root")
    base = BUILD / "debian" / "-".join(["base", *packages])
    if not (base / "finished").is_file():
        if not shutil.which("debootstrap"):
            raise Failure(ENVIRONMENT_ERROR, "found no debootstrap; run apt-get install debootstrap")
        warn(f"making a minimal Debian {' '.join(packages)}")
        shutil.rmtree(base, ignore_errors=True)
        base.parent.mkdir(parents=True, exist_ok=True)
        include = [f"--include={','.join(packages)}"] if packages else []
        call("debootstrap", "--variant=minbase", *include, "bookworm", base)
        for folder in NOT_IN_SLIM:
            shutil.rmtree(base / folder)
            (base / folder).mkdir()
        (base / "finished").touch()
    return base


class Root:
    """A copy of a base system."""

    def __init__(self, base, folder, path="/usr/bin:/bin"):
        self.folder, self.path = folder, path
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        call("cp", "-a", base, folder)

    def command(self, *command, user=NOBODY):
        """Returns a command with an empty environment, /proc and nothing else of this machine."""
        return ["unshare", "--mount", "bash", "-c", ENTER, str(self.folder), user, self.path, *map(str, command)]

    def run(self, *command, text=None, user=NOBODY):
        return call(*self.command(*command, user=user), text=text)

    def check_has_no_compiler(self, *more):
        for name in ("cc", "c++", "gcc", "g++", "ld", "cmake", *more):
            if any((self.folder / folder / name).exists() for folder in ("usr/bin", "bin", "opt/regard/bin")):
                raise Failure(CHECK_FAILED, f"the system has {name}")

    def check_server(self, line, translation, *serve):
        """Starts `regard serve`, translates a line, and stops the server as `docker stop` does."""
        with subprocess.Popen(self.command("regard", "serve", *serve), stderr=subprocess.PIPE, text=True) as server:
            said = []
            for message in server.stderr:
                said.append(message)
                if found := re.search(r"http://[0-9.]+:(\d+)/", message):
                    break
            else:
                raise Failure(CHECK_FAILED, f"regard serve did not start: {''.join(said)[-2000:]}")
            connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=60)
            connection.request("POST", "/translate", json.dumps({"text": line}), {"Content-Type": "application/json"})
            answer = json.loads(connection.getresponse().read())
            connection.close()
            server.terminate()
            server.communicate(timeout=60)
        served = answer.get("translations", [{}])[0].get("text")
        if served != translation or server.returncode != 0:
            raise Failure(
                CHECK_FAILED, f"regard serve answers {answer}, expected {translation}; exit code {server.returncode}"
            )
