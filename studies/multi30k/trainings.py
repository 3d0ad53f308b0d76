"""Trains the recipes and scores them, and ensembles of them, on the tests of 2016 and 2017 (Flickr): the rows of the
first table."""

import csv
import dataclasses
import json
import pathlib
import statistics
import tempfile

from figures import recipe
from project import ROOT, machine, read, regard
from synthetic import Synthetic

TEST = "data/multi30k/test_2016_flickr"
TEST_2017 = "data/multi30k/test_2017_flickr"
VALIDATION = "data/multi30k/val"
TRAIN = "data/multi30k/train"


@dataclasses.dataclass(frozen=True)
class Training:
    name: str
    config: str  # name of a file in configs/
    language: str = "de"  # of the target
    settings: tuple = ()  # key=value
    init_from: str = ""  # name of the training with whose weights this one starts
    source: str = "en"
    # Trainings and ensembles whose translations of the training data are added to it (Nguyen et al. 2020)
    teachers: tuple = ()

    def synthetic(self, runs):
        """Returns the pairs that the teachers make: translations of the source side, and of the target side by those of
        the opposite direction."""
        return [
            Synthetic(
                f"{runs}/synthetic/{teacher.name}",
                [f"{runs}/{member.name}" for member in teacher.members],
                f"data/multi30k/train.{teacher.source}",
                ("--side", "target" if teacher.source == self.source else "source", "--keep-duplicates"),
                teacher.recipe,
            )
            for teacher in self.teachers
        ]

    def command(self, runs):
        """Returns the arguments of regard that train this model in the folder `runs`."""
        begin = ("--init-from", f"{runs}/{self.init_from}") if self.init_from else ()
        pairs = (f"data/multi30k/train.{self.source}", f"data/multi30k/train.{self.language}")
        data = [f"data.train.0.src={pairs[0]}", f"data.train.0.trg={pairs[1]}"]
        if self.teachers:
            added = (made.files for made in self.synthetic(runs))
            corpora = ", ".join(f"{{src: {src}, trg: {trg}}}" for src, trg in (pairs, *added))
            vocabulary = f"{runs}/{self.teachers[0].members[0].name}/best/source.model"
            data = [f"data.train=[{corpora}]"]
            data += [f"data.tokenizer.{side}_file={vocabulary}" for side in ("src", "trg")]
        return (
            "train", "-c", f"configs/{self.config}.yaml", *begin,
            f"training.model_dir={runs}/{self.name}",
            *data,
            f"data.dev.src={VALIDATION}.{self.source}",
            f"data.dev.trg={VALIDATION}.{self.language}",
            *self.settings,
        )  # fmt: skip

    @property
    def members(self):
        """Returns the trainings of this model, as for an ensemble."""
        return (self,)

    @property
    def recipe(self):
        """Returns a hash that identifies the recipe of stored figures."""
        taught = [pairs.recipe for pairs in self.synthetic("")]
        return recipe(f"configs/{self.config}.yaml", (*self.command(""), *taught))

    @property
    def label(self):
        return " ".join((self.config, *self.settings)) + (
            f", from `{self.init_from}`, with translations" if self.init_from else ""
        )

    def row(self, figures):
        """Returns the figures, or None if they are not measured yet."""
        return figures.of(self.recipe, "training", self.name)

    def train(self, runs, settings):
        """Trains the model, or goes on with it, after its teachers."""
        for teacher, pairs in zip(self.teachers, self.synthetic(runs)):
            for member in teacher.members:
                if not (ROOT / runs / member.name / "best").exists():
                    member.train(runs, settings)
            pairs.make()
        regard(*self.command(runs), *settings)

    def score(self, runs):
        """Returns the figures of a trained run."""
        run = ROOT / runs / self.name
        with open(run / "validations.tsv", encoding="utf-8") as file:
            validations = list(csv.DictReader(file, delimiter="\t"))
        best = max(validations, key=lambda row: float(row["bleu"]))
        train_log = read(run / "train.jsonl").splitlines()
        return {
            "recipe": self.recipe,
            "machine": machine(),
            "threads": json.loads(read(run / "manifest.json"))["threads"],
            "best_step": int(best["step"]),
            "minutes": float(validations[-1]["seconds"]) / 60,
            "tokens_per_second": statistics.median(
                json.loads(line)["target_tokens_per_second"] for line in train_log
            ),
            "validation_bleu": float(best["bleu"]),
            **scores_on_tests([run], self.source, self.language),
        }


@dataclasses.dataclass(frozen=True)
class Ensemble:
    """Translates with several trained models of one direction at once. It has a row when all of them are on this
    machine."""

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
    def recipe(self):
        return " ".join(member.recipe for member in self.members)

    def row(self, figures):
        """Returns the figures, or None if they are not measured yet."""
        return figures.of(self.recipe, "ensemble", self.name)

    def models(self, runs):
        return [ROOT / runs / member.name for member in self.members]

    def has_models(self, runs):
        return all((model / "best").exists() for model in self.models(runs))

    def score(self, runs):
        """Returns the figures. Those of the validation pair are of greedy search, as in a training."""
        models = self.models(runs)
        validation = evaluate(models, VALIDATION, self.source, self.language, "--beam-size", "1")
        return {
            "recipe": self.recipe,
            "machine": machine(),
            "validation_bleu": validation["bleu"]["score"],
            **scores_on_tests(models, self.source, self.language),
        }


@dataclasses.dataclass(frozen=True)
class Reranked(Ensemble):
    """Chooses among the 20 best translations of an ensemble by its score, their length, and models of the opposite
    direction, with weights that are tuned on the validation pair."""

    reverse: tuple = ()  # trainings

    @property
    def recipe(self):
        return " ".join(member.recipe for member in (*self.members, *self.reverse))

    def reverse_models(self, runs):
        return [ROOT / runs / training.name for training in self.reverse]

    def has_models(self, runs):
        return super().has_models(runs) and all((model / "best").exists() for model in self.reverse_models(runs))

    def rerank(self, runs, stem, output, *options):
        """Translates a source text, and calls `regard rerank` with its 20 best translations. Returns their file."""
        text = f"{stem}.{self.source}"
        best = output.with_suffix(".list")
        regard("translate", "-m", *self.models(runs), "-i", text, "--beam-size", "20", "--n-best", "20", "-o", best)
        regard("rerank", "-s", text, "-i", best, "--reverse", *self.reverse_models(runs), "-o", output, *options)
        return best

    def score(self, runs):
        """Returns the figures. Those of the validation pair, to which the weights are fitted, are BLEU before and after
        the tuning."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            weights, chosen, test, test_2017 = (folder / part for part in ("weights", "chosen", "2016", "2017"))
            best = self.rerank(runs, VALIDATION, weights, "--tune", "-r", f"{VALIDATION}.{self.language}")
            tuned = ("--weights", weights, "--reverse", *self.reverse_models(runs))
            validation = {}
            for label, choice in {"before": ("--weight", "score=1"), "after": tuned}.items():
                regard("rerank", "-s", f"{VALIDATION}.{self.source}", "-i", best, *choice, "-o", chosen)
                validation[label] = scores_of(chosen, VALIDATION, self.language)["bleu"]
            self.rerank(runs, TEST, test, "--weights", weights)
            self.rerank(runs, TEST_2017, test_2017, "--weights", weights)
            scores = scores_of(test, TEST, self.language)
            return {
                "recipe": self.recipe,
                "machine": machine(),
                "weights": json.loads(read(weights)),
                "validation": validation,
                "bleu": scores["bleu"]["score"],
                "chrf": scores["chrf"]["score"],
                "lowercase_bleu": scores_of(test, TEST, self.language, "--lowercase")["bleu"]["score"],
                "bleu_2017": scores_of(test_2017, TEST_2017, self.language)["bleu"]["score"],
            }


def evaluate(models, stem, source, target, *options):
    return json.loads(
        regard("evaluate", "-m", *models, "-s", f"{stem}.{source}", "-r", f"{stem}.{target}", "--json", *options)
    )


def scores_of(translation, stem, target, *options):
    return json.loads(
        regard("evaluate", "--hypotheses", translation, "-r", f"{stem}.{target}", "--json", *options)
    )


def scores_on_tests(models, source, target):
    """Translates both test sets with a model or an ensemble. Only this function and Reranked.score() read them."""
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


def two_seeds(name, config, *rest, settings=(), **options):
    """Returns two trainings that differ in their seed: that of the configuration, and 43."""
    return (
        Training(name, config, *rest, settings=settings, **options),
        Training(f"{name}_seed43", config, *rest, settings=(seed(43), *settings), **options),
    )


def going_on(starts, name, settings, teachers):
    """Returns trainings that go on from others for 4,000 steps with the pairs of teachers."""
    return tuple(
        dataclasses.replace(
            start,
            name=start.name.replace(*name),
            settings=(*start.settings, "training.max_steps=4000", *settings),
            init_from=start.name,
            teachers=teachers,
        )
        for start in starts
    )


BEST = two_seeds("multi30k_best", "multi30k_best")
TRANSFORMER = Training("multi30k_transformer_best", "multi30k_transformer_best")
BACKWARD = Training("multi30k_best_from_german", "multi30k_best", "en", source="de")
TEACHERS = (TRANSFORMER, *BEST, BACKWARD)
DIVERSE = two_seeds("multi30k_transformer_diverse", "multi30k_transformer_diverse", teachers=TEACHERS)
# Less dropout and half of the rate, as the teachers' pairs are harder to learn by heart and the models are trained.
BEST_DIVERSE = going_on(
    BEST,
    ("best", "best_diverse"),
    (
        "training.learning_rate=0.0015",
        "model.dropout.embeddings=0.2",
        "model.dropout.states=0.2",
        "model.dropout.readout=0.3",
    ),
    TEACHERS,
)
FRENCH = two_seeds("multi30k_best_french", "multi30k_best", "fr")
FROM_FRENCH = Training("multi30k_best_from_french", "multi30k_best", "en", source="fr")
DIVERSE_FRENCH = two_seeds(
    "multi30k_transformer_diverse_french",
    "multi30k_transformer_diverse",
    "fr",
    teachers=(*FRENCH, FROM_FRENCH),
)


def second_round(starts, others, backward):
    """Returns trainings that go on from others with the translations of their ensemble, and of `others`."""
    teacher = Ensemble(f"{starts[0].name}_ensemble", (*starts, *others), "")
    rate = ("training.learning_rate=0.001",)
    return going_on(starts, ("diverse", "second_round"), rate, (teacher, backward))


TRAININGS = [
    *BEST,
    TRANSFORMER,
    *DIVERSE,
    *BEST_DIVERSE,
    *second_round(DIVERSE, BEST_DIVERSE, BACKWARD),
    Training("multi30k_transformer", "multi30k_transformer"),
    *two_seeds("multi30k", "multi30k"),
    Training(
        "multi30k_reset_after",
        "multi30k",
        settings=("model.encoder.reset_gate=after", "model.decoder.reset_gate=after"),
    ),
    Training("multi30k_fixed_context", "multi30k_fixed_context"),
    *FRENCH,
    *DIVERSE_FRENCH,
    *second_round(DIVERSE_FRENCH, FRENCH, FROM_FRENCH),
    Training("multi30k_french", "multi30k", "fr"),
    BACKWARD,
    FROM_FRENCH,
]


def ensemble(names, label):
    """Returns the ensemble of the trainings with these names, each with both seeds. It searches as the first one."""
    members = tuple(t for name in names for t in TRAININGS if t.name.removesuffix("_seed43") == name)
    return Ensemble("_and_".join(names), members, label)


EACH = ensemble(("multi30k_best", "multi30k_transformer_diverse"), "two seeds of each")
RERANKED = Reranked(
    f"{EACH.name}_reranked",
    EACH.members,
    "two seeds of each, reranked with multi30k_best from German",
    reverse=(BACKWARD,),
)
ENSEMBLES = [
    ensemble(("multi30k_best",), "two seeds of multi30k_best"),
    ensemble(("multi30k_transformer_diverse",), "two seeds of multi30k_transformer_diverse"),
    ensemble(("multi30k_transformer_diverse_french",), "two seeds of multi30k_transformer_diverse"),
    EACH,
    ensemble(
        ("multi30k_transformer_diverse", "multi30k_best_diverse", "multi30k_best"),
        "two seeds of each of these and of multi30k_best_diverse",
    ),
    *(
        ensemble(
            tuple(f"multi30k_{name}{suffix}" for name in ("transformer_second_round", "transformer_diverse", "best")),
            "two seeds of each, and of multi30k_transformer_second_round",
        )
        for suffix in ("", "_french")
    ),
    RERANKED,
]
