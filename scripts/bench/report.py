"""The output of a benchmark: Markdown while it runs, one JSON object with the figures at the end."""

import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys

from project import BUILD, CORES, ENVIRONMENT_ERROR, INPUT_ERROR, REGARD, ROOT, Failure
from project import processor, read, warn

BENCHES = BUILD / "tests"
BUSY_LOAD = 0.5  # load of other programs above which figures are unreliable


def median(values):
    return statistics.median(values)


def build(*targets):
    """Builds these targets, unless --no-build was given; compiler output goes to standard error."""
    if not Report.builds:
        folders = {True: BENCHES, False: BUILD}
        missing = [target for target in targets if not (folders[target.endswith("_bench")] / target).exists()]
        if missing:
            raise Failure(ENVIRONMENT_ERROR, f"found no {', '.join(missing)} in build/; leave out --no-build")
        return
    done = subprocess.run(
        [ROOT / "scripts" / "build.sh", *targets], stdout=sys.stderr, check=False
    )
    if done.returncode != 0:
        raise Failure(ENVIRONMENT_ERROR, f"cannot build {' '.join(targets)}; see above")


def need_model(folder):
    if not (ROOT / folder).is_dir():
        raise Failure(
            INPUT_ERROR,
            f"found no model in {folder}; train one (build/regard train -c configs/bench.yaml), "
            "or pass --model RUN",
        )
    return folder


def output_of(*command):
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def caches():
    """Returns the sizes of the data caches: ["L1 48K", "L2 2048K", …]."""
    sizes = []
    for cache in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        if read(cache / "type").strip() != "Instruction":
            sizes.append(f"L{read(cache / 'level').strip()} {read(cache / 'size').strip()}")
    return sizes


def machine():
    flags = re.search(r"^flags\s*: (.*)$", read("/proc/cpuinfo"), re.M)
    flags = flags.group(1).split() if flags else []
    memory = re.search(r"^MemTotal:\s*(\d+) kB", read("/proc/meminfo"), re.M)
    return {
        "cpu": processor(),
        "cores": CORES,
        "caches": caches(),
        "instructions": [name for name in ("avx2", "avx512f", "amx_tile") if name in flags],
        "memory_gb": round(int(memory.group(1)) / 1e6) if memory else None,
        "load_before": round(os.getloadavg()[0], 2),
    }


def libtorch():
    cache = read(BUILD / "CMakeCache.txt")
    include = re.search(r"^REGARD_LIBTORCH_INCLUDE:PATH=(.*)$", cache, re.M)
    if not include:
        return None
    torch = pathlib.Path(include.group(1)).parent
    version = read(torch / "share" / "cmake" / "Torch" / "TorchConfigVersion.cmake")
    found = re.search(r'PACKAGE_VERSION "(.*?)"', version)
    return found.group(1) if found else None


def versions():
    return {
        "regard": output_of(REGARD, "--version").removeprefix("regard ").partition("\n")[0] or None,
        "commit": (output_of("git", "describe", "--always", "--dirty") or None) if Report.builds else "built before",
        "libtorch": libtorch(),
        "compiler": output_of("c++", "-dumpfullversion") or None,
        "kernel": platform.release(),
    }


class Report:
    """Prints the Markdown of the benchmarks as they run, and stores it and their figures."""

    builds = True  # False: the programs were built before, perhaps on another machine

    def __init__(self, options):
        self.quick = options.quick
        self.machine = machine()
        self.versions = {}
        self.sections = {}  # Markdown of each verb
        self.all_figures = {}  # figures of each verb
        self.figures = {}  # figures of the current verb
        self.verb = None
        if self.machine["load_before"] > BUSY_LOAD:
            warn(
                f"the load is {self.machine['load_before']}: other programs are running, and figures of "
                "a busy machine are unreliable"
            )

    def begin(self, verb):
        self.verb = verb
        self.figures = self.all_figures[verb] = {}
        self.sections[verb] = ""

    def say(self, markdown):
        """Prints Markdown and adds it to the section of the current verb, after a line about the machine."""
        if not self.sections[self.verb]:
            self._head()
        self.sections[self.verb] += markdown.rstrip("\n") + "\n\n"
        print(markdown.rstrip("\n") + "\n", flush=True)

    def _head(self):
        self.versions = versions()
        m, v = self.machine, self.versions
        print(f"## {self.verb}\n")
        self.sections[self.verb] = "\n"
        self.say(
            f"{m['cpu']}, {m['cores']} cores, {', '.join(m['caches'])}, "
            f"{' '.join(m['instructions'])}; regard {v['regard']} ({v['commit']}), "
            f"LibTorch {v['libtorch']}."
            + (" **Quick: few rounds, not to be quoted.**" if self.quick else "")
        )

    def end(self):
        print(
            json.dumps(
                {
                    "machine": self.machine,
                    "versions": self.versions or versions(),
                    "quick": self.quick,
                    **self.all_figures,
                },
                ensure_ascii=False,
            ),
            flush=True,
        )
