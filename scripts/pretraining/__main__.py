"""Measures what text without translations is worth with little parallel data, and writes docs/language_models.md.

A language model is trained on the English side of Multi30k. German to English translators are trained on 1,000, 5,000
and 29,000 pairs with the recipe of configs/attention_comparison.yaml and the target vocabulary of the language model.
The weight of the fusion is the best one on the validation pair.
"""

import dataclasses
import json

import project
from cells import Cell, System, fill, machines, multi30k, parser_of
from figures import Figures
from pages import put, table
from project import ROOT, names_in, need_multi30k, regard, warn

PAGE = ROOT / "docs" / "language_models.md"
SIZES = (1000, 5000, 29000)
WEIGHTS = (0.05, 0.1, 0.2, 0.3, 0.4)
ALL = multi30k("de", "en", 42)


def subset(folder, pairs):
    """Writes the first pairs of the training data, and returns their path without the language."""
    stem = folder / f"first_{pairs}"
    folder.mkdir(parents=True, exist_ok=True)
    for source, language in zip(ALL.data("train"), ("de", "en")):
        lines = (ROOT / source).read_text(encoding="utf-8").splitlines(keepends=True)
        stem.with_name(f"{stem.name}.{language}").write_text("".join(lines[:pairs]), encoding="utf-8")
    return str(stem)


def language_model(run):
    """Trains (or resumes) the language model."""
    data = (f"data.train.0.trg={ALL.data('train')[1]}", f"data.dev.trg={ALL.data('dev')[1]}")
    regard("train", "-c", "configs/language_model.yaml", f"training.model_dir={run}",
           "data.tokenizer.vocabulary_size=4000", *data)  # fmt: skip


def system(run, pairs):
    source_vocabulary = {1000: 1000, 5000: 2000}.get(pairs, 4000)
    return System(
        "translator",
        (
            "model.attention.kind=additive",
            "model.attention.size=256",
            "model.tied_embeddings=output",
            "data.tokenizer.joint=false",
            f"data.tokenizer.vocabulary_size={source_vocabulary}",
            f"data.tokenizer.trg_file={run}/best/target.model",
            "training.validation_every=250",
        ),
    )


class Fusion:
    """Measures the fusion of a trained translator with the language model."""

    def __init__(self, run):
        self.run = run

    def __call__(self, cell, *options):
        def bleu(key, weight):
            fused = ("--lm", self.run, "--lm-weight", str(weight))
            return cell.score(*cell.task.data(key), *options, *fused)["bleu"]["score"]

        dev = {weight: bleu("dev", weight) for weight in WEIGHTS}
        best = max(WEIGHTS, key=dev.get)
        return {"fusion": {"weight": best, "dev": dev[best], "bleu": bleu("test", best)}}


def rows(cells):
    for cell in cells:
        result = cell.result()
        if result:
            fusion = result["fusion"]
            yield [
                f"{int(cell.task.name):,}",
                f"{result['dev']['bleu']:.1f}",
                f"{result['bleu']:.1f}",
                fusion["weight"],
                f"{fusion['dev']:.1f}",
                f"{fusion['bleu']:.1f}",
            ]


def main():
    options = parser_of("pretraining", __doc__, "runs/pretraining").parse_args()
    need_multi30k("train.de")
    figures = Figures(ROOT / "docs" / "language_models" / "figures.json")
    folder = ROOT / options.runs
    run = f"{options.runs}/language_model"
    tasks = {
        str(pairs): dataclasses.replace(ALL, name=str(pairs), train=f"{options.runs}/data/first_{pairs}")
        for pairs in SIZES
    }
    wanted = names_in(options.tasks, list(tasks), "number of pairs")
    cells = [Cell(folder, figures, system(run, int(name)), task, (Fusion(run),)) for name, task in tasks.items()]
    missing = [cell for cell in cells if cell.task.name in wanted and not cell.result()]
    if missing and not options.table:
        language_model(run)
        score = json.loads(regard("score", "-m", run, "-t", ALL.data("test")[1], "--json"))
        figures.put({"perplexity": score["perplexity"], "machine": project.machine()}, "language_model")
        for cell in missing:
            subset(folder / "data", int(cell.task.name))
        fill(missing, options)
    head = ["pairs", "validation BLEU", "test 2016 BLEU", "λ", "validation BLEU, fused", "test 2016 BLEU, fused"]
    of_model = figures.get("language_model")
    text = table(head, rows(cells)) if of_model else "No figures yet.\n"
    if of_model:
        text += f"\nPerplexity of the language model on test 2016: {of_model['perplexity']:.1f}. "
        text += f"Trained: {machines(cell.result() for cell in cells)}.\n"
    put(PAGE, {"fusion": text})
    warn(f"written: docs/language_models.md, {sum(cell.result() is not None for cell in cells)} of {len(cells)} cells")


project.run(main)
