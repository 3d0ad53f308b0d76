"""Writes a model of regard, recurrent or a Transformer, as two graphs of ONNX:

encoder.onnx  source [B, S] ids with </s>, lengths [B]  ->  the tensors of each sentence (context0, …), the first state (state0, …)
decoder.onnx  tokens [N] the last ids, position, context0, …, state0, …  ->  log_p [N, V], the next state (next0, …)

The graphs are traces of regard.to_torch(), in which a size of a dimension that differs between batches is written x.shape[i]:
slices of x.shape, and what unflatten() makes of it, are constants of a trace. Time loops are loops of the graph. Each row of a search has its own row in all
tensors of context and state.
"""

from __future__ import annotations

import contextlib
import pathlib
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from ..errors import ConfigError
from ..torch_model import Source, TorchModel, to_torch
from ..torch_model.layers import Cell, Encoded, cell_step
from . import model_files

OPSET = 17
Axes = dict[str, dict[int, str]]


def time_loop(kind: str, gates: Tensor, state: Tensor, U: Tensor, b_U: Tensor | None) -> Tensor:
    """All steps of cells: gates [G, B, S, K D], first state [G, B, state_size] -> states [G, B, S, state_size]."""
    states: list[Tensor] = []
    for t in range(gates.shape[2]):
        state = cell_step(kind, gates[:, :, t], state, U, b_U)
        states.append(state)
    return torch.stack(states, 2)


@contextlib.contextmanager
def scripted_loops() -> Iterator[None]:
    """Replaces the Python loop of a recurrent layer, which a trace would unroll, by one of TorchScript."""
    plain, loop = Cell.sequence, torch.jit.script(time_loop)

    def sequence(self: Cell, x: Tensor) -> Tensor:
        first = x.new_zeros(x.shape[0], x.shape[1], self.state_size)
        return loop(self.kind, self.project_sequence(x), first, self.U, self.b_U)

    Cell.sequence = sequence  # type: ignore[method-assign]
    try:
        yield
    finally:
        Cell.sequence = plain  # type: ignore[method-assign]


class Tree:
    """Nested tuples of tensors as a flat list."""

    def __init__(self, value: Any):
        self.flat: list[Tensor] = []
        self.shape = self.add(value)

    def add(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self.add(each) for each in value)
        if value is None:
            return None
        self.flat.append(value)
        return len(self.flat) - 1

    def nested(self, flat: Any, shape: Any = ...) -> Any:
        shape = self.shape if shape is ... else shape
        if isinstance(shape, tuple):
            return tuple(self.nested(flat, each) for each in shape)
        return None if shape is None else flat[shape]


def context_of(encoded: Encoded) -> tuple[Any, ...]:
    """The tensors of the source that a step of the decoder can read."""
    return encoded.states, encoded.lengths, encoded.summary, encoded.keys


class Encoder(nn.Module):
    def __init__(self, model: TorchModel):
        super().__init__()
        self.model = model

    def trees(self, source: Tensor, lengths: Tensor) -> tuple[Tree, Tree]:
        encoded = self.model.encode(Source(source, lengths))
        return Tree(context_of(encoded)), Tree(self.model.decoder.first_state(encoded))

    def forward(self, source: Tensor, lengths: Tensor) -> list[Tensor]:
        context, state = self.trees(source, lengths)
        # One tensor can be two outputs: the keys of `dot` attention are the states. `+ 0` makes them two.
        return [each + 0 for each in context.flat + state.flat]


class Decoder(nn.Module):
    def __init__(self, model: TorchModel, context: Tree, state: Tree):
        super().__init__()
        self.model, self.context, self.state = model, context, state

    def forward(self, tokens: Tensor, position: Tensor, *tensors: Tensor) -> list[Tensor]:
        count = len(self.context.flat)
        states, lengths, summary, keys = self.context.nested(tensors[:count])
        encoded = Encoded(states, lengths, summary, keys=keys)
        log_p, state = self.model.step(tokens, self.state.nested(tensors[count:]), position, encoded)
        return [log_p, *(each + 0 for each in Tree(state).flat)]


def axes_of(names: list[str], small: list[Tensor], large: list[Tensor], sizes: dict[tuple[int, int], str]) -> Axes:
    """Returns the names of the dimensions that differ between two examples."""
    return {
        name: {d: sizes[pair] for d, pair in enumerate(zip(a.shape, b.shape)) if pair[0] != pair[1]}
        for name, a, b in zip(names, small, large, strict=True)
    }


def to_onnx(module: nn.Module, arguments: tuple[Tensor, ...], path: pathlib.Path, inputs: list[str], outputs: list[str],
            axes: Axes) -> None:  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constants that depend on shapes of the configuration, and of the exporter
        torch.onnx.export(module, arguments, str(path), input_names=inputs, output_names=outputs, dynamic_axes=axes,
                          opset_version=OPSET, dynamo=False)  # fmt: skip


@torch.no_grad()
def write_graphs(model: TorchModel, output: pathlib.Path) -> None:
    vocabulary = len(model.source_embedding)

    def batch(B: int, S: int) -> tuple[Tensor, Tensor]:
        return torch.randint(4, vocabulary, (B, S)), torch.arange(S, S - B, -1)

    encoder, small, large = Encoder(model), batch(2, 16), batch(3, 32)
    context, state = encoder.trees(*small)
    names = [f"context{i}" for i in range(len(context.flat))] + [f"state{i}" for i in range(len(state.flat))]
    sizes = {(2, 3): "batch", (16, 32): "source", (1, 2): "target", (0, 1): "target"}
    first, other = encoder(*small), encoder(*large)
    axes = axes_of(["source", "lengths", *names], [*small, *first], [*large, *other], sizes)
    to_onnx(encoder, small, output / "encoder.onnx", ["source", "lengths"], names, axes)

    decoder, count = Decoder(model, context, state), len(context.flat)
    token, step = torch.tensor([2, 2, 2]), torch.tensor(1)
    # Two steps: the state of a Transformer grows with the target.
    after_one = [*first[:count], *decoder(token[:2], step - 1, *first)[1:]]
    after_two = [*other[:count], *decoder(token, step, *other[:count], *decoder(token, step - 1, *other)[1:])[1:]]
    outputs = ["log_p", *(f"next{i}" for i in range(len(state.flat)))]
    axes = axes_of(["tokens", *names], [token[:2], *after_one], [token, *after_two], sizes)
    axes |= {"log_p": {0: "batch"}}
    axes |= {f"next{i}": {d: "next" if size == "target" else size for d, size in axes[f"state{i}"].items()}
             for i in range(len(state.flat))}  # fmt: skip
    inputs = ["tokens", "position", *names]
    to_onnx(decoder, (token[:2], step, *after_one), output / "decoder.onnx", inputs, outputs, axes)


def keep_used(folder: pathlib.Path) -> None:
    """Removes the tensors of context and state that the decoder does not read from both graphs."""
    import onnx

    encoder, decoder = (onnx.load(folder / f"{name}.onnx") for name in ("encoder", "decoder"))
    used = {name for node in decoder.graph.node for name in node.input}
    for values in (decoder.graph.input, encoder.graph.output, decoder.graph.output):
        for value in list(values):
            name = value.name.replace("next", "state")
            if name.startswith(("context", "state")) and name not in used:
                values.remove(value)
    for name, graph in (("encoder", encoder), ("decoder", decoder)):
        onnx.checker.check_model(graph)
        onnx.save(graph, folder / f"{name}.onnx")


def write(model: pathlib.Path, output: pathlib.Path) -> None:
    """Writes the export into the folder `output`. Raises ConfigError if the graphs cannot represent the model."""
    options = model_files.read_options(model)
    model_files.refuse(model, "ONNX", model_files.obstacles_of_text(options))
    model_files.warn_of_search(options, {"repetition_penalty": [1], "no_repeat_ngram": [0]})
    try:
        module = to_torch(model)
        with scripted_loops():
            write_graphs(module, output)
    except (ValueError, torch.onnx.errors.OnnxExporterError) as error:
        raise ConfigError(f"{model}: ONNX cannot represent this model: {str(error).splitlines()[0]}") from error
    keep_used(output)
    model_files.write_programs(model, output, options, "onnx")
