"""Measures what text without translations is worth with little parallel data, and writes docs/language_models.md.

German to English translators are trained on 1,000, 5,000 and 29,000 pairs of Multi30k. The text without translations
are all 29,000 sentences of the training data: those in English for a language model, whose weight in the search is the
best one on the validation pair, and those in both languages, which are not used as pairs, for masked and denoising
pre-training of a Transformer. Stopped trainings are resumed, and finished ones are skipped.
"""

import project
from cells import Cell, Study, System, Training, first_pairs, multi30k, parser_of, results_table, scores
from project import need_multi30k, validations

SIZES = (1000, 5000, 29000)
WEIGHTS = (0.05, 0.1, 0.2, 0.3, 0.4)
ALL = multi30k("de", "en", 42)
GERMAN, ENGLISH = ALL.data("train")
TRANSFORMER = "configs/pretrained.yaml"


class Pretraining(Training):
    """A model that is trained on text without translations."""

    def __init__(self, study, name, *settings, after=()):
        super().__init__(study, (name,), f"configs/{name}.yaml", settings, after=after)

    def measure(self, *_):
        """Returns the lowest perplexity of a validation."""
        best = min(validations(self.run), key=lambda row: float(row["perplexity"]))
        return {"perplexity": float(best["perplexity"]), "step": int(best["step"])}


def vocabulary_of(masked):
    """Returns the settings of the vocabulary of both languages, that of the masked language model."""
    return [f"data.tokenizer.{side}_file={masked.run}/best/source.model" for side in ("src", "trg")]


def pretrainings(study):
    dev = ALL.data("dev")
    vocabulary = "data.tokenizer.vocabulary_size=4000"
    masked = Pretraining(
        study, "masked_language_model",
        f"data.train.0.trg={GERMAN}", f"data.train.1.trg={ENGLISH}", f"data.dev.trg={dev[0]}", vocabulary,
    )  # fmt: skip
    return {
        "language_model": Pretraining(
            study, "language_model", f"data.train.0.trg={ENGLISH}", f"data.dev.trg={dev[1]}", vocabulary
        ),
        "masked": masked,
        "denoising": Pretraining(
            study,
            "denoising",
            *(f"data.train.0.{side}={GERMAN}" for side in ("src", "trg")),
            *(f"data.train.1.{side}={ENGLISH}" for side in ("src", "trg")),
            *(f"data.dev.{side}={dev[1]}" for side in ("src", "trg")),
            vocabulary,
            *vocabulary_of(masked),
            after=(masked,),
        ),
    }


SYSTEMS = {
    "recurrent": "GRU with additive attention",
    "transformer": "Transformer, from random weights",
    "transformer_longer": "the same, with as many updates as a pre-trained one in all (7,000)",
    "masked": "the same, its encoder from masked pre-training (BERT)",
    "denoising": "the same, encoder and decoder from denoising pre-training (BART)",
}


def system(name, before, pairs):
    """Returns the translator of this name for a number of pairs."""
    if name == "recurrent":
        source_vocabulary = {1000: 1000, 5000: 2000}.get(pairs, 4000)
        settings = (
            "model.attention.kind=additive",
            "model.attention.size=256",
            "model.tied_embeddings=output",
            "data.tokenizer.joint=false",
            f"data.tokenizer.vocabulary_size={source_vocabulary}",
            f"data.tokenizer.trg_file={before['language_model'].run}/best/target.model",
            "training.validation_every=250",
        )
        return System(name, settings, after=(before["language_model"],))
    if name.startswith("transformer"):
        longer = ("training.max_steps=7000",) if name == "transformer_longer" else ()
        settings = (*vocabulary_of(before["masked"]), *longer)
        return System(name, settings, config=TRANSFORMER, after=(before["masked"],))
    vocabulary = ("data.tokenizer.vocabulary_size=4000",)  # that of the initial model
    initial = ("--init-from", str(before[name].run))
    return System(name, vocabulary, config=TRANSFORMER, options=initial, after=(before[name],))


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
        return None
    rows = []
    for size, cell in cells["recurrent"].items():
        result = cell.result()
        if result:
            fusion = result["fusion"]
            rows.append(
                [
                    f"{size:,}",
                    f"{result['dev']['bleu']:.1f}",
                    f"{result['bleu']:.1f}",
                    fusion["weight"],
                    f"{fusion['dev']:.1f}",
                    f"{fusion['bleu']:.1f}",
                ]
            )
    head = ["pairs", "validation BLEU", "test 2016 BLEU", "λ", "validation BLEU, fused", "test 2016 BLEU, fused"]
    remark = f"Validation perplexity of the language model: {language_model['perplexity']:.1f}. "
    return results_table(head, rows, [cell.result() for cell in cells["recurrent"].values()], remark)


def initial_table(cells, before):
    def figure(name, size):
        result = cells[name][size].result()
        return f"{result['bleu']:.1f} ({result['dev']['bleu']:.1f})" if result else "–"

    rows = [
        [f"`{name}`: {remark}", *(figure(name, size) for size in SIZES)]
        for name, remark in SYSTEMS.items()
        if any(cell.result() for cell in cells[name].values())
    ]
    head = ["translator", *(f"{size:,} pairs" for size in SIZES)]
    remark = "BLEU of test 2016, and in brackets of the validation pair. "
    for name in ("masked", "denoising"):
        trained = before[name].result()
        if trained:
            remark += f"Validation perplexity after {name} pre-training: {trained['perplexity']:.1f}. "
    results = [cell.result() for of_system in cells.values() for cell in of_system.values()]
    return results_table(head, rows, results, remark)


def main():
    study = Study(parser_of("pretraining", __doc__).parse_args(), "language_models")
    need_multi30k("train.de")
    before = pretrainings(study)
    tasks = {size: first_pairs(ALL, study, size, name=str(size)) for size in SIZES}
    fusion = (scores, Fusion(before["language_model"].run))
    cells = {
        name: {
            size: Cell(study, system(name, before, size), task, fusion if name == "recurrent" else (scores,))
            for size, task in tasks.items()
        }
        for name in SYSTEMS
    }
    every = [cell for of_system in cells.values() for cell in of_system.values()]
    study.fill(study.selected(every))
    study.write({
        "fusion": fusion_table(cells, before["language_model"].result()),
        "initial": initial_table(cells, before),
    }, every)  # fmt: skip


project.run(main)
