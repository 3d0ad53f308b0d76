"""Trains captions of images with soft and with hard attention and writes docs/images.md.

build/generate_shapes draws the images. Finished trainings whose recipe has not changed are skipped, stopped ones are
resumed. Drawing and reading the images takes half a minute, a training about ten minutes on one core.
"""

import collections
import statistics

import pages
import project
from cells import Cell, Study, System, Task, effort, make_features, parser_of

IMAGES = ("--seed", "1", "--train", "40000", "--dev", "500", "--test", "2000")  # of generate_shapes
SETS = ("train", "dev", "test")
LANGUAGES = {"english": "en", "french": "fr"}
HARD = ("model.attention.kind=hard", "model.attention.score=additive", "model.attention.anneal_steps=2000")
ATTENTIONS = [System("soft", (), config="configs/images.yaml"), System("hard", HARD, config="configs/images.yaml")]
SEEDS = (42, 43)
PICTURED = 3  # the image of the test set in the pictures, from 1

# Words of the captions, by what they say.
NUMBERS = "a two three un une deux trois".split()
SIZES = "small large petit petite petits petites grand grande grands grandes".split()
COLOURS = "red green blue yellow black rouge vert verte bleu bleue jaune noir noire".split()
COLOURS += [f"{word}s" for word in COLOURS]
SHAPES = "circle square triangle cross crosses cercle carré croix".split()
SHAPES += [f"{word}s" for word in SHAPES]


KINDS = {"number": NUMBERS, "size": SIZES, "colour": COLOURS, "shape": SHAPES, "relation": (), "length": ()}


def task_of(folder, language, seed):
    sets = (f"{folder}/{name}" for name in SETS)
    made = " ".join(IMAGES)
    return Task(f"{language}-{seed}", "safetensors", LANGUAGES[language], *sets, seed=seed, made=made)


def kind_of(word):
    return next((kind for kind, words in KINDS.items() if word.removeprefix("d'") in words), "relation")


def first_errors(wrong):
    """Counts the wrong captions by what the first wrong word of the reference says."""
    counts = collections.Counter()
    for reference, output in wrong:
        words = [word for word, other in zip(reference.split(), output.split()) if word != other]
        counts[kind_of(words[0]) if words else "length"] += 1
    return dict(counts)


def scores(cell, *options):
    """The share of exact captions, and what is wrong in the others."""
    found, wrong = cell.compare(*cell.task.data("test"), *options, "--metrics", "exact", "--confidence")
    return {"exact": found["exact"], "first_errors": first_errors(wrong), "examples": wrong[:3]}


def picture(cell, *_):
    """Draws where each word of one caption looked: LANGUAGE_ATTENTION.svg."""
    language, seed = cell.task.name.split("-")
    if int(seed) == SEEDS[0]:
        cell.draw(PICTURED, f"{language}_{cell.system.name}")
    return {}


def parts(rows_of):
    """Returns the parts of the page, by name. `rows_of` are the cells of each seed by language and attention."""
    rows, errors, notes = [], [], []
    examples = ""
    for (language, attention), cells in rows_of.items():
        found = [cell.result() for cell in cells]
        measured = [row for row in found if row]
        if not measured:
            continue
        mean = statistics.mean(row["exact"]["score"] for row in measured)
        label = f"{language.capitalize()}, {attention}"
        rows.append([label, *(pages.with_interval(row["exact"]) if row else "–" for row in found), f"{mean:.2f}"])
        errors.append([label, *(sum(row["first_errors"].get(kind, 0) for row in measured) for kind in KINDS)])
        minutes = ", ".join(f"{row['minutes']:g}" for row in measured)
        notes.append(f"{label}: {measured[0]['parameters']:,} parameters, {minutes} minutes of training, "
                     f"{project.count_of(measured[0]['threads'], 'thread')} on {measured[0]['machine']}.")  # fmt: skip
        if language == "english":
            pairs = (f"      reference  {r}\n      output     {o}\n" for r, o in measured[0]["examples"])
            examples += f"    {attention}\n" + "".join(pairs)
    head = ["", *(f"seed {seed}" for seed in SEEDS), "mean"]
    return {
        "accuracy": pages.table(head, rows) + "\n" + "  \n".join(notes) + "\n",
        "errors": pages.table(["", *KINDS], errors),
        "examples": examples,
    }


def main():
    study = Study(parser_of("images", __doc__).parse_args(), "images")
    rows_of = {
        (language, attention.name): [
            Cell(study, attention, task_of(study.folder, language, seed), (scores, effort, picture)) for seed in SEEDS
        ]
        for language in LANGUAGES
        for attention in ATTENTIONS
    }
    cells = [cells[i] for i in range(len(SEEDS)) for cells in rows_of.values()]  # the first seed of all, then the next
    selected = study.selected(cells)
    if study.missing(selected):
        if not (study.folder / "train.fr").is_file():  # the last file that it writes
            project.generate("generate_shapes", "--out", study.folder, *IMAGES)
        make_features(study.folder, SETS, "images")
    study.fill(selected)
    study.write(parts(rows_of), cells)


project.run(main)
