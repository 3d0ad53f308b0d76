"""Trains speech to English and speech to French on synthetic sound and writes docs/speech.md.

espeak-ng speaks a part of the bundled corpus. The figures are stored in docs/speech/figures.json with a hash of
their recipe; a task whose figures exist is not trained again, and a stopped training is resumed. Speaking and
computing features takes two minutes on two cores, a training five to ten minutes on one.
"""

import argparse
import csv
import json
import pathlib
import shutil

import pages
import project
import sound
from figures import Figures, recipe
from project import CORES, ROOT, machine, names_in, regard, warn

CONFIG = "configs/speech.yaml"
PAGE = ROOT / "docs" / "speech.md"
FOLDER = ROOT / "docs" / "speech"
BINS = 40

# Overrides of CONFIG, and the target files (sound.py).
TASKS = {
    "english": ("txt", ["training.epochs=8"]),
    "french": ("fr", ["training.epochs=12", "data.tokenizer.kind=bpe", "data.tokenizer.vocabulary_size=600"]),
}
METRICS = {"english": ["wer", "cer"], "french": ["bleu", "chrf", "wer"]}
TEST_SETS = {"test": "unseen sentences, known voices", "unseen_voice": "unseen sentences, unseen voice"}
PICTURED = 2  # the sentence of the test set in the picture, from 1


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/study.sh speech", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", default="runs/speech", help="folder of the sound and the runs; default: runs/speech")
    parser.add_argument("--only", default="", help="tasks, separated by commas")
    parser.add_argument("--threads", type=int, default=1, help="threads of a training; default: 1")
    parser.add_argument("--page", action="store_true", help="train nothing; write the page from the stored figures")
    return parser.parse_args()


def make_features(folder):
    train = folder / "train.safetensors"
    for part in sound.SETS:
        warn(f"{part.name}: {part.size:,} sentences")
        sound.make(part, folder)
        output = folder / f"{part.name}.safetensors"
        if output.is_file():
            continue
        settings = ["--rate", sound.RATE, "--bins", BINS] if output == train else ["--like", train]
        regard("features", "-i", folder / f"{part.name}.wavs", "-o", output, "--threads", CORES, *settings)


def overrides(folder, target, settings):
    """Returns the settings of a task, with paths below `folder`."""
    return [
        f"data.train=[{{src: {folder}/train.safetensors, trg: {folder}/train.{target}}}]",
        f"data.dev={{src: {folder}/dev.safetensors, trg: {folder}/dev.{target}}}",
        *settings,
    ]


def voices():
    return [*sound.KNOWN_VOICES, sound.UNSEEN_VOICE, str(sound.MAX_WORDS), *(str(part.size) for part in sound.SETS)]


def recipe_of(task):
    target, settings = TASKS[task]
    return recipe(CONFIG, overrides("", target, settings) + voices() + [str(BINS)])


def evaluate(run, folder, task, part):
    target, _ = TASKS[task]
    text = regard("evaluate", "-m", run, "-s", folder / f"{part}.safetensors", "-r", folder / f"{part}.{target}",
                  "--metrics", ",".join(METRICS[task]), "--confidence", "--json",
                  "-o", folder / f"{task}.{part}.out", "--force")
    scores = json.loads(text)
    return {metric: scores[metric] for metric in METRICS[task]}


def draw(run, folder, task):
    """Draws the attention of one sentence: docs/speech/TASK.svg."""
    name = f"{folder}/test.safetensors:{PICTURED}"
    item = folder / "pictured.txt"
    item.write_text(name + "\n", encoding="utf-8")
    FOLDER.mkdir(exist_ok=True)
    picture = folder / f"{task}.svg"
    regard("translate", "-m", run, "-i", item, "-o", folder / "pictured.out", "--picture", picture,
           "--attention-scale", "row")
    shutil.copyfile(picture, FOLDER / f"{task}.svg")


def measure(task, folder, threads):
    target, settings = TASKS[task]
    run = folder / task
    regard("train", "-c", CONFIG, f"threads={threads}", f"training.model_dir={run}",
           *overrides(folder, target, settings))
    with open(run / "validations.tsv", encoding="utf-8") as file:
        validations = list(csv.DictReader(file, delimiter="\t"))
    info = json.loads(regard("info", "--json", run))
    return {
        "recipe": recipe_of(task),
        "minutes": round(float(validations[-1]["seconds"]) / 60, 1),  # of all sessions
        "parameters": info["parameters"],
        "seed": info["run"]["manifest"]["random_seed"],
        "espeak": sound.espeak_version(),
        "machine": machine(),
        "threads": info["run"]["manifest"]["threads"],
        "sets": {part: evaluate(run, folder, task, part) for part in TEST_SETS},
        "examples": examples(folder, task),
    }


def examples(folder, task):
    """Returns the first wrong outputs of the known voices: [reference, output]."""
    target, _ = TASKS[task]
    reference = project.read(folder / f"test.{target}").splitlines()
    output = project.read(folder / f"{task}.test.out").splitlines()
    return [[r, o] for r, o in zip(reference, output) if r != o][:3]


def score_cell(score):
    return f"{score['score']:.2f} ± {score['confidence']['half_width']:.2f}"


def write_page(figures):
    parts = {}
    for task in TASKS:
        found = figures.of(recipe_of(task), task)
        if not found:
            warn(f"{task}: no figures of this recipe; the page keeps the old ones")
            continue
        head = ["", *(metric.upper() if metric != "chrf" else "chrF" for metric in METRICS[task])]
        rows = [[label, *(score_cell(found["sets"][part][metric]) for metric in METRICS[task])]
                for part, label in TEST_SETS.items()]
        wrong = "".join(f"    reference  {r}\n    output     {o}\n" for r, o in found["examples"])
        wrong = f"The first wrong outputs for known voices:\n\n{wrong}" if wrong else "All outputs are right.\n"
        notes = [
            f"{found['parameters']:,} parameters, seed {found['seed']}, {found['minutes']} minutes of training with",
            f"{project.count_of(found['threads'], 'thread')} on {found['machine']}, espeak-ng {found['espeak']}.",
        ]
        parts[task] = pages.table(head, rows) + "\n" + "\n".join(notes) + "\n\n" + wrong
    pages.put(PAGE, parts)


def main():
    options = arguments()
    tasks = names_in(options.only, list(TASKS), "task")
    figures = Figures(FOLDER / "figures.json")
    if not options.page:
        sound.espeak_version()
        project.need_regard()
        folder = pathlib.Path(options.runs)  # python.sh calls this program in ROOT
        folder.mkdir(parents=True, exist_ok=True)
        make_features(folder)
        for task in tasks:
            if figures.of(recipe_of(task), task):
                continue
            warn(task)
            figures.put(measure(task, folder, options.threads), task)
            draw(folder / task, folder, task)
    write_page(figures)
    warn(f"written: {PAGE.relative_to(ROOT)}")


project.run(main)
