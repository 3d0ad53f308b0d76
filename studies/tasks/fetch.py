"""Fetches public tasks of sequence-to-sequence models as plain text: NAME.src and NAME.trg, line i of one belongs to line
i of the other, symbols separated by spaces. The texts are those of one commit of a public repository, converted by this
program. Their hashes are checked, so that every reader of docs/tasks.md measures with the same text.

Without --from, the repositories are cloned from GitHub. --from names a folder with archives TASK.tar.xz of the
converted texts, or with the clones, as TASK.git or TASK.
"""

import functools
import hashlib
import lzma
import os
import pathlib
import re
import shutil
import string
import subprocess
import tarfile
import tempfile
import unicodedata

import project
from project import ENVIRONMENT_ERROR, INPUT_ERROR, ROOT, Failure, names_in, warn

PRONUNCIATION = "ady arm bul dut fre geo gre hin hun ice jpn kor lit rum vie".split()
SPELLING = {
    "german-anselm": "german/german-anselm",
    "german-ridges": "german/german-ridges",
    "icelandic": "icelandic/icelandic-icepahc",
    "slovene-bohoric": "slovene/slovene-goo300k-bohoric",
}
INFLECTION = "ang asm hun pol tur".split()
COMMANDS = {
    "simple": "simple_split/tasks_{}_simple.txt",
    "length": "length_split/tasks_{}_length.txt",
    "jump": "add_prim_split/tasks_{}_addprim_jump.txt",
    "turn_left": "add_prim_split/tasks_{}_addprim_turn_left.txt",
    "around_right": "template_split/tasks_{}_template_around_right.txt",
}


def columns(text):
    return [line.split("\t") for line in text.splitlines()]


def letters(word):
    return " ".join(word.replace(" ", "÷"))


def pronunciation(read):
    """Letters and phones of words, from Wiktionary (Gorman et al. 2020)."""
    for part in ("train", "dev", "test"):
        for language in PRONUNCIATION:
            words = columns(read(f"task1/data/{part}/{language}_{part}.tsv"))
            yield f"{language}/{part}", [(letters(word), phones) for word, phones in words]


def is_punctuation(word):
    return all(unicodedata.category(letter).startswith("P") for letter in word)


def normalised(words):
    """Returns a historical and a modern word as the corpus' own `preprocess.py --all` does, or None if it drops them."""
    if len(words) < 2 or any(word and is_punctuation(word) for word in words):
        return None
    words = [unicodedata.normalize("NFC", word).lower() for word in words]
    if words[0] == words[1] and any(digit in words[0] for digit in string.digits):
        words = [re.sub(r"\d", "0", word) for word in words]
    return tuple(map(letters, words))


def spelling(read):
    """Letters of historical words and of their modern forms (Bollmann 2019)."""
    for name, path in SPELLING.items():
        for part in ("train", "dev", "test"):
            lines = read(f"datasets/historical/{path}.{part}.txt").split("\n")
            pairs = [normalised(line.rstrip().split("\t")) for line in lines if line.rstrip()]
            yield f"{name}/{part}", [pair for pair in pairs if pair]


def inflection(read):
    """Features and letters of a lemma, and letters of the inflected form (Kodner et al. 2022)."""
    files = {"small": "_small.train", "large": "_large.train", "dev": ".dev", "test": ".gold"}
    for language in INFLECTION:
        for part, ending in files.items():
            items = columns(read(f"part1/development_languages/{language}{ending}"))
            yield f"{language}/{part}", [
                (" ".join([*(f"<{feature}>" for feature in features.split(";")), letters(lemma)]), letters(form))
                for lemma, form, features in items
            ]


def logical_forms(read):
    """English sentences and their logical forms (Kim and Linzen 2020)."""
    for part in ("train", "dev", "test", "gen"):
        items = columns(read(f"data/{part}.tsv"))
        yield part, [(sentence, form) for sentence, form, _ in items]
        if part == "gen":
            yield "gen.type", [kind for *_, kind in items]


def commands(read):
    """Commands and the actions that they mean (Lake and Baroni 2018)."""
    for name, path in COMMANDS.items():
        for part in ("train", "test"):
            lines = read(path.format(part)).splitlines()
            yield f"{name}/{part}", [tuple(line.removeprefix("IN: ").split(" OUT: ")) for line in lines]


def python(read):
    """English comments and the lines of Python that they describe (Oda et al. 2015)."""

    def tokens(line):
        return " ".join(re.findall(r"\w+|[^\w\s]", line))

    sides = [read(f"django/all.{side}").splitlines() for side in ("anno", "code")]
    pairs = list(zip(*[map(tokens, side) for side in sides], strict=True))
    yield "train", pairs[:16000]
    yield "dev", pairs[16000:17000]
    yield "test", pairs[17000:]


# Repository, commit, conversion and hash of each task.
TASKS = {
    "g2p2020": ("sigmorphon/2020", "3d9bb365", pronunciation, "e1c3974e6f8b0e95"),
    "histnorm": ("coastalcph/histnorm", "0eac1792", spelling, "a3469534610bc864"),
    "inflection2022": ("sigmorphon/2022InflectionST", "e96ceb62", inflection, "a9d84edf4219d760"),
    "cogs": ("najoungkim/COGS", "165a7b66", logical_forms, "793775c46a698122"),
    "scan": ("brendenlake/SCAN", "c4b756cb", commands, "46d58946a4428172"),
    "django": ("odashi/ase15-django-dataset", "c37fa281", python, "e6a49d08484eccc9"),
}


def hash_of(folder):
    """Returns a hash of the names and texts of all files of a folder."""
    found = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        found.update(f"{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return found.hexdigest()[:16]


def git(*arguments):
    """Returns the standard output of git, or None if it fails."""
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(["git", *map(str, arguments)], env=environment, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise Failure(ENVIRONMENT_ERROR, "found no git; run apt-get install git") from error
    return done.stdout if done.returncode == 0 else None


def show(clone, commit, path):
    text = git("-C", clone, "show", f"{commit}:{path}")
    if text is None:
        raise Failure(INPUT_ERROR, f"{clone}: found no {path} in commit {commit}; clone the repository again")
    return text.decode("utf-8")


def write(folder, name, lines):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    sides = {"": lines} if isinstance(lines[0], str) else dict(zip((".src", ".trg"), zip(*lines)))
    for ending, side in sides.items():
        pathlib.Path(f"{path}{ending}").write_text("".join(f"{line}\n" for line in side), encoding="utf-8")


def convert(task, clone, folder):
    _, commit, conversion, _ = TASKS[task]
    for name, lines in conversion(functools.partial(show, clone, commit)):
        write(folder, name, lines)


def clone_of(task, into):
    repository, commit, *_ = TASKS[task]
    address = f"https://github.com/{repository}.git"
    warn(f"cloning {address}")
    if git("clone", "--quiet", "--bare", "--filter=blob:none", address, into) is None:
        raise Failure(
            ENVIRONMENT_ERROR,
            f"cannot clone {address}; clone it on another machine as FOLDER/{task}, then run "
            "scripts/fetch_tasks.sh --from FOLDER",
        )
    return into


def unpack(archive, folder):
    """Unpacks the files of folder TASK of TASK.tar.xz."""
    try:
        with tarfile.open(archive) as members:
            for member in members:
                path = folder.parent / member.name
                if member.isfile() and folder in path.parents and ".." not in path.parts:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(members.extractfile(member).read())
    except (tarfile.TarError, lzma.LZMAError, EOFError, OSError) as error:
        reason = (str(error) or "unreadable").splitlines()[0].rstrip(":")
        raise Failure(INPUT_ERROR, f"{archive}: found a broken archive ({reason}); copy it again") from error


def make(task, source, folder):
    """Writes the texts of a task to `folder`, whose name is that of the task."""
    if source is None:
        return convert(task, clone_of(task, folder.with_suffix(".git")), folder)
    for clone in (source / f"{task}.git", source / task):
        if git("-C", clone, "rev-parse", "--git-dir") is not None:
            return convert(task, clone, folder)
    archive = source / f"{task}.tar.xz"
    if not archive.is_file():
        raise Failure(
            INPUT_ERROR, f"{source}: found neither {archive.name} nor a clone {task} or {task}.git; copy one of them there"
        )
    unpack(archive, folder)
    return None


def check(task, folder, origin):
    expected = TASKS[task][-1]
    found = hash_of(folder)
    if found != expected:
        raise Failure(
            INPUT_ERROR,
            f"{origin}: found texts of {task} with the hash {found}, expected {expected}; delete them and get them again",
        )


def main():
    parser = project.parser_of("scripts/fetch_tasks.sh", __doc__)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"one of: {', '.join(TASKS)} (default: all)")
    parser.add_argument("--from", dest="source", metavar="FOLDER", help="folder of the archives or clones")
    parser.add_argument("--to", metavar="FOLDER", help="folder of the texts (default: data/tasks)")
    options = parser.parse_args()
    caller = pathlib.Path(os.environ.get("CALLED_FROM", "."))
    source = (caller / options.source) if options.source else None
    target = (caller / options.to) if options.to else ROOT / "data" / "tasks"
    if source is not None and not source.is_dir():
        raise Failure(INPUT_ERROR, f"found no folder {options.source}")
    for task in names_in(",".join(options.tasks), list(TASKS), "task"):
        if not (target / task).is_dir():
            target.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=target) as part:
                made = pathlib.Path(part) / task
                make(task, source, made)
                check(task, made, source or f"https://github.com/{TASKS[task][0]}")
                shutil.move(made, target / task)
        check(task, target / task, target / task)
        warn(f"{target / task}: complete")


if __name__ == "__main__":
    project.run(main)
