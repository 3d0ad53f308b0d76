"""A model of regard as a plain torch.nn.Module: a readable reference that needs none of regard's library.

    model = to_torch("runs/mine")
    model.translate(["They are watching ."], beam_size=5)

Each layer stands beside its equation, in batches with padding. The folder can be copied into another project; it needs
torch, safetensors and PyYAML, and sentencepiece for sub-words.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from .layers import Section
from .model import PAD, Network, Source
from .search import Hypothesis, Start, beam_search, greedy_search, search_options
from .text import Text

__all__ = ["Hypothesis", "Source", "TorchModel", "to_torch"]

GREEDY_BATCH = 64  # sentences


class TorchModel(Network):
    """A trained model in PyTorch, with its tokenizers. state_dict() has the names of the tensors of the model folder.

    forward(source, inputs) returns logits [B, T, V]; source() and target() make its arguments from lines. The module is
    in evaluation mode; train() turns on the dropout of the configuration.
    """

    def __init__(self, folder: pathlib.Path, config: Section, text: Text, tensors: dict[str, Tensor]):
        rows = [len(tensors[name]) if name in tensors else 0 for name in ("source_embedding", "output_bias")]
        super().__init__(config.model, (rows[0], rows[1]))
        self.folder, self.config, self.text = folder, config, text
        self.load_state_dict(tensors)
        self.eval()

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def source(self, lines: Iterable[str]) -> Source:
        """Lines -> a batch. Features: names of items, `test.safetensors:12`."""
        return self.text.source(list(lines)).to(self.device)

    def target(self, lines: Iterable[str], source: Source) -> Tensor:
        """Lines -> ids [B, T + 1]: <s> y_1 … </s>. forward() reads [:, :-1] and predicts [:, 1:]."""
        return self.text.target(list(lines), source).to(self.device)

    def log_probabilities(self, sources: Iterable[str], targets: Iterable[str]) -> list[list[float]]:
        """Returns ln P of each token of targets[i] and of </s>, given sources[i], which a language model ignores."""
        source = self.source(sources)
        ids = self.target(targets, source)
        with torch.no_grad():
            log_p = self(source, ids[:, :-1]).log_softmax(-1).gather(2, ids[:, 1:, None])[..., 0]
        return [row[own != PAD].tolist() for row, own in zip(log_p, ids[:, 1:], strict=True)]

    def translate(self, lines: Iterable[str], **search: Any) -> list[str]:
        """Returns the translation of each line; an empty text for a blank line. A language model continues the lines.

        `search` overrides options of section `search` of the configuration. Raises ValueError for an option that
        greedy_search() and beam_search() do not have.
        """
        return [best[0].text if best else "" for best in self.hypotheses(lines, **search)]

    def hypotheses(self, lines: Iterable[str], **search: Any) -> list[list[Hypothesis]]:
        """Returns the hypotheses of each line, best first, at most beam_size; none for a blank line."""
        if self.kind == "masked_language_model":
            raise ValueError("model.kind: found masked_language_model, which has no decoder, expected another kind")
        o = search_options(self.config.search, search)
        lines = list(lines)
        found: list[list[Hypothesis]] = [[] for _ in lines]
        numbers = [number for number, line in enumerate(lines) if line.strip() or self.kind == "language_model"]
        for first in range(0, len(numbers), GREEDY_BATCH):
            batch = numbers[first : first + GREEDY_BATCH]
            for number, hypotheses in zip(batch, self.search([lines[number] for number in batch], o), strict=True):
                found[number] = hypotheses
        return found

    def search(self, lines: list[str], o: Section) -> list[list[Hypothesis]]:
        """Searches the translations of lines that are not blank."""
        side, starts = self.text.target_side, [Start(self.text.first_token)] * len(lines)
        if self.kind == "language_model":  # it continues the line
            more = side.continuations()
            starts = [replace(starts[0], prefix=side.encode(line), not_after_prefix=more) for line in lines]
        if o.beam_size == 1:
            found = [[hypothesis] for hypothesis in greedy_search(self, self.source(lines), o, starts)]
        else:
            found = [beam_search(self, self.source([line]), o, own) for line, own in zip(lines, starts, strict=True)]
        for line, hypotheses in zip(lines, found, strict=True):
            for hypothesis in hypotheses:
                hypothesis.text = self.text.decode(hypothesis.tokens, line)
        return found

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes a new model folder with these weights, which regard reads. Raises FileExistsError if it exists."""
        from safetensors.torch import save

        manifest = json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))
        contents = {
            name: (self.folder / name).read_bytes() for name in manifest["files"] if not name.startswith("training.")
        }
        contents["model.safetensors"] = save(
            {name: x.detach().cpu().contiguous() for name, x in self.state_dict().items()}
        )
        manifest["files"] = {
            name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in contents.items()
        }
        manifest["sha256"] = "0" * 64  # in place of the hash of this text
        text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
        contents["manifest.json"] = text.replace("0" * 64, hashlib.sha256(text.encode()).hexdigest()).encode()
        target = pathlib.Path(folder)
        target.mkdir(parents=True)
        for name, content in contents.items():
            (target / name).write_bytes(content)


def to_torch(folder: str | os.PathLike[str], *, src_tag: str = "", trg_tag: str = "") -> TorchModel:
    """Reads a run folder (its best, else its last model) or a model folder as a plain PyTorch module.

    `src_tag` and `trg_tag` are user symbols that select a direction of a model of several languages. Raises
    FileNotFoundError if there is no model, and ValueError if its weights are quantized or a tag is unknown.
    """
    import yaml
    from safetensors.torch import load_file

    places = [pathlib.Path(folder, name) for name in ("", "best", "last")]
    path = next((place for place in places if (place / "model.safetensors").exists()), None)
    if path is None:
        raise FileNotFoundError(f"{folder}: found no model.safetensors, expected a run folder or a model folder")
    tensors = load_file(path / "model.safetensors")
    if any(not tensor.is_floating_point() for tensor in tensors.values()):
        raise ValueError(f"{path}: the weights are quantized; use the model that `regard quantize` read")
    config = Section(yaml.safe_load((path / "config.yaml").read_text(encoding="utf-8")))
    return TorchModel(path, config, Text(path, config, src_tag, trg_tag), tensors)
