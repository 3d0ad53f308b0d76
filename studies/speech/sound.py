"""The sound: sentences of the bundled corpus, spoken by espeak-ng."""

import concurrent.futures
import dataclasses
import random
import re
import shutil
import subprocess

from project import CORES, ENVIRONMENT_ERROR, ROOT, Failure, warn

# Variants of espeak-ng's voices: accent and speaker.
KNOWN_VOICES = ["en-us+m3", "en-us+f2", "en-us+m7", "en-us+f5", "en-gb+m1", "en-us+f3"]
UNSEEN_VOICE = "en-us+f4"
RATE = 22050  # samples per second, of espeak-ng
MAX_WORDS = 12
SEED = 1


@dataclasses.dataclass(frozen=True)
class Set:
    name: str
    corpus: str  # data/NAME.en and data/NAME.fr
    size: int
    voices: tuple


SETS = [
    Set("train", "train", 16000, tuple(KNOWN_VOICES)),
    Set("dev", "dev", 100, tuple(KNOWN_VOICES)),
    Set("test", "test", 240, tuple(KNOWN_VOICES)),
    Set("unseen_voice", "test", 240, (UNSEEN_VOICE,)),
]


def sizes():
    return [part.size for part in SETS]


def espeak_version():
    if not shutil.which("espeak-ng"):
        raise Failure(ENVIRONMENT_ERROR, "found no espeak-ng, which speaks the corpus; run apt-get install espeak-ng")
    done = subprocess.run(["espeak-ng", "--version"], stdout=subprocess.PIPE, check=True)
    return re.search(r"[0-9.]+", done.stdout.decode())[0]


def spoken(line):
    """Returns the words of a sentence in lower case, without punctuation: what speech recognition writes."""
    return " ".join(re.findall(r"[a-z'-]*[a-z][a-z'-]*", line.lower()))


def sentences(part):
    """Returns the first pairs of a corpus with at most MAX_WORDS words."""
    lines = [
        (ROOT / "data" / f"{part.corpus}.{language}").read_text(encoding="utf-8").splitlines()
        for language in ("en", "fr")
    ]
    short = [pair for pair in zip(*lines) if len(spoken(pair[0]).split()) <= MAX_WORDS]
    return short[: part.size]


def speak(job):
    wav, voice, speed, pitch, text = job
    if wav.is_file():
        return
    part = wav.with_suffix(".part")
    command = ["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch), "-w", part, text]
    subprocess.run(command, check=True)
    part.replace(wav)


def make(folder):
    """Speaks the sets: FOLDER/SET/00001.wav …; writes SET.wavs, the list of files, and SET.txt and SET.fr, the texts."""
    espeak_version()
    for part in SETS:
        warn(f"{part.name}: {part.size:,} sentences")
        make_set(part, folder)


def make_set(part, folder):
    pairs = sentences(part)
    voices = random.Random(SEED)
    (folder / part.name).mkdir(parents=True, exist_ok=True)
    jobs = []
    for i, (english, _) in enumerate(pairs):
        wav = folder / part.name / f"{i + 1:05}.wav"
        jobs.append((wav, part.voices[i % len(part.voices)], voices.randint(150, 190), voices.randint(35, 65), english))
    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        list(pool.map(speak, jobs))
    texts = {
        "wavs": [job[0] for job in jobs],
        "txt": [spoken(english) for english, _ in pairs],
        "fr": [french for _, french in pairs],
    }
    for suffix, lines in texts.items():
        text = "".join(f"{line}\n" for line in lines)
        (folder / f"{part.name}.{suffix}").write_text(text, encoding="utf-8")
