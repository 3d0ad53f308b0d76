"""regard.to_torch() gives a plain PyTorch module for every architecture: its log-probabilities are those of `regard score`,
its translations those of `regard translate`."""

import importlib.util
import json
import math
import pathlib
import random
import re
import sys
import warnings

import pytest
import torch
from safetensors.torch import load_file, save_file


def of_both(*options):
    return [f"model.{side}.{option}" for side in ("encoder", "decoder") for option in options]


def of_decoder(*options):
    return [f"model.decoder.{option}" for option in options]


def of_encoder(*options):
    return [f"model.encoder.{option}" for option in options]


def of_attention(*options):
    return [f"model.attention.{option}" for option in options]


def one_side(side, *options):
    return [f"model.{side}.{option}" for option in ("kind=transformer", "heads=2", "feed_forward_size=32", *options)]


TRANSFORMER = one_side("encoder", "layers=2") + one_side("decoder", "layers=2") + [
    "model.attention.size=512", "model.decoder.readout_size=512", "training.learning_rate=0.003"]  # fmt: skip
UNREAD_SIZE = "model.attention.size=512"
ONE_WAY = of_encoder("bidirectional=false")
DEEP = of_both("layers=2", "residual=true", "layer_norm=true")
SUBWORDS = ["data.tokenizer.kind=bpe", "data.tokenizer.vocabulary_size=60"]
FEATURES = ["data.source=features"]
NUMBERS = of_encoder("numbers=2")
IMAGES = [*FEATURES, UNREAD_SIZE, *of_encoder(
    "kind=convolutional", "numbers=36", "image_height=8", "image_channels=3", "layers=2", "hidden_size=16")]  # fmt: skip
POINTER = ["model.output.kind=pointer", "model.output.size=16"]
TAGS = ["data.tokenizer.user_symbols=[<2fr>, <2en>]", "data.train.0.trg_tag=<2fr>", "data.train.0.src_tag=<2en>"]

# The source, and the configuration.
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
        *of_attention("kind=none", "fixed_context=mean"), UNREAD_SIZE, "model.decoder.query=between"]),
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
    "local_p_last": ("text", [*of_attention("kind=local_p", "window=2"), UNREAD_SIZE, "model.decoder.query=last"]),
    "hard": ("text", [*of_attention("kind=hard"), UNREAD_SIZE]),
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
        *TRANSFORMER, *TAGS, "model.tied_embeddings=all", "data.tokenizer.joint=true", "data.tokenizer.lowercase=true"]),
    "transformer_to_recurrent": ("text", one_side("encoder")),
    "recurrent_to_transformer": ("text", [
        *one_side("decoder"), *DEEP[:1], UNREAD_SIZE, "model.decoder.readout_size=512", "model.output.kind=copy"]),
    "self_attention_layers": ("text", of_encoder(
        "self_attention_layers=1", "heads=2", "feed_forward_size=32", "position=rotary", "norm=post")),
    "characters": ("text", ["data.tokenizer.kind=character", "data.tokenizer.user_symbols=[cat]"]),
    "unigram_lowercase": ("text", [
        "data.tokenizer.kind=unigram", "data.tokenizer.vocabulary_size=40", "data.tokenizer.lowercase=true",
        "data.tokenizer.user_symbols=[<x>]"]),
    "copy": ("text", ["model.output.kind=copy", "data.tokenizer.vocabulary_size=12"]),
    "copy_transformer": ("text", [*TRANSFORMER, "model.output.kind=copy", "data.tokenizer.vocabulary_size=12"]),
    "pointer": ("positions", POINTER),
    "pointer_numbers": ("numbers", [*POINTER, *NUMBERS]),
    "numbers": ("numbers_to_text", NUMBERS),
    "pyramid": ("features", [
        *FEATURES, *of_both("layers=3"), *of_encoder("numbers=3", "frame_stacking=2", "pyramidal=true")]),
    "images": ("images", [*IMAGES, *of_attention("kind=hard")]),
    "language_model": ("target", ["model.kind=language_model", *of_decoder("layers=2", "input_feeding=true"), *SUBWORDS]),
    "language_model_transformer": ("target", ["model.kind=language_model", *TRANSFORMER[4:]]),
}  # fmt: skip
ALL_SEARCHES = "additive_last_bridge", "transformer", "copy", "pointer", "language_model"


@pytest.fixture(scope="session")
def to_torch(repository):
    """regard.to_torch, imported without regard's library."""
    folder = repository / "python/regard/torch_model"
    spec = importlib.util.spec_from_file_location(
        "torch_model", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["torch_model"] = module
    spec.loader.exec_module(module)
    torch.set_num_threads(1)
    return module.to_torch


def sequences(kind, lines, targets, folder, part):
    """Returns the source and target lines of a kind of source, made from lines of text. Features are written to a file."""
    generator = random.Random(part)
    words = [line.split() for line in lines]
    if kind == "target":
        return None, targets
    if kind.startswith("numbers") or kind == "positions":
        pairs = [[f"{generator.random():.2f},{len(word)}" for word in line] for line in words]
        sources = lines if kind == "positions" else [" ".join(line) for line in pairs]
        orders = [sorted(range(len(line)), key=lambda i, line=line: line[i]) for line in pairs]
        return sources, targets if kind == "numbers_to_text" else [" ".join(map(str, order)) for order in orders]
    if kind in ("features", "images"):
        shape = (36,) if kind == "images" else (3,)
        items = [torch.rand(8 if kind == "images" else 3 * len(line) + 2, *shape) for line in words]
        path = folder / f"{part}.safetensors"
        save_file({"features": torch.cat(items), "lengths": torch.tensor([len(item) for item in items])}, path)
        return [f"{path}:{number}" for number in range(1, len(items) + 1)], targets
    return lines, targets


@pytest.fixture(scope="session")
def trained(train, tmp_path_factory):
    """Returns a function that trains a case: its run folder, and the source and target lines to score."""
    from conftest import toy_corpus, write_lines

    def train_case(name):
        kind, overrides = CASES[name]
        folder = tmp_path_factory.mktemp("data_" + name)
        torch.manual_seed(1)
        overrides = [*overrides, "training.max_steps=30", "training.precision=fp32"]
        for part, count, seed in (("train", 200, 1), ("dev", 8, 2)):
            lines, targets = sequences(kind, *toy_corpus(count, seed), folder, part)
            key = "data.train.0" if part == "train" else "data.dev"
            for side, text in (("src", lines), ("trg", targets)):
                if text is None:
                    overrides.append(f"{key}.src=")
                    continue
                path = folder / f"{part}.{side}"
                if kind in ("features", "images") and side == "src":
                    path = folder / f"{part}.safetensors"
                else:
                    write_lines(path, text)
                overrides.append(f"{key}.{side}={path}")
        if "copy" in name:  # words outside of both vocabularies
            lines[0], targets[0] = "the Zemek sees Zemek Tolo .", "le Zemek voit Zemek Tolo ."
        return train(name, overrides), lines, targets

    return train_case


def log_probabilities_of_regard(regard_program, run, sources, targets, tags, tmp_path):
    arguments = ["score", "-m", run, "--words", "--json", "--precision", "fp32", *tags]
    for option, lines in (("-s", sources), ("-t", targets)):
        if lines is not None:
            path = tmp_path / option
            path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
            arguments += [option, path]
    scores = json.loads(regard_program(*arguments))["scores"]
    return [[word["log_probability"] for word in line["words"]] for line in scores]


def by_word(model, target, log_p):
    """Returns log P of each word and of </s>, from that of its tokens."""
    if model.config.data.tokenizer.kind in ("word",):
        return log_p
    side = model.text.target_side
    tokens = [side.processor.id_to_piece(id) for id in side.encode(target)] if hasattr(side, "processor") else side.split(target)
    sums = []
    for number, (token, value) in enumerate(zip(tokens, log_p)):
        if number == 0 or token.startswith("▁") or " " in (token, tokens[number - 1]):
            sums.append(0.0)
        sums[-1] += value
    return [*(total for total in sums), log_p[-1]]


@pytest.mark.parametrize("name", CASES)
def test_a_model_in_pytorch_is_that_of_regard(name, to_torch, trained, regard_program, tmp_path):
    run, sources, targets = trained(name)
    tags = ("<2en>", "<2fr>") if "tags" in name else ("", "")
    options = [option for pair in zip(("--src-tag", "--trg-tag"), tags) for option in pair if tags[0]]
    model = to_torch(run, src_tag=tags[0], trg_tag=tags[1])
    assert model.state_dict().keys() == load_file(run / "best/model.safetensors").keys()

    # The log-probability of each token.
    expected = log_probabilities_of_regard(regard_program, run, sources, targets, options, tmp_path)
    lines = targets if sources is None else sources
    batch = model.score(lines, targets)
    for target, log_p, of_regard in zip(targets, batch, expected, strict=True):
        assert by_word(model, target, log_p) == pytest.approx(of_regard, abs=1e-5)
    # A sentence has the same in a padded batch and alone.
    for line, target, log_p in list(zip(lines, targets, batch))[:3]:
        assert model.score([line], [target])[0] == pytest.approx(log_p, abs=1e-5)

    # Greedy and beam search write the same text.
    prompts = ["", "le chat"] if sources is None else lines
    text = "".join(line + "\n" for line in prompts)
    searches = [(1, []), (3, [])] if name in ALL_SEARCHES else [(1 + 2 * (len(name) % 2), [])]
    for width, more in searches:
        printed = regard_program("translate", "-m", run, "--precision", "fp32", "--beam-size", width, *options, text=text)
        assert model.translate(prompts, beam_size=width) == printed.splitlines()

    # Gradients reach every parameter.
    model.train()
    source = model.source(lines)
    ids = model.target(targets, source)
    log_p = model(source, ids[:, :-1]).log_softmax(-1).gather(2, ids[:, 1:, None])
    (-log_p[ids[:, 1:] != 0].sum()).backward()
    without = [key for key, x in model.named_parameters() if x.grad is None or not x.grad.isfinite().all() or not x.grad.any()]
    assert without == []
