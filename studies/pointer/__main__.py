"""Trains pointer networks and the pointer-generator, and writes docs/pointer.md.

build/generate_pointers and build/generate_corpus make the data. Finished runs are kept, and stopped ones are resumed.
"""

import json

import pages
import project
import scores
from cells import Study, short_parser_of
from project import BUILD, generate, machine, regard, validations

DATA = BUILD / "pointer"
EXAMPLES = 4


def percent(share):
    return f"{100 * share:.1f} %"


def words_of(path):
    return [line.split() for line in path.read_text(encoding="utf-8").splitlines()]


class Pointers:
    def __init__(self, study):
        self.runs = study.folder
        self.trial = study.trial

    def answers(self, name, config, source, *settings):
        """Trains the run if it is not trained, and returns the words of the translation of `source`."""
        run = self.runs / name
        regard("train", "-c", f"configs/{config}.yaml", f"training.model_dir={run}", *settings, *self.trial)
        regard("translate", "-m", run, "-i", source, "-o", run / "test.out")
        return words_of(run / "test.out")

    def effort(self, name):
        """Returns "3,000 steps, 2.5 min", of all sessions."""
        last = validations(self.runs / name)[-1]
        return f"{int(last['step']):,} steps, {float(last['seconds']) / 60:.1f} min"

    def pointers(self):
        generate("generate_pointers", "--task", "sort", "--out", DATA / "sort")
        generate("generate_pointers", "--task", "hull", "--out", DATA / "hull")
        answers = self.answers("pointer_sort", "pointer_sort", DATA / "sort" / "test.source")
        positions = words_of(DATA / "sort" / "test.positions")
        right = scores.equal(positions, answers)
        rows = [["sorting ten numbers", "`pointer_sort`", f"**{percent(right)}**", "", "", self.effort("pointer_sort")]]
        answers = self.answers("pointer_hull", "pointer_hull", DATA / "hull" / "test.source")
        shares = scores.hulls(words_of(DATA / "hull" / "test.source"), words_of(DATA / "hull" / "test.positions"), answers)
        right, simple, covered = map(percent, shares)
        rows.append(["convex hull of ten points", "`pointer_hull`", f"**{right}**", simple, covered, self.effort("pointer_hull")])
        head = ["task", "configuration", "exactly right", "simple polygons", "area covered", "training"]
        return f"\n{pages.table(head, rows)}\n{machine()}.\n"

    def copies(self):
        generate("generate_corpus", "--out", DATA / "names", "--test-names", "500")
        source, reference = DATA / "names" / "test_names.en", DATA / "names" / "test_names.fr"
        training = words_of(DATA / "names" / "train_names.fr")
        rows, outputs = [], {}
        for output, name in (("copy", "copy"), ("vocabulary", "copy_without")):
            answers = self.answers(name, "copy", source, f"model.output.kind={output}")
            unseen, translated = scores.unseen_words(training, words_of(reference), answers)
            right = scores.equal(words_of(reference), answers)
            text = regard("evaluate", "--hypotheses", self.runs / name / "test.out", "-r", reference, "--json")
            rows.append([
                f"`{output}`", f"{translated} of {unseen} ({percent(translated / max(1, unseen))})", percent(right),
                f"{json.loads(text)['bleu']['score']:.2f}", self.effort(name),
            ])  # fmt: skip
            outputs[output] = answers
        lines = {"source": words_of(source), **outputs}
        examples = [
            "".join(f"    {name:10} {' '.join(of[i])}\n" for name, of in lines.items()) for i in range(EXAMPLES)
        ]
        head = ["output", "unseen words translated", "sentences exactly right", "BLEU", "training"]
        return f"\n{pages.table(head, rows)}\n" + "\n".join(examples) + f"\n{machine()}.\n"


def main():
    study = Study(short_parser_of("pointer", __doc__, "runs").parse_args(), "pointer")
    pointers = Pointers(study)
    study.write({"pointers": pointers.pointers(), "copies": pointers.copies()})


project.run(main)
