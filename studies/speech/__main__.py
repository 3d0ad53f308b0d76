"""Trains speech to English and speech to French on synthetic sound and writes docs/speech.md.

espeak-ng speaks a part of the bundled corpus. Finished tasks whose recipe has not changed are skipped, stopped ones are
resumed. Speaking and computing features takes two minutes on two cores, a training five to ten minutes on one.
"""

import dataclasses

import pages
import project
import sound
from cells import Cell, Study, System, Task, effort, make_features, parser_of
from project import count_of

SPEECH = System("speech", (), config="configs/speech.yaml")
BINS = 40
METRICS = {"english": ("wer", "cer"), "french": ("bleu", "chrf", "wer")}
TEST_SETS = {"test": "unseen sentences, known voices", "unseen_voice": "unseen sentences, unseen voice"}
PICTURED = 2  # the sentence of the test set in the picture, from 1


def tasks(folder):
    sets = [f"{folder}/{name}" for name in ("train", "dev", "test")]
    made = " ".join([*sound.KNOWN_VOICES, sound.UNSEEN_VOICE, *(str(n) for n in (sound.MAX_WORDS, *sound.sizes(), BINS))])
    words = ("data.tokenizer.kind=bpe", "data.tokenizer.vocabulary_size=600")
    return [
        Task("english", "safetensors", "txt", *sets, settings=("training.epochs=8",), made=made),
        Task("french", "safetensors", "fr", *sets, settings=("training.epochs=12", *words), made=made),
    ]


def scores(cell, *options):
    """The scores of both test sets, and the first wrong outputs for known voices."""
    sets, wrong = {}, {}
    metrics = METRICS[cell.task.name]
    for part in TEST_SETS:
        task = dataclasses.replace(cell.task, test=f"{cell.study.folder}/{part}")
        found, wrong[part] = cell.compare(*task.data("test"), *options, "--metrics", ",".join(metrics), "--confidence")
        sets[part] = {metric: found[metric] for metric in metrics}
    return {"espeak": sound.espeak_version(), "sets": sets, "examples": wrong["test"][:3]}


def picture(cell, *_):
    cell.draw(PICTURED, cell.task.name)
    return {}


def section(cell):
    """Returns the figures of a task, or None if it is not done."""
    found = cell.result()
    if not found:
        return None
    metrics = METRICS[cell.task.name]
    head = ["", *(metric.upper() if metric != "chrf" else "chrF" for metric in metrics)]
    rows = [
        [label, *(pages.with_interval(found["sets"][part][metric]) for metric in metrics)]
        for part, label in TEST_SETS.items()
    ]
    wrong = "".join(f"    reference  {r}\n    output     {o}\n" for r, o in found["examples"])
    wrong = f"The first wrong outputs for known voices:\n\n{wrong}" if wrong else "All outputs are right.\n"
    return (
        f"{pages.table(head, rows)}\n{found['parameters']:,} parameters, seed {cell.task.seed}, {found['minutes']} minutes "
        f"of training with\n{count_of(found['threads'], 'thread')} on {found['machine']}, espeak-ng {found['espeak']}.\n\n{wrong}"
    )


def main():
    study = Study(parser_of("speech", __doc__).parse_args(), "speech")
    cells = [Cell(study, SPEECH, task, (scores, effort, picture)) for task in tasks(study.folder)]
    selected = study.selected(cells)
    if study.missing(selected):
        sound.make(study.folder)
        make_features(study.folder, [part.name for part in sound.SETS], "wavs", "--rate", sound.RATE, "--bins", BINS)
    study.fill(selected)
    study.write({cell.task.name: section(cell) for cell in cells}, cells)


project.run(main)
