"""Makes the file system of the image of Dockerfile without Docker, runs regard in it, and measures its size.

The base is a minimal Debian 12 from debootstrap, without caches, manual pages, translations and documents, as
debian:12-slim. The programs of build/ are installed into it, with a model. Then --version, translate, serve and evaluate
run as the user nobody: with no compiler, no Python and no .venv. Needs root.
"""

import http.client
import json
import os
import pathlib
import re
import shutil
import subprocess

import pages
import project
from project import BUILD, CHECK_FAILED, ENVIRONMENT_ERROR, ROOT, Failure, machine, model_folder, warn

WORK = BUILD / "image"
PAGE = ROOT / "docs" / "deployment.md"
NOT_IN_SLIM = ("var/lib/apt/lists", "var/cache/apt", "usr/share/doc", "usr/share/man", "usr/share/locale", "var/log")
FILES_OF_A_MODEL = ("config.yaml", "manifest.json", "model.safetensors", "*.model")  # as in Dockerfile
PATH = "/opt/regard/bin:/usr/bin:/bin"
LINES = 100


def arguments():
    parser = project.parser_of("scripts/check.sh image", __doc__)
    parser.add_argument("--model", default="runs/quickstart", help="the model of the image; default: runs/quickstart")
    parser.add_argument("--base", type=pathlib.Path, help="an existing base system; default: made by debootstrap")
    parser.add_argument("--write", action="store_true", help="also write the sizes into docs/deployment.md")
    return parser.parse_args()


def call(*command, text=None):
    """Runs a command and returns its standard output. Raises Failure if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(CHECK_FAILED, f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr.strip()[-2000:]}")
    return done.stdout


def megabytes(path):
    return int(call("du", "-s", "--block-size=1000", path).split()[0]) / 1000


def base_system(given):
    """Returns a minimal Debian."""
    if given:
        return given
    base = WORK / "base"
    if not (base / "finished").is_file():
        if not shutil.which("debootstrap"):
            raise Failure(ENVIRONMENT_ERROR, "found no debootstrap; run apt-get install debootstrap")
        warn("making a minimal Debian")
        shutil.rmtree(base, ignore_errors=True)
        call("debootstrap", "--variant=minbase", "bookworm", base)
        for folder in NOT_IN_SLIM:
            shutil.rmtree(base / folder)
            (base / folder).mkdir()
        (base / "finished").touch()
    return base


def install(prefix, *options):
    shutil.rmtree(prefix, ignore_errors=True)
    call("cmake", "--install", BUILD, "--prefix", prefix, *options)


class Image:
    """The file system of the image."""

    def __init__(self, base, model):
        self.root = WORK / "image"
        shutil.rmtree(self.root, ignore_errors=True)
        WORK.mkdir(parents=True, exist_ok=True)
        call("cp", "-a", base, self.root)
        install(self.root / "opt" / "regard", "--strip", "--component", "program")
        (self.root / "model").mkdir()
        for pattern in FILES_OF_A_MODEL:
            for file in model_folder(ROOT / model).glob(pattern):
                shutil.copy(file, self.root / "model")
        (self.root / "data").mkdir()

    def command(self, *command):
        """Returns a command as nobody, with an empty environment, /proc and nothing else of this machine."""
        script = 'mount -t proc proc "$0/proc" && exec chroot --userspec=65534:65534 "$0" env -i PATH="$1" "${@:2}"'
        return ["unshare", "--mount", "bash", "-c", script, str(self.root), PATH, *command]

    def run(self, *command, text=None):
        return call(*self.command(*command), text=text)


def check_server(image, line, translation):
    """Serves the model as `docker run` does, and stops the server as `docker stop` does."""
    command = image.command("regard", "serve", "-m", "quickstart=/model", "--host", "0.0.0.0", "--port", "0")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        said = []
        for message in server.stderr:
            said.append(message)
            if found := re.search(r"http://0\.0\.0\.0:(\d+)/", message):
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
        raise Failure(CHECK_FAILED, f"regard serve answers {answer}, expected {translation}; exit code {server.returncode}")


def check(image):
    """Runs regard in the image, and returns what it prints about itself."""
    for name in ("cc", "c++", "gcc", "g++", "ld", "cmake", "python3"):
        found = [folder for folder in ("usr/bin", "bin", "opt/regard/bin") if (image.root / folder / name).exists()]
        if found:
            raise Failure(CHECK_FAILED, f"the image has {found[0]}/{name}")
    version = image.run("regard", "--version")
    documents = image.run("regard", "--help").rsplit("Documentation: ", 1)[-1].strip()
    if not (image.root / documents.lstrip("/") / "deployment.md").is_file():
        raise Failure(CHECK_FAILED, f"regard --help names the documents {documents}, which the image lacks")
    source, target = (
        "".join((ROOT / "data" / f"test.{side}").read_text(encoding="utf-8").splitlines(True)[:LINES])
        for side in ("en", "fr")
    )
    translated = image.run("regard", "translate", "-m", "/model", "--quiet", text=source)
    if len(translated.splitlines()) != LINES:
        raise Failure(CHECK_FAILED, f"found {len(translated.splitlines())} translations, expected {LINES}")
    check_server(image, source.split("\n")[0], translated.split("\n")[0])
    for name, text in (("source", source), ("reference", target)):
        (image.root / "data" / name).write_text(text, encoding="utf-8")
    scored = image.run("regard", "evaluate", "-m", "/model", "-s", "/data/source", "-r", "/data/reference", "--force")
    return version, scored


def main():
    options = arguments()
    if os.geteuid() != 0:
        raise Failure(ENVIRONMENT_ERROR, "chroot needs root; run as root")
    project.need_regard()
    image = Image(base_system(options.base), options.model)
    version, scored = check(image)
    print(version, scored, sep="\n")
    everything = WORK / "everything"
    install(everything)
    prefix = image.root / "opt" / "regard"
    of_torch = [file for name in ("libtorch*", "libc10*", "libgomp*") for file in (prefix / "lib").glob(name)]
    rows = [
        ["base system", f"{megabytes(image.root) - megabytes(prefix) - megabytes(image.root / 'model'):.0f}"],
        ["`/opt/regard`", f"{megabytes(prefix):.0f}"],
        ["of it, LibTorch", f"{sum(map(megabytes, of_torch)):.0f}"],
        ["`/model`", f"{megabytes(image.root / 'model'):.0f}"],
        ["all", f"{megabytes(image.root):.0f}"],
        ["for comparison, `/opt/regard` with the library for other projects, not stripped", f"{megabytes(everything):.0f}"],
    ]
    shutil.rmtree(everything)
    table = pages.table(["", "MB"], rows)
    print(table)
    if options.write:
        pages.put(PAGE, {"deployment": f"{table}\n{machine()}.\n"})
        pages.record_check("image", "passed")


project.run(main)
