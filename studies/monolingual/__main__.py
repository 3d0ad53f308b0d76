"""Measures what monolingual text is worth to a translator with few pairs, and writes docs/monolingual.md.

German to English, Multi30k. The pairs are the first 5,000 of the training data; the other 24,000 sentences of each
language are used as text without translations: the English ones for back-translation by a model that the same pairs
trained in the opposite direction, the German ones for self-training. The translator of all 29,000 pairs shows what true
translations would be worth, and teaches a student of its own size (distillation). Stopped trainings and translations
are resumed, and finished ones are skipped.
"""

import dataclasses

from cells import Cell, Study, System, first_pairs, multi30k, parser_of, results_table, scores
from project import ROOT, need_multi30k, run
from synthetic import Synthetic

PAIRS = 5000
WEIGHT = 5  # of the true pairs beside 24,000 synthetic ones: about equal shares
ALL = multi30k("de", "en", 42)
SETTINGS = ("training.validation_every=250", "data.tokenizer.user_symbols=[<bt>]")


def rest_of(side, study):
    """Writes the sentences of one side that are not among the pairs, and returns the path."""
    source = ROOT / ALL.data("train")[side]
    path = study.folder / "data" / f"rest{source.suffix}"
    lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[PAIRS:]), encoding="utf-8")
    return path


class Table:
    """All cells by name."""

    def __init__(self, study):
        self.study = study
        self.cells = {}
        every = dataclasses.replace(ALL, name="de-en")
        few = first_pairs(every, study, PAIRS)
        opposite = dataclasses.replace(few, name="en-de", source="en", target="de")
        german, english = rest_of(0, study), rest_of(1, study)

        # All systems have the vocabulary of this one, from the text of both languages.
        all_pairs = self.add("all_pairs", "29,000 pairs", every)
        few_pairs = self.add("few_pairs", "5,000 pairs", few)
        reverse = self.add("reverse", "English to German, 5,000 pairs", opposite)
        forward = ("--side", "target")
        for name, remark, model, text, options in (
            ("back_beam", "+ back-translation, beam", reverse, english, ()),
            ("back_tagged", "+ back-translation, beam, tagged", reverse, english, ("--tag", "<bt>")),
            ("back_sampled", "+ back-translation, sampling", reverse, english, ("--samples", "1")),
            ("self_training", "+ self-training", few_pairs, german, forward),
        ):
            pairs = Synthetic(study.folder / "data" / name, [model], text, *options)
            self.add(name, remark, few, pairs, (f"data.train.0.weight={WEIGHT}", *pairs.settings(1)))
        distilled = Synthetic(study.folder / "data" / "distilled", [all_pairs], ALL.data("train")[0], *forward)
        self.add("distilled", "29,000 distilled pairs", every, distilled, distilled.settings(0))

    def add(self, name, remark, task, synthetic=None, settings=()):
        """Adds and returns a cell, which is trained on synthetic pairs if there are any."""
        vocabulary, after = (), ()
        if first := self.cells.get("all_pairs"):
            vocabulary = [f"data.tokenizer.{side}_file={first.run}/best/source.model" for side in ("src", "trg")]
            after = (first, synthetic) if synthetic else (first,)

        def count(*_):
            return {"synthetic_pairs": synthetic.pairs()} if synthetic else {}

        system = System(name, (*vocabulary, *settings, *SETTINGS), remark, after=after)
        self.cells[name] = Cell(self.study, system, task, (scores, count))
        return self.cells[name]

    def markdown(self):
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
                    self.cells[name].system.remark,
                    f"{synthetic:,}" if synthetic else "–",
                    f"{result['dev']['bleu']:.1f}",
                    f"{result['bleu']:.1f}",
                    share,
                ]
            )
        head = ["trained on", "synthetic pairs", "validation BLEU", "test 2016 BLEU", "share of the gap"]
        reverse = self.cells["reverse"].result()
        remark = f"The reverse model has {reverse['bleu']:.1f} BLEU on test 2016.\n" if reverse else ""
        return results_table(head, rows, [cell.result() for cell in self.cells.values()], remark)


ORDER = ("few_pairs", "back_beam", "back_tagged", "back_sampled", "self_training", "all_pairs", "distilled")


def main():
    study = Study(parser_of("monolingual", __doc__).parse_args(), "monolingual")
    need_multi30k("train.de")
    table = Table(study)
    study.fill(study.selected([table.cells[name] for name in ORDER]))
    study.write({"monolingual": table.markdown()}, list(table.cells.values()))


run(main)
