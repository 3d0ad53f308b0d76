"""A model folder, loaded by the code of docs/python.md and computed in plain PyTorch (examples/plain_pytorch.py), has the
log-probabilities of `regard score`."""

import importlib.util
import json
import re

import pytest
import torch

END = 3  # id of </s>
SUBWORDS = ["data.tokenizer.kind=bpe", "data.tokenizer.vocabulary_size=60"]


def of_both(*options):
    return [f"model.{side}.{option}" for side in ("encoder", "decoder") for option in options]


TRANSFORMER = of_both("kind=transformer", "heads=2", "layers=2", "feed_forward_size=32") + [
    "model.attention.size=512", "model.decoder.readout_size=512", "training.learning_rate=0.003"]  # fmt: skip
KINDS = {
    "gru": [],
    "gru_reset_after_tied_output": [*of_both("reset_gate=after"), "model.tied_embeddings=output"],
    "lstm_residual_layer_norm": [
        *of_both("cell=lstm", "layers=2", "residual=true", "layer_norm=true"), "model.decoder.initial_state=mean"],
    "transformer": TRANSFORMER,
    "transformer_rotary": [*TRANSFORMER, *of_both("position=rotary")],
    "transformer_post_norm_learned": [*TRANSFORMER, *of_both("norm=post", "position=learned")],
}  # fmt: skip


@pytest.fixture(scope="module")
def plain_pytorch(repository):
    spec = importlib.util.spec_from_file_location("plain_pytorch", repository / "examples" / "plain_pytorch.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load(folder, repository):
    """Runs the Python block of docs/python.md with this folder; returns the names that it defines."""
    page = (repository / "docs" / "python.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(.*?)```", page.split("## A model without regard")[1], re.S)[1]
    code, places = re.subn(r'"runs/mine/best"', repr(str(folder)), block)
    assert places == 1
    names = {}
    exec(compile(code, "docs/python.md", "exec"), names)  # a page of this project
    return names


def words(pieces, log_p):
    """Returns log P of each word and of </s>. The first piece of a word begins with its blank."""
    sums = []
    for piece, value in zip(pieces, log_p):
        if not sums or piece.startswith("▁"):
            sums.append(0.0)
        sums[-1] += value
    return [*sums, log_p[-1]]


@pytest.mark.parametrize("kind", KINDS)
def test_plain_pytorch_has_the_log_probabilities_of_regard(kind, plain_pytorch, train, repository, regard_program,
                                                           sources, references, tmp_path):  # fmt: skip
    run = train(kind, [*SUBWORDS, *KINDS[kind]])
    for name, lines in (("source", sources), ("target", references)):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    printed = regard_program("score", "-m", run, "-s", tmp_path / "source", "-t", tmp_path / "target", "--words", "--json",
                             "--precision", "fp32")  # fmt: skip
    loaded = load(run / "best", repository)
    tokenizers = loaded["source"], loaded["target"]
    for line, *pair in zip(json.loads(printed)["scores"], sources, references, strict=True):
        ids = [[*tokenizer.encode(text), END] for tokenizer, text in zip(tokenizers, pair)]
        with torch.inference_mode():
            logits = plain_pytorch.logits(loaded["options"], loaded["tensors"], *ids)
        log_p = torch.log_softmax(logits, -1).gather(1, torch.tensor(ids[1])[:, None])[:, 0].double().tolist()
        found = words(tokenizers[1].encode(pair[1], out_type=str), log_p)
        assert [word["log_probability"] for word in line["words"]] == pytest.approx(found, abs=1e-4)
