"""Trains small models of several kinds, and compares the translations of regard and CTranslate2 line by line.

Both compute in float32 and must write the same text. Then models that CTranslate2 cannot represent must be
refused with a message that names the option.
"""

import json
import shutil
import subprocess

from project import CHECK_FAILED, ROOT, USAGE_ERROR, Failure, model_folder, regard, warn

SMALL = ["training.max_steps=300", "training.validation_every=300", "training.validation_unit=steps"]
BEAMS = (1, 5)

# Models to train: overrides of configs/transformer.yaml, and the tags to translate with.
KINDS = {
    "norm before, sinusoids, two vocabularies": ([], []),
    "norm after, learned positions, one vocabulary, all embeddings tied": (
        [
            *(f"model.{side}.norm=post" for side in ("encoder", "decoder")),
            *(f"model.{side}.position=learned" for side in ("encoder", "decoder")),
            "data.tokenizer.joint=true",
            "model.tied_embeddings=all",
        ],
        [],
    ),
    "rotary positions": ([f"model.{side}.position=rotary" for side in ("encoder", "decoder")], []),
    "tags on both sides, lower case, score by a power of the length": (
        [
            "data.tokenizer.user_symbols=[<2fr>, <fr>]",
            "data.tokenizer.lowercase=true",
            *(f"data.{part}.src_tag=<2fr>" for part in ("train.0", "dev")),
            *(f"data.{part}.trg_tag=<fr>" for part in ("train.0", "dev")),
            "search.length_penalty=power",
            "search.beam_alpha=0.6",
        ],
        ["--src-tag", "<2fr>", "--trg-tag", "<fr>"],
    ),
    "unigram, projected embeddings, other sizes and norms on each side, no positions in the decoder": (
        [
            "data.tokenizer.kind=unigram",
            "data.tokenizer.vocabulary_size=700",
            "model.encoder.embedding_dim=48",
            "model.decoder.embedding_dim=64",
            "model.encoder.hidden_size=96",
            "model.encoder.heads=2",
            "model.encoder.layers=1",
            "model.decoder.norm=post",
            "model.decoder.position=none",
        ],
        [],
    ),
    "words, output tied to the target embedding": (
        ["data.tokenizer.kind=word", "model.tied_embeddings=output", "search.beam_alpha=0"],
        [],
    ),
    "characters with a tag": (
        [
            "data.tokenizer.kind=character",
            "data.tokenizer.user_symbols=[<2fr>]",
            *(f"data.{part}.src_tag=<2fr>" for part in ("train.0", "dev")),
            "data.max_length=200",
            "search.max_output_length=200",
        ],
        ["--src-tag", "<2fr>"],
    ),
}

# Models to refuse: the configuration, its overrides, and the option that the message must name.
REFUSED = {
    "recurrent": (["configs/quickstart.yaml"], "model.encoder.kind"),
    "recurrent decoder": (
        [
            "configs/transformer.yaml",
            "model.decoder.kind=recurrent",
            "model.decoder.heads=8",  # the default: no other value is read
            "model.decoder.feed_forward_size=2048",
        ],
        "model.decoder.kind",
    ),
    "self-attention on top of a recurrent encoder": (
        ["configs/quickstart.yaml", "model.encoder.self_attention_layers=1"],
        "model.encoder.self_attention_layers",
    ),
    "copied words": (
        ["configs/transformer.yaml", "model.output.kind=copy", "data.tokenizer.kind=word"],
        "model.output.kind",
    ),
    "language model": (["configs/language_model.yaml"], "model.kind"),
}


def train(exporter, name, config, *overrides):
    """Trains a small model; returns its run folder."""
    folder = exporter.work / "check" / "-".join("".join(c if c.isalnum() else " " for c in name).lower().split())
    warn(f"training: {name}")
    regard("train", "--fresh", "--quiet", "-c", config, f"training.model_dir={folder}", *overrides)
    return folder


def by_ctranslate2(exporter, folder, source, *options):
    """Returns the translations of a text."""
    command = [exporter.python, folder / "translate.py", *options]
    done = subprocess.run(list(map(str, command)), input=source.encode("utf-8"), capture_output=True, check=False)
    if done.returncode != 0:
        raise Failure(CHECK_FAILED, f"{folder}/translate.py: {done.stderr.decode('utf-8').strip()}")
    return done.stdout.decode("utf-8").split("\n")[:-1]


def by_regard(exporter, run, source, *options):
    """Returns the translations of a text, with the search that CTranslate2 can follow."""
    path = exporter.work / "check" / "source"
    path.write_text(source, encoding="utf-8")
    same_search = ["--precision", "fp32", "--max-output-ratio", 0, "--quiet"]
    return regard("translate", "-m", run, "-i", path, *same_search, *options).split("\n")[:-1]


def differences(ours, theirs):
    """Returns the numbers of the lines that differ, from 0."""
    if len(ours) != len(theirs):
        raise Failure(CHECK_FAILED, f"found {len(theirs)} translations of CTranslate2, expected {len(ours)}")
    return [i for i, pair in enumerate(zip(ours, theirs)) if pair[0] != pair[1]]


def compare(exporter, name, run, source, tags):
    """Returns the number of equal translations by search and by numbers; shows those that differ in float32."""
    found = {}
    lines = source.split("\n")
    for quantization in ("float32", "int8"):
        folder = run / f"ctranslate2-{quantization}"
        exporter.export(run, folder, quantization, replace=True)
        for beam in BEAMS:
            options = ["--beam-size", beam, *tags]
            ours = by_regard(exporter, run, source, *options)
            theirs = by_ctranslate2(exporter, folder, source, *options)
            wrong = differences(ours, theirs)
            found[f"{quantization} beam {beam}"] = len(ours) - len(wrong)
            for i in wrong if quantization == "float32" else []:
                both = f"  regard       {ours[i]}\n  CTranslate2  {theirs[i]}"
                warn(f"{name}, beam {beam}, line {i + 1}: {lines[i]}\n{both}")
    return found


def check_refused(exporter, name, model, option):
    try:
        exporter.export(model, exporter.work / "check" / "refused", replace=True)
    except Failure as failure:
        if failure.code == USAGE_ERROR and option in str(failure):
            return
        raise Failure(CHECK_FAILED, f"{name}: expected a refusal that names {option}, found: {failure}") from failure
    raise Failure(CHECK_FAILED, f"{name}: was exported, expected a refusal")


def check_former_name(exporter, run):
    """Exports a model whose configuration has `testing`, the former name of the section `search`."""
    folder, exported = exporter.work / "check" / "former", exporter.work / "check" / "former-exported"
    shutil.copytree(model_folder(run), folder, dirs_exist_ok=True)
    config = folder / "config.yaml"
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace("\nsearch:", "\ntesting:"), encoding="utf-8")
    exporter.export(folder, exported, replace=True)
    if (exported / "regard.json").read_bytes() != (run / "ctranslate2-float32" / "regard.json").read_bytes():
        raise Failure(CHECK_FAILED, "found other options in the export of a model with `testing`, expected those of `search`")


def main(exporter, count):
    text = (ROOT / "data" / "test.en").read_text(encoding="utf-8").split("\n")[: count - 2]
    source = "\n".join([*text, "", "A word that is new : ΟΔΟΣ ."]) + "\n"  # a blank line, and unknown letters
    figures, wrong = {}, []
    print(f"| model | of {count} translations equal: greedy | beam 5 | int8, greedy | int8, beam 5 |")
    print("|---|---:|---:|---:|---:|")
    for name, (overrides, tags) in KINDS.items():
        run = train(exporter, name, "configs/transformer.yaml", *SMALL, *overrides)
        figures[name] = compare(exporter, name, run, source, tags)
        print(f"| {name} | {' | '.join(map(str, figures[name].values()))} |", flush=True)
        if any(figures[name][f"float32 beam {beam}"] < count for beam in BEAMS):
            wrong.append(name)
    check_former_name(exporter, run)
    small = exporter.work / "check" / "quantized"
    regard("quantize", "--quiet", run, "-o", small)
    check_refused(exporter, "weights of 8 bits", small, "--quantization")
    for name, ((config, *overrides), option) in REFUSED.items():
        run = train(exporter, name, config, "training.max_steps=1", "training.validation_every=1", "data.dev.src=",
                    "data.dev.trg=", *overrides)  # fmt: skip
        check_refused(exporter, name, model_folder(run), option)
    print(f"\n{len(REFUSED) + 1} kinds of models are refused.\n\n{json.dumps(figures, ensure_ascii=False)}")
    if wrong:
        raise Failure(CHECK_FAILED, f"other translations in float32: {'; '.join(wrong)}")
