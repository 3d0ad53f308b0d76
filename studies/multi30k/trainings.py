"""Trains the recipes and scores them, and ensembles of them, on the tests of 2016 and 2017 (Flickr): the rows of the
first table."""

import dataclasses
import json
import pathlib
import tempfile

from cells import Study, Training, effort
from project import machine, read, regard, validations
from synthetic import Synthetic

TEST = "data/multi30k/test_2016_flickr"
TEST_2017 = "data/multi30k/test_2017_flickr"
VALIDATION = "data/multi30k/val"
TRAIN = "data/multi30k/train"


class Translator(Training):
    """A training with a configuration of configs/ and `own` settings. `start` is the one with whose weights it starts;
    the translations of the training data by its teachers, trainings and ensembles, are added to it (Nguyen et al.
    2020)."""

    def __init__(self, study, name, config, source="en", language="de", own=(), start=None, teachers=()):
        self.name = name
        self.recipe_name = config
        self.source = source
        self.language = language  # of the target
        self.own = own
        self.start = start
        # Translations of the source side, and of the target side by those of the opposite direction.
        self.synthetic = [
            Synthetic(
                study.folder / "synthetic" / teacher.name, teacher.members, f"{TRAIN}.{teacher.source}",
                "--side", "target" if teacher.source == source else "source", "--keep-duplicates",
            )
            for teacher in teachers
        ]  # fmt: skip
        pairs = (f"{TRAIN}.{source}", f"{TRAIN}.{language}")
        data = [f"data.train.0.src={pairs[0]}", f"data.train.0.trg={pairs[1]}"]
        if teachers:
            corpora = ", ".join(f"{{src: {s}, trg: {t}}}" for s, t in (pairs, *(made.files for made in self.synthetic)))
            vocabulary = f"{teachers[0].members[0].run}/best/source.model"
            data = [f"data.train=[{corpora}]", *(f"data.tokenizer.{side}_file={vocabulary}" for side in ("src", "trg"))]
        data += [f"data.dev.src={VALIDATION}.{source}", f"data.dev.trg={VALIDATION}.{language}"]
        begin = ("--init-from", str(start.run)) if start else ()
        after = (*([start] if start else []), *self.synthetic)
        super().__init__(study, (name,), f"configs/{config}.yaml", (*data, *own), begin, after)

    @property
    def members(self):
        """Returns the trainings of this model, as for an ensemble."""
        return (self,)

    @property
    def label(self):
        return " ".join((self.recipe_name, *self.own)) + (
            f", from `{self.start.name}`, with translations" if self.start else ""
        )

    def measure(self, *_):
        best = max(validations(self.run), key=lambda row: float(row["bleu"]))
        return {
            **effort(self),
            "best_step": int(best["step"]),
            "validation_bleu": float(best["bleu"]),
            **scores_on_tests([self.run], self.source, self.language),
        }


class Compared(Translator):
    """A training that is scored on the validation pair, by its own last validation."""

    def measure(self, *_):
        last = validations(self.run)[-1]
        return {**effort(self), "bleu": float(last["bleu"]), "chrf": float(last["chrf"]), "loss": float(last["loss"])}


@dataclasses.dataclass(frozen=True)
class Ensemble:
    """Translates with several trained models of one direction at once. It has a row when all of them are on this
    machine."""

    study: Study
    name: str
    members: tuple  # trainings
    label: str

    @property
    def language(self):
        return self.members[0].language

    @property
    def source(self):
        return self.members[0].source

    @property
    def models(self):
        """Returns the trainings whose models it needs."""
        return self.members

    def result(self):
        """Returns the figures, or None if they are not measured yet."""
        return self.study.figures.of(recipe_of(self.models), "ensemble", self.name)

    def prepare(self, _):
        """Scores the ensemble if all models are on this machine."""
        if all(model.result() and model.has_model() for model in self.models):
            figures = {"recipe": recipe_of(self.models), "machine": machine(), **self.measure()}
            self.study.figures.put(figures, "ensemble", self.name)

    def measure(self):
        """Returns the figures. Those of the validation pair are of greedy search, as in a training."""
        runs = [member.run for member in self.members]
        validation = evaluate(runs, VALIDATION, self.source, self.language, "--beam-size", "1")
        return {
            "validation_bleu": validation["bleu"]["score"],
            **scores_on_tests(runs, self.source, self.language),
        }


@dataclasses.dataclass(frozen=True)
class Reranked(Ensemble):
    """Chooses among the 20 best translations of an ensemble by its score, their length, and a model of the opposite
    direction, with weights that are tuned on the validation pair."""

    reverse: Translator

    @property
    def models(self):
        return (*self.members, self.reverse)

    def scored_list(self, stem, folder):
        """Returns a list of the 20 best translations of a source text, with the feature of the reverse model."""
        text = f"{stem}.{self.source}"
        best, scored = folder / "best", folder / "scored"
        runs = [member.run for member in self.members]
        regard("translate", "-m", *runs, "-i", text, "--beam-size", "20", "--n-best", "20", "-o", best)
        regard("score", "-m", self.reverse.run, "--swap", "-s", text, "--n-best", best, "--feature", "reverse",
               "-o", scored)  # fmt: skip
        return scored

    def measure(self):
        """Returns the figures. Those of the validation pair, to which the weights are fitted, are BLEU before and after
        the tuning."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            weights, chosen, test, test_2017 = (folder / part for part in ("weights", "chosen", "2016", "2017"))
            scored = self.scored_list(VALIDATION, folder)
            features = ("--list-features", "score,reverse")
            regard("rerank", "--tune", "-r", f"{VALIDATION}.{self.language}", "-i", scored, *features, "-o", weights)
            validation = {}
            for label, choice in {"before": ("--weight", "score=1"), "after": ("--weights", weights)}.items():
                regard("rerank", "-i", scored, *choice, "-o", chosen)
                validation[label] = scores_of(chosen, VALIDATION, self.language)["bleu"]
            for stem, output in ((TEST, test), (TEST_2017, test_2017)):
                regard("rerank", "-i", self.scored_list(stem, folder), "--weights", weights, "-o", output)
            scores = scores_of(test, TEST, self.language)
            return {
                "weights": json.loads(read(weights)),
                "validation": validation,
                "bleu": scores["bleu"]["score"],
                "chrf": scores["chrf"]["score"],
                "lowercase_bleu": scores_of(test, TEST, self.language, "--lowercase")["bleu"]["score"],
                "bleu_2017": scores_of(test_2017, TEST_2017, self.language)["bleu"]["score"],
            }


def recipe_of(trainings):
    """Returns a hash for figures that several trainings have in common."""
    return " ".join(training.recipe for training in trainings)


def evaluate(models, stem, source, target, *options):
    return json.loads(
        regard("evaluate", "-m", *models, "-s", f"{stem}.{source}", "-r", f"{stem}.{target}", "--json", *options)
    )


def scores_of(translation, stem, target, *options):
    return json.loads(
        regard("evaluate", "--hypotheses", translation, "-r", f"{stem}.{target}", "--json", *options)
    )


def scores_on_tests(models, source, target):
    """Translates both test sets with a model or an ensemble. Only this function and Reranked.measure() read them."""
    with tempfile.TemporaryDirectory() as folder:
        translation = pathlib.Path(folder) / "2016"
        test = evaluate(models, TEST, source, target, "-o", translation)
        lowercase = scores_of(translation, TEST, target, "--lowercase")
    return {
        "bleu": test["bleu"]["score"],
        "chrf": test["chrf"]["score"],
        "perplexity": test["perplexity"],
        "lowercase_bleu": lowercase["bleu"]["score"],
        "bleu_2017": evaluate(models, TEST_2017, source, target)["bleu"]["score"],
    }


def seed(number):
    return f"training.random_seed={number}"


def going_on(starts, name, settings, teachers):
    """Returns trainings that go on from others for 4,000 steps with the pairs of teachers."""
    return tuple(
        Translator(
            start.study, start.name.replace(*name), start.recipe_name, start.source, start.language,
            (*start.own, "training.max_steps=4000", *settings), start, teachers,
        )
        for start in starts
    )  # fmt: skip


def second_round(starts, others, backward):
    """Returns trainings that go on from others with the translations of their ensemble, and of `others`."""
    teacher = Ensemble(starts[0].study, f"{starts[0].name}_ensemble", (*starts, *others), "")
    return going_on(starts, ("diverse", "second_round"), ("training.learning_rate=0.001",), (teacher, backward))


class Table:
    """The rows of the first table."""

    def __init__(self, study):
        def one(name, config, *languages, **more):
            return Translator(study, name, config, *languages, **more)

        def two_seeds(name, config, *languages, **more):
            """Returns two trainings that differ in their seed: that of the configuration, and 43."""
            return (
                one(name, config, *languages, **more),
                one(f"{name}_seed43", config, *languages, own=(seed(43),), **more),
            )

        best = two_seeds("multi30k_best", "multi30k_best")
        self.transformer = one("multi30k_transformer_best", "multi30k_transformer_best")
        backward = one("multi30k_best_from_german", "multi30k_best", "de", "en")
        self.teachers = (self.transformer, *best, backward)
        self.diverse = two_seeds(
            "multi30k_transformer_diverse", "multi30k_transformer_diverse", teachers=self.teachers
        )
        # Less dropout and half of the rate, as the teachers' pairs are harder to learn by heart and the models are
        # trained.
        gentle = (
            "training.learning_rate=0.0015",
            "model.dropout.embeddings=0.2",
            "model.dropout.states=0.2",
            "model.dropout.readout=0.3",
        )
        best_diverse = going_on(best, ("best", "best_diverse"), gentle, self.teachers)
        french = two_seeds("multi30k_best_french", "multi30k_best", "en", "fr")
        from_french = one("multi30k_best_from_french", "multi30k_best", "fr", "en")
        diverse_french = two_seeds(
            "multi30k_transformer_diverse_french", "multi30k_transformer_diverse", "en", "fr",
            teachers=(*french, from_french),
        )  # fmt: skip
        second = second_round(self.diverse, best_diverse, backward)
        second_french = second_round(diverse_french, french, from_french)
        reset_after = ("model.encoder.reset_gate=after", "model.decoder.reset_gate=after")
        self.trainings = [
            *best,
            self.transformer,
            *self.diverse,
            *best_diverse,
            *second,
            one("multi30k_transformer", "multi30k_transformer"),
            *two_seeds("multi30k", "multi30k"),
            one("multi30k_reset_after", "multi30k", own=reset_after),
            one("multi30k_fixed_context", "multi30k_fixed_context"),
            *french,
            *diverse_french,
            *second_french,
            one("multi30k_french", "multi30k", "en", "fr"),
            backward,
            from_french,
        ]

        def ensemble(label, *pairs):
            """Returns the ensemble of trainings, each with both seeds. It searches as the first one."""
            name = "_and_".join(pair[0].name for pair in pairs)
            return Ensemble(study, name, tuple(training for pair in pairs for training in pair), label)

        each = ensemble("two seeds of each", best, self.diverse)
        label = "two seeds of each, reranked with multi30k_best from German"
        self.reranked = Reranked(study, f"{each.name}_reranked", each.members, label, backward)
        of_three = "two seeds of each, and of multi30k_transformer_second_round"
        self.ensembles = [
            ensemble("two seeds of multi30k_best", best),
            ensemble("two seeds of multi30k_transformer_diverse", self.diverse),
            ensemble("two seeds of multi30k_transformer_diverse", diverse_french),
            each,
            ensemble("two seeds of each of these and of multi30k_best_diverse", self.diverse, best_diverse, best),
            ensemble(of_three, second, self.diverse, best),
            ensemble(of_three, second_french, diverse_french, french),
            self.reranked,
        ]
