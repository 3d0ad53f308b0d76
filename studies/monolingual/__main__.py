"""Measures what monolingual text is worth to a translator with few pairs, and writes docs/monolingual.md.

German to English, Multi30k. The pairs are the first 5,000 of the training data; the other 24,000 sentences of each
language are used as text without translations: the English ones for back-translation by a model that the same pairs
trained in the opposite direction, the German ones for self-training. The translator of all 29,000 pairs shows what true
translations would be worth, and teaches a student of its own size (distillation). Stopped trainings and translations
are resumed, and finished ones are skipped. Arguments key=value are passed to every training.
"""

import argparse
import dataclasses
import time

from cells import CONFIG, Cell, System, machines, multi30k
from figures import Figures, recipe
from pages import put, table
from project import CORES, ROOT, names_in, need_multi30k, run, warn
from synthetic import Synthetic

PAGE = ROOT / "docs" / "monolingual.md"
PAIRS = 5000
WEIGHT = 5  # of the true pairs beside 24,000 synthetic ones: about equal shares
ALL = multi30k("de", "en", 42)
SETTINGS = ("training.validation_every=250", "data.tokenizer.user_symbols=[<bt>]")


def write_texts(folder):
    """Writes the first pairs as few.de and few.en, and the other sentences as rest.de and rest.en."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, language in zip(ALL.data("train"), ("de", "en")):
        lines = (ROOT / path).read_text(encoding="utf-8").splitlines(keepends=True)
        for name, part in (("few", lines[:PAIRS]), ("rest", lines[PAIRS:])):
            (folder / f"{name}.{language}").write_text("".join(part), encoding="utf-8")


class Study:
    """All cells. `cells` are the rows of the table by name, in order; before[name] are the cells and the synthetic
    pairs that must be ready before a cell is trained, in order."""

    def __init__(self, runs, figures, extra):
        self.folder = ROOT / runs
        self.figures = figures
        self.extra = (*SETTINGS, *extra)
        self.cells = {}
        self.before = {}
        self.remarks = {}
        data = f"{runs}/data"
        few = dataclasses.replace(ALL, name="de-en", train=f"{data}/few")
        every = dataclasses.replace(ALL, name="de-en")

        # All systems have the vocabulary of this one, from the text of both languages.
        all_pairs = self.cell("all_pairs", "29,000 pairs", every)
        joint = f"{runs}/all_pairs/de-en/best/source.model"
        self.vocabulary = tuple(f"data.tokenizer.{side}_file={joint}" for side in ("src", "trg"))
        few_pairs = self.cell("few_pairs", "5,000 pairs", few, (all_pairs,))
        opposite = dataclasses.replace(few, name="en-de", source="en", target="de")
        reverse = self.cell("reverse", "English to German, 5,000 pairs", opposite, (all_pairs,))

        def synthetic(name, cell, text, *options):
            return Synthetic(f"{data}/{name}", [cell.run], text, options, recipe(CONFIG, (cell.recipe, *options)))

        english, german = f"{data}/rest.en", f"{data}/rest.de"
        sampling = ("--samples", "1")
        forward = ("--side", "target")
        for name, remark, cell, text, options in (
            ("back_beam", "+ back-translation, beam", reverse, english, ()),
            ("back_tagged", "+ back-translation, beam, tagged", reverse, english, ("--tag", "<bt>")),
            ("back_sampled", "+ back-translation, sampling", reverse, english, sampling),
            ("self_training", "+ self-training", few_pairs, german, forward),
        ):
            pairs = synthetic(name, cell, text, *options)
            settings = (f"data.train.0.weight={WEIGHT}", *pairs.settings(1))
            self.cell(name, remark, few, (all_pairs, cell, pairs), settings)
        distilled = synthetic("distilled", all_pairs, ALL.data("train")[0], *forward)
        self.cell("distilled", "29,000 distilled pairs", every, (all_pairs, distilled), distilled.settings(0))

    def cell(self, name, remark, task, before=(), settings=()):
        """Adds and returns a cell. `before` are the cells and synthetic pairs that it needs."""
        synthetic = [item for item in before if isinstance(item, Synthetic)]

        def count(*_):
            return {"synthetic_pairs": sum(item.pairs() for item in synthetic)}

        system = System(
            name,
            (*(self.vocabulary if before else ()), *settings),
            after=" ".join(item.recipe for item in before),
        )
        measures = [count] if synthetic else []
        cell = Cell(self.folder, self.figures, system, task, measures, self.extra)
        self.cells[name] = cell
        self.before[name] = before
        self.remarks[name] = remark
        return cell

    def fill(self, name):
        """Trains a cell and everything that it needs."""
        for item in self.before[name]:
            if isinstance(item, Synthetic):
                item.make("--threads", CORES)
            else:
                self.fill(item.system.name)
        cell = self.cells[name]
        if not (cell.result() and cell.has_model()):
            warn(f"{cell.run}")
            cell.fill(CORES)

    def table(self):
        def bleu(name):
            result = self.cells[name].result()
            return result["bleu"] if result else None

        few, every = bleu("few_pairs"), bleu("all_pairs")
        rows = []
        for name in ORDER:
            result = self.cells[name].result()
            if not result:
                continue
            share = "–"
            if few is not None and every is not None and every > few and name not in ("few_pairs", "all_pairs"):
                share = f"{100 * (result['bleu'] - few) / (every - few):.0f} %"
            synthetic = result.get("synthetic_pairs")
            rows.append(
                [
                    self.remarks[name],
                    f"{synthetic:,}" if synthetic else "–",
                    f"{result['dev']['bleu']:.1f}",
                    f"{result['bleu']:.1f}",
                    share,
                ]
            )
        if not rows:
            return "No figures yet.\n"
        head = ["trained on", "synthetic pairs", "validation BLEU", "test 2016 BLEU", "share of the gap"]
        text = table(head, rows)
        reverse = self.cells["reverse"].result()
        if reverse:
            text += f"\nThe reverse model has {reverse['bleu']:.1f} BLEU on test 2016."
        return text + f"\nTrained: {machines(cell.result() for cell in self.cells.values())}.\n"


ORDER = ("few_pairs", "back_beam", "back_tagged", "back_sampled", "self_training", "all_pairs", "distilled")


def main():
    parser = argparse.ArgumentParser(
        prog="scripts/study.sh monolingual", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", default="runs/monolingual", help="folder of the runs of the cells")
    parser.add_argument("--only", default="", help=f"rows, separated by commas: {', '.join(ORDER)}")
    parser.add_argument("--minutes", type=float, help="start no further row after N minutes")
    parser.add_argument("--table", action="store_true", help="train nothing; write the page from the stored figures")
    parser.add_argument("settings", nargs="*", metavar="key=value", help="passed to every training")
    options = parser.parse_args()
    need_multi30k("train.de")
    start = time.monotonic()
    figures = Figures(ROOT / "docs" / "monolingual" / "figures.json")
    study = Study(options.runs, figures, tuple(options.settings))
    wanted = names_in(options.only, list(ORDER), "row")
    if not options.table:
        write_texts(ROOT / options.runs / "data")
        for name in wanted:
            in_time = not options.minutes or time.monotonic() - start < 60 * options.minutes
            if in_time and not study.cells[name].result():
                study.fill(name)
    put(PAGE, {"monolingual": study.table()})
    done = sum(study.cells[name].result() is not None for name in ORDER)
    warn(f"written: docs/monolingual.md, {done} of {len(ORDER)} rows")


run(main)
