"""regard.to_torch() gives a plain PyTorch module for every architecture. Its log-probabilities are those of
`regard score`, its translations those of `regard translate`."""

import importlib.util
import json
import random
import re
import sys
import types

import pytest
import torch
from safetensors.torch import load_file, save_file


def options_of(section, *options):
    return [f"model.{section}.{option}" for option in options]


def of_encoder(*options):
    return options_of("encoder", *options)


def of_decoder(*options):
    return options_of("decoder", *options)


def of_both(*options):
    return of_encoder(*options) + of_decoder(*options)


def of_attention(*options):
    return options_of("attention", *options)


def transformer(side, *options):
    return options_of(side, "kind=transformer", "heads=2", "feed_forward_size=32", *options)


TRANSFORMER = transformer("encoder", "layers=2") + transformer("decoder", "layers=2") + [
    "model.attention.size=512", "model.decoder.readout_size=512", "training.learning_rate=0.003"]  # fmt: skip
UNREAD_SIZE = "model.attention.size=512"
ONE_WAY = of_encoder("bidirectional=false")
DEEP = of_both("layers=2", "residual=true", "layer_norm=true")
SUBWORDS = ["data.tokenizer.kind=bpe", "data.tokenizer.vocabulary_size=60"]
FEATURES = ["data.source=features"]
NUMBERS = of_encoder("numbers=2")
IMAGES = [*FEATURES, UNREAD_SIZE, *of_encoder("kind=convolutional", "layers=2", "embedding_dim=256", "numbers=36",
                                              "image_height=8", "image_channels=3")]  # fmt: skip
LANGUAGE_MODEL = [
    "model.kind=language_model", "training.early_stopping_metric=perplexity", UNREAD_SIZE,
    *of_encoder("embedding_dim=256", "hidden_size=512")]  # fmt: skip
POINTER = ["model.output.kind=pointer", "model.output.size=16"]
TAGS = ["data.tokenizer.user_symbols=[<2fr>, <2en>]", "data.train.0.trg_tag=<2fr>", "data.train.0.src_tag=<2en>"]

# The kind of the source, and the configuration.
CASES = {
    "additive_last_bridge": ("text", []),
    "reset_after_input_feeding_tied": ("text", [
        *of_both("reset_gate=after"), *of_decoder("query=new", "input_feeding=true"), "model.tied_embeddings=output"]),
    "lstm_deep_between_mean": ("text", [
        *of_both("cell=lstm"), *DEEP, *of_decoder("query=between", "initial_state=mean", "input_feeding=true")]),
    "tanh_dot_last_state": ("text", [
        *ONE_WAY, *of_both("cell=tanh"), *of_attention("kind=dot"), UNREAD_SIZE, *of_decoder("initial_state=last")]),
    "reverse_lstm_layers_no_context": ("text", [
        *ONE_WAY, "model.encoder.reverse=true", *of_both("cell=lstm", "layers=2"), UNREAD_SIZE,
        *of_attention("kind=none", "fixed_context=initial"), "model.decoder.initial_state=layers"]),
    "lstm_zero_last_context": ("text", [
        *of_both("cell=lstm"), *of_attention("kind=none"), UNREAD_SIZE, "model.decoder.initial_state=zero"]),
    "mean_context_between": ("text", [
        *of_attention("kind=none", "fixed_context=mean"), UNREAD_SIZE,
        *of_decoder("query=between", "initial_state=mean")]),
    "lstm_last_state_scaled_dot": ("text", [
        *ONE_WAY, *of_both("cell=lstm"), *of_attention("kind=scaled_dot", "project_keys=true"), UNREAD_SIZE,
        *of_decoder("initial_state=last", "query=last")]),
    "concat": ("text", of_attention("kind=concat")),
    "general": ("text", [*of_attention("kind=general"), UNREAD_SIZE]),
    "cosine": ("text", [*of_attention("kind=cosine"), UNREAD_SIZE]),
    "cosine_step": ("text", [
        *of_attention("kind=cosine", "sharpness=step", "project_keys=false"), UNREAD_SIZE, *ONE_WAY]),
    "cosine_none": ("text", [*of_attention("kind=cosine", "sharpness=none"), UNREAD_SIZE]),
    "location": ("text", [*of_attention("kind=location"), UNREAD_SIZE]),
    "local_m": ("text", of_attention("kind=local_m", "window=1", "score=additive")),
    "local_p_last": ("text", [
        *of_attention("kind=local_p", "window=2", "score=cosine"), UNREAD_SIZE, "model.decoder.query=last"]),
    "local_p_dot": ("text", [*ONE_WAY, *of_attention("kind=local_p", "window=3", "score=dot"), UNREAD_SIZE]),
    "hard": ("text", [*of_attention("kind=hard", "score=scaled_dot"), UNREAD_SIZE]),
    "hard_reinforce": ("text", of_attention("kind=hard", "estimator=reinforce", "score=concat")),
    "ntm": ("text", [*of_attention("kind=ntm", "shift=2"), UNREAD_SIZE]),
    "multi_head": ("text", of_attention("kind=multi_head", "heads=2")),
    "coverage": ("text", of_attention("kind=coverage")),
    "monotonic": ("text", of_attention("kind=monotonic")),
    "location_aware": ("text", of_attention("kind=location_aware", "filters=3", "filter_width=5")),
    "transformer": ("text", [*TRANSFORMER, *SUBWORDS]),
    "transformer_rotary": ("text", [*TRANSFORMER, *of_both("position=rotary")]),
    "transformer_post_learned": ("text", [*TRANSFORMER, *of_both("norm=post", "position=learned")]),
    "transformer_projection": ("text", [*TRANSFORMER, *of_both("position=none", "embedding_dim=8")]),
    "transformer_tied_tags": ("text", [
        *TRANSFORMER, *TAGS, "model.tied_embeddings=all", "data.tokenizer.joint=true",
        "data.tokenizer.lowercase=true"]),
    "transformer_to_recurrent": ("text", transformer("encoder", "position=sinusoidal")),
    "recurrent_to_transformer": ("text", [
        *transformer("decoder", "position=sinusoidal"), "model.encoder.layers=2", UNREAD_SIZE,
        "model.decoder.readout_size=512", "model.output.kind=copy"]),
    "self_attention_layers": ("text", of_encoder(
        "self_attention_layers=1", "heads=2", "feed_forward_size=32", "position=rotary", "norm=post")),
    "characters": ("text", ["data.tokenizer.kind=character", "data.tokenizer.user_symbols=[cat]"]),
    "unigram_lowercase": ("text", [
        "data.tokenizer.kind=unigram", "data.tokenizer.vocabulary_size=28", "data.tokenizer.lowercase=true",
        "data.tokenizer.user_symbols=[<x>]"]),
    "decomposed": ("symbols", ["data.tokenizer.kind=decomposed"]),
    "copy": ("text", ["model.output.kind=copy", "data.tokenizer.vocabulary_size=12"]),
    "copy_transformer": ("text", [*TRANSFORMER, "model.output.kind=copy", "data.tokenizer.vocabulary_size=12"]),
    "copy_parts": ("text", [
        "model.output.kind=copy", "data.tokenizer.kind=bpe", "data.tokenizer.joint=true",
        "data.tokenizer.vocabulary_size=30"]),
    "copy_characters": ("text", [
        "model.output.kind=copy", "data.tokenizer.kind=character", "data.tokenizer.joint=true",
        "data.tokenizer.vocabulary_size=12"]),
    "pointer": ("text", POINTER),
    "pointer_numbers": ("numbers", [*POINTER, *NUMBERS]),
    "numbers": ("numbers", NUMBERS),
    "pyramid": ("features", [
        *FEATURES, *of_both("layers=3"), *of_encoder("numbers=3", "frame_stacking=2", "pyramidal=true")]),
    "images": ("images", [*IMAGES, *of_attention("kind=hard")]),
    "language_model": ("none", [*LANGUAGE_MODEL, *of_decoder("layers=2", "input_feeding=true"), *SUBWORDS]),
    "language_model_transformer": ("none", [
        *LANGUAGE_MODEL, *transformer("decoder", "layers=2"), "model.decoder.readout_size=512"]),
}  # fmt: skip
ALL_SEARCHES = "additive_last_bridge", "transformer", "copy", "pointer", "language_model"


@pytest.fixture(scope="session")
def to_torch(repository):
    """regard.to_torch, from a package that has nothing else of regard."""
    folder = repository / "python/regard/torch_model"
    spec = importlib.util.spec_from_file_location(
        "torch_model", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["torch_model"] = module
    spec.loader.exec_module(module)
    torch.set_num_threads(1)
    return module.to_torch


def write(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def as_symbols(lines):
    """The letters of each line as words, some of them composed characters."""
    return [" ".join(line.replace(" ", "").translate(str.maketrans("aeo", "é한간"))) for line in lines]


def sources_of(kind, lines, file):
    """Makes sources of a kind from lines of text, and writes them to a file. Returns their lines or names, the file."""
    if kind in ("features", "images"):
        items = [torch.rand(8, 36) if kind == "images" else torch.rand(2 * len(line.split()) + 1, 3) for line in lines]
        tensors = {"features": torch.cat(items), "lengths": torch.tensor([len(item) for item in items])}
        save_file(tensors, file := file.with_suffix(".safetensors"))
        return [f"{file}:{number}" for number in range(1, len(items) + 1)], file
    if kind == "symbols":
        lines = as_symbols(lines)
    if kind == "numbers":
        lines = [" ".join(f"{random.random():.2f},{len(word)}" for word in line.split()) for line in lines]
    return lines, write(file, lines)


@pytest.fixture(scope="session")
def trained(train, corpus, tmp_path_factory):
    """Returns a function that trains a case: its run folder, and the source and target lines to score."""

    def train_case(name):
        kind, overrides = CASES[name]
        folder = tmp_path_factory.mktemp("data_" + name)
        torch.manual_seed(1)
        random.seed(1)
        overrides = [*overrides, "training.max_steps=30", "training.precision=fp32"]
        for part, key, count in (("train", "data.train.0", 200), ("dev", "data.dev", 8)):
            lines, targets = corpus(count, len(part))
            if "pointer" in name:  # the positions of the words, sorted
                words = [line.split() for line in lines]
                targets = [" ".join(map(str, sorted(range(len(line)), key=line.__getitem__))) for line in words]
            targets = as_symbols(targets) if kind == "symbols" else targets
            lines, source = (targets, "") if kind == "none" else sources_of(kind, lines, folder / f"{part}.src")
            overrides += [f"{key}.src={source}", f"{key}.trg={write(folder / f'{part}.trg', targets)}"]
        if "copy" in name:  # words outside of both vocabularies
            lines[0], targets[0] = "the Zemek sees Zemek Tolo .", "le Zemek voit Zemek Tolo ."
        if "data.tokenizer.lowercase=true" in overrides:  # <2fr> and <x> are user symbols
            lines[:3] = ["<x> The CAT\tsees", "<2fr> THE <2fr>cat <X>", "A<x>dog▁a <x>"]
        return train(name, overrides), lines, targets

    return train_case


def log_probabilities_of_regard(regard_program, run, sources, targets, tags, tmp_path):
    arguments = ["score", "-m", run, "--words", "--json", "--precision", "fp32", *tags]
    for option, lines in (("-s", sources), ("-t", targets)):
        arguments += [option, write(tmp_path / option, lines)] if lines else []
    scores = json.loads(regard_program(*arguments))["scores"]
    return [[word["log_probability"] for word in line["words"]] for line in scores]


def by_word(model, target, log_p):
    """Returns log P of each word and of </s>, from that of its tokens."""
    kind, side = model.config.data.tokenizer.kind, model.text.target_side
    if kind == "word":
        return log_p
    if kind in ("character", "decomposed"):
        tokens = side.split(target)
    else:
        tokens = [side.processor.id_to_piece(id) for id in side.encode(target)]
    sums = [0.0]
    for number, (token, value) in enumerate(zip(tokens, log_p)):
        begins = not token.startswith("￭") if kind == "decomposed" else token.startswith("▁")
        if token == " " or (number > 0 and begins):
            sums.append(0.0)
        sums[-1] += 0 if token == " " else value  # a space belongs to no word
    return [*sums, log_p[-1]]


@pytest.mark.parametrize("name", CASES)
def test_a_model_in_pytorch_is_that_of_regard(name, to_torch, trained, regard_program, tmp_path):
    run, lines, targets = trained(name)
    is_language_model = CASES[name][0] == "none"
    tags = ("<2en>", "<2fr>") if "tags" in name else ("", "")
    options = [option for pair in zip(("--src-tag", "--trg-tag"), tags) for option in pair if tags[0]]
    model = to_torch(run, src_tag=tags[0], trg_tag=tags[1])
    assert model.state_dict().keys() == load_file(run / "best/model.safetensors").keys()

    # The log-probability of each token.
    sources = [] if is_language_model else lines
    expected = log_probabilities_of_regard(regard_program, run, sources, targets, options, tmp_path)
    batch = model.log_probabilities(lines, targets)
    for target, log_p, of_regard in zip(targets, batch, expected, strict=True):
        assert by_word(model, target, log_p) == pytest.approx(of_regard, abs=1e-5)
    # A sentence has the same in a padded batch and alone.
    for line, target, log_p in list(zip(lines, targets, batch))[:3]:
        assert model.log_probabilities([line], [target])[0] == pytest.approx(log_p, abs=1e-5)

    # Greedy and beam search write the same text.
    prompts = ["", "le chat"] if is_language_model else lines
    text = "".join(line + "\n" for line in prompts)
    for width in (1, 3) if name in ALL_SEARCHES else [1 + 2 * (len(name) % 2)]:
        arguments = ["-m", run, "--precision", "fp32", "--beam-size", width, "--whole-lines", *options]
        printed = regard_program("translate", *arguments, text=text)
        assert model.translate(prompts, beam_size=width) == printed.splitlines()

    # Gradients reach every parameter.
    model.train()
    source = model.source(lines)
    ids = model.target(targets, source)
    log_p = model(source, ids[:, :-1]).log_softmax(-1).gather(2, ids[:, 1:, None])
    (-log_p[ids[:, 1:] != 0].sum()).backward()
    gradients = {key: x.grad for key, x in model.named_parameters()}
    without = {key for key, x in gradients.items() if x is None or not x.isfinite().all() or not x.any()}
    readout = {"decoder.W_y.weight", "decoder.W_y.bias", "decoder.W_s.weight", "decoder.W_c.weight"}
    assert without == (readout if "pointer" in name else set())  # a pointer reads the state of the decoder


@pytest.mark.parametrize("layers", [[], transformer("encoder", "layers=2")], ids=["recurrent", "transformer"])
def test_a_masked_language_model_is_that_of_regard(layers, to_torch, train, tmp_path):
    """regard prints no score of such a model, but the loss of a training step. The only word of the only sentence is
    masked: it becomes <unk> or another word, or stays."""
    options = [
        "model.kind=masked_language_model", "data.tokenizer.joint=true", "data.noise.mask=0.5", "data.train.0.src=",
        "data.dev.src=", "training.early_stopping_metric=loss", "training.precision=fp32", "model.tied_embeddings=all",
        "training.learning_rate=0.003", *layers, UNREAD_SIZE,
        *of_decoder("embedding_dim=256", "hidden_size=512", "readout_size=512")]  # fmt: skip
    run = train("masked", [*options, "training.max_steps=30"])
    one_step = train("masked_step", [
        *options, "--init-from", str(run), f"data.train.0.trg={write(tmp_path / 'chat', ['chat'])}",
        "training.max_steps=1", "training.learning_rate=1e-12", "training.label_smoothing=0",
        "training.logging_every=1", "training.batch_size=1", "model.dropout.embeddings=0",
        "model.dropout.states=0"])  # fmt: skip
    loss = json.loads((one_step / "train.jsonl").read_text(encoding="utf-8").splitlines()[0])["loss"]
    model = to_torch(one_step)
    source = model.source(model.text.target_side.tokens[1:])
    log_p = model(source, torch.zeros(len(source.lengths), 1, dtype=torch.long)).log_softmax(-1)
    losses = -log_p[:, 0, model.text.target_side.ids["chat"]]
    assert min(abs(each - loss) for each in losses.tolist()) < 1e-5
    (-log_p[:, 0, 4].sum()).backward()
    assert all(x.grad is not None for x in model.parameters())


@pytest.fixture(scope="module")
def recurrent(to_torch, run_folder):
    return to_torch(run_folder)


@pytest.mark.parametrize("search", [
    {"beam_alpha": 0, "max_output_length": 4}, {"min_output_length": 9, "length_penalty": "power"},
    {"beam_alpha": 2.5, "max_output_ratio": 0.5, "beam_size": 6}, {"max_output_length": 1, "beam_size": 1},
    {"early_stopping": "exact", "beam_size": 3, "beam_alpha": 2}, {"early_stopping": "full"}, {"early_stopping": "never", "max_output_length": 12},
])  # fmt: skip
def test_options_of_a_search(search, recurrent, run_folder, sources, regard_program):
    options = [text for key, value in search.items() for text in ("--" + key.replace("_", "-"), value)]
    lines = [*sources, "", " ", "cat unknown"]
    printed = regard_program("translate", "-m", run_folder, "--precision", "fp32", "--json", *options,
                             text="".join(line + "\n" for line in lines))  # fmt: skip
    found = recurrent.hypotheses(lines, **search)
    for line, hypotheses in zip(printed.splitlines(), found, strict=True):
        best = json.loads(line)
        assert (hypotheses[0].text if hypotheses else "") == best["text"]
        if hypotheses:
            assert hypotheses[0].log_probability == pytest.approx(best["log_probability"], abs=1e-4)


def test_other_options_of_a_search_are_refused(recurrent):
    with pytest.raises(ValueError, match="search.coverage_beta: found 0.2, expected 0"):
        recurrent.translate(["the cat"], coverage_beta=0.2)
    with pytest.raises(ValueError, match="search.beams: no such option"):
        recurrent.translate(["the cat"], beams=2)


def test_quantized_weights_are_refused(to_torch, train, regard_program, tmp_path):
    run = train("wide", ["model.decoder.readout_size=512", "training.max_steps=1"])  # small matrices stay as they are
    regard_program("quantize", run, "-o", tmp_path / "small")
    with pytest.raises(ValueError, match="the weights are quantized; use the model that `regard quantize` read"):
        to_torch(tmp_path / "small")
    with pytest.raises(FileNotFoundError, match="found no model.safetensors"):
        to_torch(tmp_path)


def test_a_trained_module_is_a_model_of_regard_again(
    to_torch, run_folder, sources, references, regard_program, tmp_path
):
    model = to_torch(run_folder).train()
    source = model.source(sources)
    ids = model.target(references, source)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for _ in range(3):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(
            model(source, ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0
        ).backward()
        optimizer.step()
    before = to_torch(run_folder).log_probabilities(sources, references)
    model.eval().save(tmp_path / "saved")
    expected = log_probabilities_of_regard(regard_program, tmp_path / "saved", sources, references, [], tmp_path)
    for own, of_regard, old in zip(model.log_probabilities(sources, references), expected, before, strict=True):
        assert own == pytest.approx(of_regard, abs=1e-5)
        assert own != pytest.approx(old, abs=1e-3)
    assert "step" in regard_program("info", tmp_path / "saved")


def test_the_cases_cover_every_kind(repository):
    """Each value of an option of section `model` occurs in a case or is the default."""
    schema = json.loads((repository / "configs/schema.json").read_text(encoding="utf-8"))["properties"]["model"]
    content_scores = {"additive", "concat", "dot", "scaled_dot", "general", "cosine"}
    used = {option for _, options in CASES.values() for option in options} | {"model.kind=masked_language_model"}

    def check(section, key):
        for name, field in section["properties"].items():
            if "properties" in field:
                check(field, f"{key}.{name}")
                continue
            values = field.get("enum", ["true"] if field.get("type") == "boolean" else [])
            missing = {str(value) for value in values} - {str(field["default"]).lower(), "auto"}
            for value in missing & content_scores if name == "score" else missing:
                assert f"{key}.{name}={value}" in used, f"{key}.{name}={value}"

    check(schema, "model")


def run_example(repository, section, folder, **names):
    """Runs the first Python block of a section of docs/python.md with this model. Returns the names that it defines."""
    page = (repository / "docs/python.md").read_text(encoding="utf-8").split(f"\n## {section}\n")[1]
    block, places = re.subn(r'"runs/mine(/best)?"', repr(str(folder)), re.search(r"```python\n(.*?)```", page, re.S)[1])
    assert places == 1
    exec(compile(block.replace("import regard\n", ""), "docs/python.md", "exec"), names)
    return names


def test_the_example_of_the_documentation_runs(to_torch, run_folder, repository, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run_example(repository, "A PyTorch module", run_folder, regard=types.SimpleNamespace(to_torch=to_torch))
    assert names["loss"].item() > 0
    assert (tmp_path / "tuned/model.safetensors").exists()


def test_the_example_of_the_documentation_reads_a_model_without_regard(to_torch, train, repository):
    run = train("pieces", SUBWORDS)
    names = run_example(repository, "A model without regard", run / "best")
    model = to_torch(run)
    source = model.source(["They are watching ."])
    assert names["ids"] == source.values[0].tolist()
    assert names["embedded"].equal(model.source_embedding[source.values[0]])
