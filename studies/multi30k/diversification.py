"""What data diversification is worth, on the validation pair: BLEU during both trainings, length normalisation, and how
many translations of the teachers are references."""

import pages
from project import ROOT, machine, validations
from trainings import TRAIN, VALIDATION, evaluate

STEPS = (2000, 4000, 6000, 8000, 12000, 16000)
ALPHAS = (1, 2, 3)


def curve(run):
    """Returns the validation BLEU by step."""
    bleu = {int(row["step"]): float(row["bleu"]) for row in validations(run)}
    return [bleu[step] for step in STEPS]


def lines(path):
    return (ROOT / path).read_text(encoding="utf-8").splitlines()


def share_of_references(made, references):
    """Returns the share of synthetic pairs that are true pairs."""
    pairs = list(zip(*map(lines, made.files)))
    return sum(pair in references for pair in pairs) / len(pairs)


class Diversification:
    """Figures of a training with added translations, and of one without."""

    def __init__(self, table):
        self.student = table.diverse[0]
        self.trainings = (table.transformer, self.student)
        self.teachers = table.teachers

    def result(self):
        """Returns the figures, or None if they are not measured yet."""
        return self.student.study.figures.of(self.student.recipe, "diversification")

    def prepare(self, threads):
        """Trains the models if they are not on this machine, and stores the figures."""
        for training in self.trainings:
            training.prepare(threads)
        references = set(zip(lines(f"{TRAIN}.en"), lines(f"{TRAIN}.de")))
        figures = {
            "recipe": self.student.recipe,
            "machine": machine(),
            "curves": {training.name: curve(training.run) for training in self.trainings},
            "alphas": [
                evaluate([self.student.run], VALIDATION, "en", "de", "--beam-alpha", alpha)["bleu"]["score"]
                for alpha in ALPHAS
            ],
            "references": {
                teacher.name: share_of_references(made, references)
                for teacher, made in zip(self.teachers, self.student.synthetic)
            },
        }
        self.student.study.figures.put(figures, "diversification")

    def tables(self):
        """Returns the parts of the page, by name."""
        found = self.result()
        if not found:
            return {}
        curves = [[f"`{name}`", *(f"{bleu:.1f}" for bleu in row)] for name, row in found["curves"].items()]
        alphas = [["validation BLEU", *(f"{bleu:.2f}" for bleu in found["alphas"])]]
        shares = [[f"`{name}`", f"{100 * share:.0f} %"] for name, share in found["references"].items()]
        head = ["validation BLEU (greedy search) at step", *(f"{s:,}" for s in STEPS)]
        return {
            "diversification": pages.table(head, curves),
            "diversification_length": pages.table(["`beam_alpha`", *ALPHAS], alphas)
            + f"\nMachine: {found['machine']}.\n",
            "diversification_pairs": pages.table(["translations by", "equal to the pair"], shares),
        }
