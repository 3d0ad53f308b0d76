"""regard.export() writes models for other runtimes. scripts/check.sh exports compares the translations of all of them; here
the graphs and weights are written and checked as far as the packages of this Python allow."""

import importlib.util
import json

import numpy
import pytest
import regard
import torch
from safetensors.numpy import load_file

SUBWORDS = [
    "data.tokenizer.kind=bpe", "data.tokenizer.vocabulary_size=60", "data.tokenizer.joint=true", "model.tied_embeddings=all"]  # fmt: skip
TRANSFORMER = ["model.attention.size=512", "model.decoder.readout_size=512", *SUBWORDS] + [
    f"model.{side}.{option}"
    for side in ("encoder", "decoder")
    for option in ("kind=transformer", "heads=2", "layers=2", "feed_forward_size=32")
]


@pytest.fixture(scope="module")
def transformer(train):
    return train("export_transformer", TRANSFORMER)


def test_a_transformer_has_all_its_weights_in_the_layout_of_hugging_face(transformer, tmp_path):
    folder = regard.export(transformer, tmp_path / "out", to="huggingface")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    assert config["architectures"] == ["PegasusForConditionalGeneration"]
    ours, theirs = load_file(transformer / "best/model.safetensors"), load_file(folder / "model.safetensors")
    # Nothing is lost or doubled: W_KV is two layers, and the sinusoids are added.
    tables = {name for name in theirs if "embed_positions" in name}
    count = sum(weight.size for name, weight in theirs.items() if name not in tables)
    assert count == sum(weight.size for weight in ours.values())
    D = config["d_model"]
    both = ours["encoder.layer1.attention.W_KV.weight"]
    assert numpy.array_equal(theirs["model.encoder.layers.1.self_attn.k_proj.weight"], both[:D])
    assert numpy.array_equal(theirs["model.encoder.layers.1.self_attn.v_proj.weight"], both[D:])
    table = theirs["model.decoder.embed_positions.weight"]
    assert table[3, 2] == pytest.approx(numpy.sin(3 / 10000 ** (2 / D)))
    assert table[3, 3] == pytest.approx(numpy.cos(3 / 10000 ** (2 / D)))
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    assert sorted(vocabulary.values()) == list(range(config["vocab_size"]))


def test_what_transformers_cannot_represent_is_named(run_folder, tmp_path):
    with pytest.raises(regard.ConfigError, match=r"model.encoder.kind: found recurrent, expected transformer"):
        regard.export(run_folder, tmp_path / "out", to="huggingface")
    assert not list(tmp_path.iterdir())


def test_bad_arguments(transformer, tmp_path):
    with pytest.raises(regard.ConfigError, match="to: found tensorflow, expected one of: ctranslate2, huggingface, onnx"):
        regard.export(transformer, tmp_path / "out", to="tensorflow")
    with pytest.raises(regard.CheckpointError, match="found no model.safetensors"):
        regard.export(tmp_path, tmp_path / "out", to="huggingface")
    folder = regard.export(transformer, tmp_path / "out", to="huggingface")
    with pytest.raises(regard.ConfigError, match="exists; pass --force"):
        regard.export(transformer, folder, to="huggingface")
    regard.export(transformer, folder, to="huggingface", force=True)
    (tmp_path / "mine").mkdir()
    with pytest.raises(regard.ConfigError, match="exists; name a new folder"):
        regard.export(transformer, tmp_path / "mine", to="huggingface", force=True)


@pytest.mark.skipif(importlib.util.find_spec("onnx") is not None, reason="onnx is installed")
def test_a_missing_package_is_named(transformer, tmp_path):
    with pytest.raises(regard.EnvironmentError, match="found no onnx in this Python; pip install onnx"):
        regard.export(transformer, tmp_path / "out", to="onnx")


def test_a_time_loop_of_a_graph_is_that_of_the_module(recurrent_cell):
    """The loop of TorchScript that replaces the Python loop in a graph."""
    from regard.exporters import onnx

    x = torch.rand(2, 3, 5, recurrent_cell.W.shape[1])
    plain = recurrent_cell.sequence(x)
    with onnx.scripted_loops():
        assert torch.equal(recurrent_cell.sequence(x), plain)
    assert torch.equal(recurrent_cell.sequence(x), plain)


@pytest.fixture(params=["gru", "lstm", "tanh", "gru after"])
def recurrent_cell(request):
    from regard.torch_model.layers import Cell, Section

    cell, _, reset_gate = request.param.partition(" ")
    module = Cell(Section(cell=cell, hidden_size=4, reset_gate=reset_gate or "before"), 2, 3)
    torch.manual_seed(1)
    for parameter in module.parameters():
        torch.nn.init.uniform_(parameter)
    return module.requires_grad_(False)
