"""Installs each package of scripts/package.sh in a bare Debian 12 without a compiler, and works with it as the user
nobody: trains the quick start for 100 steps, translates and serves; with the wheel, also in Python, and runs the tests of
the Python package.
The Debian comes from debootstrap, PyTorch for the wheel from the registry that pip is configured for. Needs root.
"""

import pathlib
import shutil

import pages
import project
from bare_debian import NOBODY, ROOT_USER, Root, base_system
from project import BUILD, CHECK_FAILED, INPUT_ERROR, ROOT, USAGE_ERROR, Failure, call, machine, megabytes, warn

WORK = BUILD / "packages"
PAGE = ROOT / "docs" / "deployment.md"
STEPS, LINES = 100, 20
REPOSITORY = ("docs", "examples", "configs", "python", "README.md")  # what the tests of the Python package read besides
PYTHON = """
import sys, time
begin = time.perf_counter()
import regard
seconds = time.perf_counter() - begin
assert "torch" not in sys.modules and seconds < 1.5, seconds
model = regard.Model("run", threads=1)
lines = open("data/test.en", encoding="utf-8").read().splitlines()[:20]
assert model.translate(lines) == open("translations", encoding="utf-8").read().splitlines()
training = regard.train(sys.argv[1], {"training.max_steps": 20, "training.model_dir": "second"}, quiet=True)
assert training.history[-1]["step"] == 20
assert regard.to_torch("run").log_probabilities(["It rains ."], ["Il pleut ."])
regard.plot_attention(model.translate(lines[:1], return_attention=True)[0]).save("attention.svg")
print(regard.__version__)
"""


def arguments():
    parser = project.parser_of("scripts/check.sh packages", __doc__)
    parser.add_argument("packages", nargs="*", type=pathlib.Path, help="files; default: all in dist/")
    parser.add_argument("--write", action="store_true", help="also write the sizes into docs/deployment.md")
    options = parser.parse_args()
    options.packages = options.packages or sorted((ROOT / "dist").glob("regard*"))
    if not options.packages:
        raise Failure(USAGE_ERROR, "found no packages in dist/; run scripts/package.sh")
    for package in options.packages:
        if not package.is_file() or not package.name.endswith((".tar.gz", ".deb", ".whl")):
            raise Failure(INPUT_ERROR, f"{package}: found no file of this name, expected a package of scripts/package.sh")
    return options


def installed(package):
    """Returns a system with the package, and the folder of its programs."""
    name = package.name
    if name.endswith(".whl"):
        root = Root(base_system("python3", "python3-venv"), WORK / "wheel", "/opt/venv/bin:/usr/bin:/bin")
        wheels = WORK / "wheels"
        for earlier in wheels.glob("regard-*.whl"):  # pip keeps a file of the same name
            earlier.unlink()
        pip = (ROOT / ".venv/bin/python", "-m", "pip", "download", "--quiet", "--dest", wheels)
        packages = ("safetensors", "sentencepiece", "pyyaml", "pytest")
        call(*pip, "--find-links", package.parent, package, *packages)
        shutil.copytree(wheels, root.folder / "wheels")
        root.run("python3", "-m", "venv", "/opt/venv", user=ROOT_USER)
        root.run("pip", "install", "--no-index", "--find-links", "/wheels", "regard", *packages, user=ROOT_USER)
        [prefix] = (root.folder / "opt/venv/lib").glob("python3*/site-packages/regard")
        return root, "/" + str(prefix.relative_to(root.folder))
    prefix = "/opt/regard" if name.endswith(".deb") else "/home/any where/regard"
    folder = WORK / ("deb" if name.endswith(".deb") else "archive")
    root = Root(base_system(), folder, f"{prefix}/bin:/usr/bin:/bin")
    if name.endswith(".deb"):
        root.path = "/usr/bin:/bin:/usr/sbin:/sbin"
        shutil.copy(package, root.folder)
        root.run("dpkg", "--install", f"/{name}", user=ROOT_USER)
    else:
        (root.folder / prefix[1:]).mkdir(parents=True)
        call("tar", "-xf", package, "--strip-components=1", "-C", root.folder / prefix[1:])
    return root, prefix


def check(package):
    """Works with a package as a newcomer does. Returns the megabytes that it takes when installed."""
    root, prefix = installed(package)
    root.check_has_no_compiler(*([] if package.name.endswith(".whl") else ["python3"]))
    work = root.folder / "work"
    shutil.copytree(ROOT / "data", work / "data", ignore=shutil.ignore_patterns("multi30k", "tasks"))
    call("chown", "-R", NOBODY, work)

    def run(*command, text=None):
        return root.run("bash", "-c", 'cd /work && exec "$@"', "bash", *command, text=text)

    version = run("regard", "--version")
    config = f"{prefix}/share/regard/configs/quickstart.yaml"
    for file in (config, f"{prefix}/share/doc/regard/NOTICE", f"{prefix}/share/doc/regard/licenses/torch"):
        if not (root.folder / file[1:]).is_file():
            raise Failure(CHECK_FAILED, f"{package.name}: found no {file}")
    run("regard", "train", "-c", config, f"training.max_steps={STEPS}", "training.model_dir=run")
    lines = (work / "data/test.en").read_text(encoding="utf-8").splitlines(True)[:LINES]
    translated = run("regard", "translate", "-m", "run", "--quiet", "--threads", "1", text="".join(lines))
    if len(translated.splitlines()) != LINES:
        raise Failure(CHECK_FAILED, f"found {len(translated.splitlines())} translations, expected {LINES}")
    root.check_server(lines[0].strip(), translated.split("\n")[0], "-m", "/work/run", "--port", "0")
    if package.name.endswith(".whl"):
        (work / "translations").write_text(translated, encoding="utf-8")
        run("python", "-c", PYTHON, config)
        shutil.copytree(ROOT / "tests" / "python", work / "tests" / "python")
        for name in REPOSITORY:
            call("cp", "-r", ROOT / name, work)
        call("chown", "-R", NOBODY, work)
        run("env", "REGARD=/opt/venv/bin/regard", "REGARD_SOURCE=/work", "PYTHONDONTWRITEBYTECODE=1", "pytest", "-q",
            "-p", "no:cacheprovider", "--basetemp=/work/pytest", "--import-mode=importlib", "tests/python")  # fmt: skip
    print(f"{package.name}: {version.splitlines()[0]} trains, translates and serves", flush=True)
    folder = root.folder / prefix[1:]
    libraries = folder.with_name("regard.libs")  # beside the package, of a wheel
    return megabytes(folder) + (megabytes(libraries) if libraries.is_dir() else 0)


def main():
    options = arguments()
    rows = []
    for package in options.packages:
        warn(f"trying {package.name}")
        installed_size = check(package)
        rows.append([f"`{package.name}`", f"{package.stat().st_size / 1e6:.0f}", f"{installed_size:.0f}"])
    table = pages.table(["package", "MB", "installed, MB"], rows)
    print(table)
    if options.write:
        pages.put(PAGE, {"packages": f"{table}\n{machine()}.\n"})
        pages.record_check("packages", f"{len(rows)} of {len(rows)} packages")


project.run(main)
