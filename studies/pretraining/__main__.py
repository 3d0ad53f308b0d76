"""Measures what text without translations is worth with little parallel data, and writes docs/language_models.md.

German to English translators are trained on 1,000, 5,000 and 29,000 pairs of Multi30k. The text without translations
are all 29,000 sentences of the training data: those in English for a language model, whose weight in the search is the
best one on the validation pair, and those in both languages, which are not used as pairs, for masked and denoising
pre-training of a Transformer. Stopped trainings are resumed, and finished ones are skipped.
"""

import dataclasses
import json

import project
from cells import Cell, System, fill, machines, multi30k, parser_of, write_first_pairs
from figures import Figures, recipe
from pages import put, table
from project import CORES, ROOT, machine, names_in, need_multi30k, regard, warn

PAGE = ROOT / "docs" / "language_models.md"
SIZES = (1000, 5000, 29000)
WEIGHTS = (0.05, 0.1, 0.2, 0.3, 0.4)
ALL = multi30k("de", "en", 42)
GERMAN, ENGLISH = ALL.data("train")
TRANSFORMER = "configs/pretrained.yaml"


class Pretraining:
    """A model that is trained on text without translations. `settings` are overrides of the configuration."""

    def __init__(self, runs, figures, name, settings):
        self.name = name
        self.config = f"configs/{name}.yaml"
        self.run = f"{runs}/{name}"
        self.settings = settings
        self.figures = figures

    @property
    def recipe(self):
        return recipe(self.config, self.settings)

    def result(self):
        return self.figures.of(self.recipe, self.name)

    def train(self):
        """Trains (or resumes) it and stores its validation perplexity."""
        regard("train", "-c", self.config, f"training.model_dir={self.run}", f"threads={CORES}", *self.settings)
        if not self.result():
            validations = json.loads(regard("info", self.run, "--json"))["run"]["validations"]
            best = min(validations, key=lambda validation: validation["perplexity"])
            self.figures.put(
                {
                    "recipe": self.recipe,
                    "machine": machine(),
                    "perplexity": best["perplexity"],
                    "step": best["step"],
                },
                self.name,
            )


def pretrainings(runs, figures):
    dev = ALL.data("dev")
    vocabulary = "data.tokenizer.vocabulary_size=4000"
    joint = f"{runs}/masked_language_model/best/source.model"
    return {
        "language_model": Pretraining(
            runs, figures, "language_model", (f"data.train.0.trg={ENGLISH}", f"data.dev.trg={dev[1]}", vocabulary)
        ),
        "masked": Pretraining(
            runs,
            figures,
            "masked_language_model",
            (f"data.train.0.trg={GERMAN}", f"data.train.1.trg={ENGLISH}", f"data.dev.trg={dev[0]}", vocabulary),
        ),
        "denoising": Pretraining(
            runs,
            figures,
            "denoising",
            (
                *(f"data.train.0.{side}={GERMAN}" for side in ("src", "trg")),
                *(f"data.train.1.{side}={ENGLISH}" for side in ("src", "trg")),
                *(f"data.dev.{side}={dev[1]}" for side in ("src", "trg")),
                vocabulary,
                *(f"data.tokenizer.{side}_file={joint}" for side in ("src", "trg")),
            ),
        ),
    }


# (name, what must be trained before, remark). The masked model also has the vocabulary of all Transformers.
SYSTEMS = (
    ("recurrent", ("language_model",), "GRU with additive attention"),
    ("transformer", ("masked",), "Transformer, from random weights"),
    ("transformer_longer", ("masked",), "the same, with as many updates as a pre-trained one in all (7,000)"),
    ("masked", ("masked",), "the same, its encoder from masked pre-training (BERT)"),
    ("denoising", ("masked", "denoising"), "the same, encoder and decoder from denoising pre-training (BART)"),
)


def system(name, before, pairs):
    """Returns the translator of this name for a number of pairs."""
    if name == "recurrent":
        source_vocabulary = {1000: 1000, 5000: 2000}.get(pairs, 4000)
        return System(
            "recurrent",
            (
                "model.attention.kind=additive",
                "model.attention.size=256",
                "model.tied_embeddings=output",
                "data.tokenizer.joint=false",
                f"data.tokenizer.vocabulary_size={source_vocabulary}",
                f"data.tokenizer.trg_file={before['language_model'].run}/best/target.model",
                "training.validation_every=250",
            ),
        )
    if name.startswith("transformer"):
        joint = f"{before['masked'].run}/best/source.model"
        files = tuple(f"data.tokenizer.{side}_file={joint}" for side in ("src", "trg"))
        longer = ("training.max_steps=7000",) if name == "transformer_longer" else ()
        return System(name, files + longer, config=TRANSFORMER)
    vocabulary = ("data.tokenizer.vocabulary_size=4000",)  # that of the initial model
    initial = ("--init-from", before[name].run)
    return System(name, vocabulary, config=TRANSFORMER, options=initial, after=before[name].recipe)


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


def fusion_table(cells, language_model):
    if not language_model:
        return "No figures yet.\n"
    rows = []
    for name, cell in cells["recurrent"].items():
        result = cell.result()
        if result:
            fusion = result["fusion"]
            rows.append(
                [
                    f"{int(name):,}",
                    f"{result['dev']['bleu']:.1f}",
                    f"{result['bleu']:.1f}",
                    fusion["weight"],
                    f"{fusion['dev']:.1f}",
                    f"{fusion['bleu']:.1f}",
                ]
            )
    head = ["pairs", "validation BLEU", "test 2016 BLEU", "λ", "validation BLEU, fused", "test 2016 BLEU, fused"]
    return table(head, rows) + (
        f"\nValidation perplexity of the language model: {language_model['perplexity']:.1f}. "
        f"Trained: {machines(cell.result() for cell in cells['recurrent'].values())}.\n"
    )


def initial_table(cells, before):
    def figure(name, size):
        result = cells[name][str(size)].result()
        return f"{result['bleu']:.1f} ({result['dev']['bleu']:.1f})" if result else "–"

    rows = [
        [f"`{name}`: {remark}", *(figure(name, size) for size in SIZES)]
        for name, _, remark in SYSTEMS
        if any(cell.result() for cell in cells[name].values())
    ]
    if not rows:
        return "No figures yet.\n"
    head = ["translator", *(f"{size:,} pairs" for size in SIZES)]
    text = table(head, rows) + "\nBLEU of test 2016, and in brackets of the validation pair."
    for name in ("masked", "denoising"):
        trained = before[name].result()
        if trained:
            text += f" Validation perplexity after {name} pre-training: {trained['perplexity']:.1f}."
    results = [cell.result() for of_system in cells.values() for cell in of_system.values()]
    return text + f" Trained: {machines(results)}.\n"


def main():
    options = parser_of("pretraining", __doc__, "runs/pretraining").parse_args()
    need_multi30k("train.de")
    figures = Figures(ROOT / "docs" / "language_models" / "figures.json")
    folder = ROOT / options.runs
    before = pretrainings(options.runs, figures)
    tasks = {
        str(pairs): dataclasses.replace(ALL, name=str(pairs), train=f"{options.runs}/data/first_{pairs}")
        for pairs in SIZES
    }
    fusion = (Fusion(before["language_model"].run),)
    cells = {
        name: {
            size: Cell(folder, figures, system(name, before, int(size)), task, fusion if name == "recurrent" else ())
            for size, task in tasks.items()
        }
        for name, _, _ in SYSTEMS
    }
    sizes = names_in(options.tasks, list(tasks), "number of pairs")
    wanted = names_in(options.only, list(cells), "system")
    missing = [cells[name][size] for name in wanted for size in sizes if not cells[name][size].result()]
    if missing and not options.table:
        for size in sizes:
            write_first_pairs(ALL, folder / "data", int(size))
        for name, needed, _ in SYSTEMS:
            of_system = [cell for cell in missing if cell.system.name == name]
            if of_system:
                for model in needed:
                    before[model].train()
                fill(of_system, options)
    texts = {
        "fusion": fusion_table(cells, before["language_model"].result()),
        "initial": initial_table(cells, before),
    }
    put(PAGE, texts)
    done = sum(cell.result() is not None for of_system in cells.values() for cell in of_system.values())
    warn(f"written: docs/language_models.md, {done} of {len(SYSTEMS) * len(SIZES)} cells")


project.run(main)
