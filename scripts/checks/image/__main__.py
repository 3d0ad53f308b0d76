"""Makes the file system of the image of Dockerfile without Docker, runs regard in it, and measures its size.

The base is a minimal Debian 12 from debootstrap, without caches, manual pages, translations and documents, as
debian:12-slim. The programs of build/ are installed into it, with a model. Then --version, translate, serve and evaluate
run as the user nobody: with no compiler, no Python and no .venv. Needs root.
"""

import os
import pathlib
import shutil

import pages
import project
from bare_debian import Root, base_system
from project import BUILD, CHECK_FAILED, ENVIRONMENT_ERROR, ROOT, Failure, call, machine, megabytes, model_folder

WORK = BUILD / "image"
PAGE = ROOT / "docs" / "deployment.md"
FILES_OF_A_MODEL = ("config.yaml", "manifest.json", "model.safetensors", "*.model")  # as in Dockerfile
LINES = 100


def arguments():
    parser = project.parser_of("scripts/check.sh image", __doc__)
    parser.add_argument("--model", default="runs/quickstart", help="the model of the image; default: runs/quickstart")
    parser.add_argument("--base", type=pathlib.Path, help="an existing base system; default: made by debootstrap")
    parser.add_argument("--write", action="store_true", help="also write the sizes into docs/deployment.md")
    return parser.parse_args()


def install(prefix, *options):
    shutil.rmtree(prefix, ignore_errors=True)
    call("cmake", "--install", BUILD, "--prefix", prefix, *options)


def image_of(base, model):
    """Returns the file system of the image."""
    image = Root(base, WORK / "image", "/opt/regard/bin:/usr/bin:/bin")
    install(image.folder / "opt" / "regard", "--strip", "--component", "program")
    (image.folder / "model").mkdir()
    for pattern in FILES_OF_A_MODEL:
        for file in model_folder(ROOT / model).glob(pattern):
            shutil.copy(file, image.folder / "model")
    (image.folder / "data").mkdir()
    return image


def check(image):
    """Runs regard in the image, and returns what it prints about itself."""
    image.check_has_no_compiler("python3")
    version = image.run("regard", "--version")
    documents = image.run("regard", "--help").rsplit("Documentation: ", 1)[-1].strip()
    if not (image.folder / documents.lstrip("/") / "deployment.md").is_file():
        raise Failure(CHECK_FAILED, f"regard --help names the documents {documents}, which the image lacks")
    source, target = (
        "".join((ROOT / "data" / f"test.{side}").read_text(encoding="utf-8").splitlines(True)[:LINES])
        for side in ("en", "fr")
    )
    translated = image.run("regard", "translate", "-m", "/model", "--quiet", text=source)
    if len(translated.splitlines()) != LINES:
        raise Failure(CHECK_FAILED, f"found {len(translated.splitlines())} translations, expected {LINES}")
    serve = ("-m", "quickstart=/model", "--host", "0.0.0.0", "--port", "0")
    image.check_server(source.split("\n")[0], translated.split("\n")[0], *serve)
    for name, text in (("source", source), ("reference", target)):
        (image.folder / "data" / name).write_text(text, encoding="utf-8")
    scored = image.run("regard", "evaluate", "-m", "/model", "-s", "/data/source", "-r", "/data/reference", "--force")
    return version, scored


def main():
    options = arguments()
    if os.geteuid() != 0:
        raise Failure(ENVIRONMENT_ERROR, "chroot needs root; run as root")
    project.need_regard()
    image = image_of(options.base or base_system(), options.model)
    version, scored = check(image)
    print(version, scored, sep="\n")
    everything = WORK / "everything"
    install(everything)
    prefix = image.folder / "opt" / "regard"
    of_torch = [file for name in ("libtorch*", "libc10*", "libgomp*") for file in (prefix / "lib").glob(name)]
    rows = [
        ["base system", f"{megabytes(image.folder) - megabytes(prefix) - megabytes(image.folder / 'model'):.0f}"],
        ["`/opt/regard`", f"{megabytes(prefix):.0f}"],
        ["of it, LibTorch", f"{sum(map(megabytes, of_torch)):.0f}"],
        ["`/model`", f"{megabytes(image.folder / 'model'):.0f}"],
        ["all", f"{megabytes(image.folder):.0f}"],
        ["for comparison, `/opt/regard` with the library for other projects, not stripped", f"{megabytes(everything):.0f}"],
    ]
    shutil.rmtree(everything)
    table = pages.table(["", "MB"], rows)
    print(table)
    if options.write:
        pages.put(PAGE, {"deployment": f"{table}\n{machine()}.\n"})
        pages.record_check("image", "passed")


project.run(main)
