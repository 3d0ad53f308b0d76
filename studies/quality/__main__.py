"""Measures ways to choose a translation, and the translation of noisy text, and writes docs/decoding.md.

German to English, Multi30k, with the small recipe of configs/attention_comparison.yaml. The parts are:

  decoding    greedy and beam search, minimum Bayes risk over samples and over a beam, and reranking of 20-best lists by
              score, a reverse model, a language model and length, with weights tuned on the validation pair
  robustness  the test source with typing errors and in other cases, for a model trained as usual, for one trained with
              data.tokenizer.sampling, and for one whose training text has each source sentence in these versions as well

Stopped trainings are resumed, and finished ones are skipped.
"""

import dataclasses
import json
import time

import project
from cells import Cell, Study, System, Training, multi30k, parser_of, results_table, scores
from noisy_text import NOISE, VERSIONS
from pages import table
from project import CORES, ROOT, machine, names_in, need_multi30k, regard, warn

FORWARD = multi30k("de", "en", 42)
BACKWARD = multi30k("en", "de", 42)
USUAL = System("usual", ())
SAMPLED = System("sampling", ("data.tokenizer.sampling=0.1",))
COLUMNS = {"usual": "trained as usual", "sampling": "BPE-dropout 0.1", "noisy": "noisy copies"}
PARTS = {"decoding": ("usual", "reverse"), "robustness": tuple(COLUMNS)}  # the systems that each needs
BEST = 20  # entries of a list
SAMPLES = ("--samples", "64", "--seed", "1")

# (label, options of `regard translate`); the first is the baseline of the p-values.
SEARCHES = (
    ("beam 5", ("--beam-size", "5")),
    ("greedy", ("--beam-size", "1")),
    ("beam 20", ("--beam-size", "20")),
    ("minimum Bayes risk, chrF, 64 samples", (*SAMPLES, "--mbr", "chrf")),
    ("minimum Bayes risk, BLEU, 64 samples", (*SAMPLES, "--mbr", "bleu")),
    ("minimum Bayes risk, chrF, beam 20", ("--beam-size", "20", "--mbr", "chrf")),
    ("minimum Bayes risk, BLEU, beam 20", ("--beam-size", "20", "--mbr", "bleu")),
)


def write_lines(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def with_noisy_copies(study):
    """Returns the system that is trained on noisy copies of the source too, as much as on the true source."""
    settings = [f"data.train.0.weight={len(NOISE)}"]
    for i in range(len(NOISE)):
        settings += [f"data.train.{i + 1}.src={noisy_copy(study, i)}", f"data.train.{i + 1}.trg={FORWARD.data('train')[1]}"]
    return System("noisy", tuple(settings))


def noisy_copy(study, i):
    """Returns the path of a noisy copy of the training source."""
    return study.folder / "data" / f"{i}.{FORWARD.source}"


def write_noisy_copies(study):
    lines = (ROOT / FORWARD.data("train")[0]).read_text(encoding="utf-8").splitlines()
    for i, (_, version) in enumerate(NOISE):
        path = noisy_copy(study, i)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_lines(path, version(lines))


def robustness(cell, *options):
    """Scores each version of the test source."""
    source, target = cell.task.data("test")
    lines = (ROOT / source).read_text(encoding="utf-8").splitlines()
    noisy = cell.run / "noisy"
    found = {}
    for name, version in VERSIONS:
        write_lines(noisy, version(lines))
        found[name] = cell.score(noisy, target, *options)["bleu"]["score"]
    noisy.unlink()
    return {"robustness": found}


def language_model(study):
    """Returns a language model of the target side of the training data."""
    train, dev = FORWARD.data("train"), FORWARD.data("dev")
    texts = (f"data.train.0.trg={train[1]}", f"data.dev.trg={dev[1]}")
    settings = (*texts, "data.tokenizer.vocabulary_size=4000")
    return Training(study, ("language_model",), "configs/language_model.yaml", settings)


class Decoding:
    """Translates the test set in every way, and compares all with the first."""

    def __init__(self, study, forward, backward):
        self.study = study
        self.folder = study.folder / "decoding"
        self.forward = forward
        self.backward = backward
        self.language_model = language_model(study)

    @property
    def recipe(self):
        models = (self.forward, self.backward, self.language_model)
        return " ".join(model.recipe for model in models)

    def result(self):
        return self.study.figures.of(self.recipe, "decoding")

    def run(self, command, *options):
        """Returns the seconds of a command of regard."""
        start = time.monotonic()
        regard(command, *options, "--quiet")
        return time.monotonic() - start

    def translate(self, key, output, *options):
        """Translates the source of "dev" or "test" with the forward model."""
        source, _ = self.forward.task.data(key)
        return self.run("translate", "-m", self.forward.run, "-i", source, "-o", output, *options)

    def scored_list(self, key):
        """Writes the best translations of "dev" or "test" with a feature of both models. Returns file and seconds."""
        source, _ = self.forward.task.data(key)
        best, with_reverse, scored = (self.folder / f"{key}.{name}" for name in ("list", "reverse", "scored"))
        seconds = self.translate(key, best, "--beam-size", str(BEST), "--n-best", str(BEST))
        seconds += self.run("score", "-m", self.backward.run, "--swap", "-s", source, "--n-best", best,
                            "--feature", "reverse", "-o", with_reverse)  # fmt: skip
        seconds += self.run("score", "-m", self.language_model.run, "--n-best", with_reverse, "--feature", "lm",
                            "-o", scored)  # fmt: skip
        return scored, seconds

    def rerank(self):
        """Tunes on the validation pair. Returns the translations of the test, seconds and weights."""
        weights, reranked = self.folder / "weights.json", self.folder / "reranked"
        _, target = self.forward.task.data("dev")
        scored, _ = self.scored_list("dev")
        self.run("rerank", "--tune", "-r", target, "-i", scored, "--list-features", "score,reverse,lm", "-o", weights)
        scored, seconds = self.scored_list("test")
        seconds += self.run("rerank", "--weights", weights, "-i", scored, "-o", reranked)
        return reranked, seconds, json.loads(weights.read_text(encoding="utf-8"))

    def measure(self):
        for model in (self.forward, self.backward, self.language_model):
            model.prepare(CORES)
        self.folder.mkdir(parents=True, exist_ok=True)
        rows, outputs = [], []
        for label, options in SEARCHES:
            outputs.append(self.folder / f"{len(rows)}.txt")
            warn(label)
            rows.append({"label": label, "seconds": self.translate("test", outputs[-1], *options)})
        reranked, seconds, weights = self.rerank()
        outputs.append(reranked)
        rows.append({"label": f"{BEST} best of beam {BEST}, reranked", "seconds": seconds})
        source, target = self.forward.task.data("test")
        compared = json.loads(
            regard("evaluate", "--hypotheses", *outputs, "-s", source, "-r", target, "--paired-bs", "--json", "--force")
        )
        for row, system in zip(rows, compared["systems"]):
            row["bleu"] = system["bleu"]["score"]
            row["chrf"] = system["chrf"]["score"]
            row["p"] = system["bleu"].get("p")
        figures = {"recipe": self.recipe, "machine": machine(), "rows": rows, "weights": weights}
        self.study.figures.put(figures, "decoding")


def decoding_table(result):
    if not result:
        return None
    rows = []
    for row in result["rows"]:
        p = "–" if row["p"] is None else f"{row['p']:.3f}"
        rows.append([row["label"], f"{row['bleu']:.2f}", p, f"{row['chrf']:.2f}", f"{row['seconds']:.1f}"])
    head = ["choice", "BLEU", "p (paired bootstrap against beam 5)", "chrF2", "seconds"]
    weights = result["weights"]
    tuned = ", ".join(f"{feature['name']} {feature['weight']:.3f}" for feature in weights["features"])
    return table(head, rows) + (
        f"\nTuned weights: {tuned}. On the validation pair they raise BLEU from {weights['score_before']:.2f} to "
        f"{weights['score_after']:.2f}. Measured: {result['machine']}.\n"
    )


def robustness_table(cells):
    results = [cells[name].result() for name in COLUMNS]
    rows = [
        [name, *(f"{result['robustness'][name]:.1f}" if result else "–" for result in results)] for name, _ in VERSIONS
    ]
    head = ["test source, BLEU", *COLUMNS.values()]
    return results_table(head, rows, results)


def main():
    options = parser_of("quality", __doc__).parse_args()
    study = Study(options, "decoding")
    need_multi30k("train.de")
    systems = (USUAL, SAMPLED, with_noisy_copies(study))
    cell = {system.name: Cell(study, system, FORWARD, (scores, robustness)) for system in systems}
    cell["reverse"] = Cell(study, dataclasses.replace(USUAL, name="reverse"), BACKWARD)
    decoding = Decoding(study, cell["usual"], cell["reverse"])
    for part in names_in(options.only, list(PARTS), "part"):
        needed = [cell[name] for name in PARTS[part]]
        if part == "robustness" and study.missing(needed):
            write_noisy_copies(study)
        study.fill(needed)
        if part == "decoding" and study.missing([decoding]) and all(one.result() for one in needed):
            decoding.measure()
    parts = {"quality": decoding_table(decoding.result()), "robustness": robustness_table(cell)}
    study.write(parts, list(cell.values()))


project.run(main)
