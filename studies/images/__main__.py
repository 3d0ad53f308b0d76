"""Trains captions of images with soft and with hard attention and writes docs/images.md.

build/generate_shapes draws the images. The figures are stored in docs/images/figures.json with a hash of their
recipe; a training whose figures exist is not run again, and a stopped one is resumed. Drawing and reading the
images takes half a minute, a training about ten minutes on one core.
"""

import argparse
import collections
import concurrent.futures
import csv
import json
import pathlib
import shutil
import statistics
import subprocess

import pages
import project
from figures import Figures, recipe
from project import BUILD, ENVIRONMENT_ERROR, ROOT, Failure, machine, names_in, regard, warn

CONFIG = "configs/images.yaml"
PAGE = ROOT / "docs" / "images.md"
FOLDER = ROOT / "docs" / "images"
IMAGES = ["--seed", "1", "--train", "40000", "--dev", "500", "--test", "2000"]  # of generate_shapes
SETS = ("train", "dev", "test")

LANGUAGES = {"english": "en", "french": "fr"}
# Overrides of CONFIG.
ATTENTIONS = {
    "soft": [],
    "hard": ["model.attention.kind=hard", "model.attention.score=additive", "model.attention.anneal_steps=2000"],
}
SEEDS = (42, 43)
PICTURED = 3  # the image of the test set in the pictures, from 1

# Words of the captions, by what they say.
NUMBERS = "a two three un une deux trois".split()
SIZES = "small large petit petite petits petites grand grande grands grandes".split()
COLOURS = "red green blue yellow black rouge vert verte bleu bleue jaune noir noire".split()
COLOURS += [f"{word}s" for word in COLOURS]
SHAPES = "circle square triangle cross crosses cercle carré croix".split()
SHAPES += [f"{word}s" for word in SHAPES]


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/study.sh images", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", default="runs/images", help="folder of images and runs; default: runs/images")
    parser.add_argument("--only", default="", help="languages, separated by commas: english, french")
    parser.add_argument("--seeds", default="", help=f"seeds, separated by commas: {', '.join(map(str, SEEDS))}")
    parser.add_argument("--threads", type=int, default=1, help="threads of a training; default: 1")
    parser.add_argument("--jobs", type=int, default=1, help="trainings at once; default: 1")
    parser.add_argument("--page", action="store_true", help="train nothing; write the page from the stored figures")
    return parser.parse_args()


def make_images(folder):
    generator = BUILD / "generate_shapes"
    if not generator.is_file():
        raise Failure(ENVIRONMENT_ERROR, f"found no {generator}; build it with scripts/build.sh")
    if not (folder / "train.fr").is_file():  # the last file that it writes
        subprocess.run([generator, "--out", folder, *IMAGES], cwd=ROOT, check=True)
    train = folder / "train.safetensors"
    for name in SETS:
        output = folder / f"{name}.safetensors"
        if not output.is_file():
            like = [] if output == train else ["--like", train]
            regard("features", "-i", folder / f"{name}.images", "-o", output, *like)


def overrides(folder, language, attention, seed):
    """Returns the settings of a training, with paths below `folder`."""
    target = LANGUAGES[language]
    return [
        f"data.train=[{{src: {folder}/train.safetensors, trg: {folder}/train.{target}}}]",
        f"data.dev={{src: {folder}/dev.safetensors, trg: {folder}/dev.{target}}}",
        f"training.random_seed={seed}",
        *ATTENTIONS[attention],
    ]


def recipe_of(language, attention, seed):
    return recipe(CONFIG, overrides("", language, attention, seed) + IMAGES)


def kind_of(word):
    for kind, words in {"number": NUMBERS, "size": SIZES, "colour": COLOURS, "shape": SHAPES}.items():
        if word.removeprefix("d'") in words:
            return kind
    return "relation"


def first_errors(references, outputs):
    """Counts the wrong captions by what the first wrong word of the reference says."""
    counts = collections.Counter()
    for reference, output in zip(references, outputs):
        if reference == output:
            continue
        words, found = reference.split(), output.split()
        wrong = [word for word, other in zip(words, found) if word != other]
        counts[kind_of(wrong[0]) if wrong else "length"] += 1
    return dict(counts)


def measure(folder, language, attention, seed, threads):
    run = folder / f"{language}_{attention}_{seed}"
    regard("train", "-c", CONFIG, f"threads={threads}", f"training.model_dir={run}",
           *overrides(folder, language, attention, seed))
    with open(run / "validations.tsv", encoding="utf-8") as file:
        validations = list(csv.DictReader(file, delimiter="\t"))
    info = json.loads(regard("info", "--json", run))
    reference = folder / f"test.{LANGUAGES[language]}"
    output = folder / f"{run.name}.out"
    scores = json.loads(regard("evaluate", "-m", run, "-s", folder / "test.safetensors", "-r", reference,
                               "--metrics", "exact", "--confidence", "--json", "-o", output, "--force"))
    references = project.read(reference).splitlines()
    outputs = project.read(output).splitlines()
    return {
        "recipe": recipe_of(language, attention, seed),
        "minutes": round(float(validations[-1]["seconds"]) / 60, 1),  # of all sessions
        "parameters": info["parameters"],
        "machine": machine(),
        "threads": info["run"]["manifest"]["threads"],
        "exact": scores["exact"],
        "first_errors": first_errors(references, outputs),
        "examples": [[r, o] for r, o in zip(references, outputs) if r != o][:3],
    }


def draw(folder, language, attention):
    """Draws where each word of one caption looked: docs/images/LANGUAGE_ATTENTION.svg."""
    run = folder / f"{language}_{attention}_{SEEDS[0]}"
    item = folder / f"{run.name}.item"
    item.write_text(f"{folder}/test.safetensors:{PICTURED}\n", encoding="utf-8")
    FOLDER.mkdir(exist_ok=True)
    picture = folder / f"{run.name}.svg"
    regard("translate", "-m", run, "-i", item, "-o", folder / f"{run.name}.pictured", "--picture", picture,
           "--attention-scale", "row")
    shutil.copyfile(picture, FOLDER / f"{language}_{attention}.svg")


def score_cell(figures):
    exact = figures["exact"]
    return f"{exact['score']:.2f} ± {exact['confidence']['half_width']:.2f}"


def write_page(figures):
    rows = []
    errors = []
    notes = []
    examples = ""
    for language in LANGUAGES:
        for attention in ATTENTIONS:
            found = [figures.of(recipe_of(language, attention, seed), language, attention, str(seed)) for seed in SEEDS]
            measured = [row for row in found if row]
            if not measured:
                warn(f"{language}, {attention}: no figures of this recipe")
                continue
            cells = [score_cell(row) if row else "–" for row in found]
            mean = statistics.mean(row["exact"]["score"] for row in measured)
            label = f"{language.capitalize()}, {attention}"
            rows.append([label, *cells, f"{mean:.2f}"])
            kinds = ("number", "size", "colour", "shape", "relation", "length")
            total = collections.Counter()
            for row in measured:
                total.update(row["first_errors"])
            errors.append([label, *(total[kind] for kind in kinds)])
            minutes = ", ".join(f"{row['minutes']:g}" for row in measured)
            notes.append(f"{label}: {measured[0]['parameters']:,} parameters, {minutes} minutes of training, "
                         f"{project.count_of(measured[0]['threads'], 'thread')} on {measured[0]['machine']}.")
            if language == "english":
                examples += f"    {attention}\n"
                for reference, output in measured[0]["examples"]:
                    examples += f"      reference  {reference}\n      output     {output}\n"
    head = ["", *(f"seed {seed}" for seed in SEEDS), "mean"]
    pages.put(PAGE, {
        "accuracy": pages.table(head, rows) + "\n" + "  \n".join(notes) + "\n",
        "errors": pages.table(["", "number", "size", "colour", "shape", "relation", "length"], errors),
        "examples": examples,
    })


def main():
    options = arguments()
    languages = names_in(options.only, list(LANGUAGES), "language")
    seeds = [int(seed) for seed in names_in(options.seeds, [str(seed) for seed in SEEDS], "seed")]
    figures = Figures(FOLDER / "figures.json")
    if not options.page:
        project.need_regard()
        folder = pathlib.Path(options.runs)  # python.sh calls this program in ROOT
        folder.mkdir(parents=True, exist_ok=True)
        make_images(folder)

        def train(job):
            if not figures.of(recipe_of(*job), *map(str, job)):
                warn(" ".join(map(str, job)))
                figures.put(measure(folder, *job, options.threads), *map(str, job))
                if job[2] == SEEDS[0]:
                    draw(folder, *job[:2])

        jobs = [(language, attention, seed) for seed in seeds for language in languages for attention in ATTENTIONS]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(train, jobs))
    write_page(figures)
    warn(f"written: {PAGE.relative_to(ROOT)}")


project.run(main)
