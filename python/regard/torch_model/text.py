"""From lines of text to ids and back, with the tokenizers of a model folder."""

from __future__ import annotations

import functools
import pathlib
import re
import unicodedata
from typing import Any

import torch
from torch import Tensor

from .layers import Section
from .model import BOS, EOS, PAD, UNK, Source


def split_words(line: str) -> list[str]:
    """The words between ASCII white space."""
    return [word.decode() for word in line.encode().split()]


def split_symbols(line: str, symbols: list[str]) -> list[str]:
    """Splits a line before and after each symbol, the longest first."""
    if not symbols:
        return [line]
    return re.split("(" + "|".join(re.escape(each) for each in sorted(symbols, key=len, reverse=True)) + ")", line)


JOINER = "￭"


def split_composed(word: str) -> list[str]:
    """The parts of a word that is one composed character, as 한 or é; other words are whole."""
    parts = unicodedata.normalize("NFD", word)
    if len(word) > 1 or len(parts) < 2 or unicodedata.normalize("NFC", parts) != word:
        return [word]
    return [parts[0], *(JOINER + part for part in parts[1:])]


def join_parts(tokens: list[str]) -> str:
    """The inverse of split_composed() for the words of a line."""
    words: list[list[str]] = []
    for token in tokens:
        if words and token.startswith(JOINER) and token != JOINER:
            words[-1].append(token[len(JOINER) :])
        else:
            words.append([token])
    return " ".join(unicodedata.normalize("NFC", "".join(word)) if len(word) > 1 else word[0] for word in words)


class Vocabulary:
    """Words, or characters: a text file with one token on each line."""

    def __init__(self, o: Section, path: pathlib.Path):
        self.kind, self.lowercase, self.symbols = o.kind, o.lowercase, o.user_symbols
        self.is_words = o.kind != "character"
        self.tokens = path.read_bytes().decode("utf-8-sig").split("\n")[:-1]
        self.tokens += [symbol for symbol in self.symbols if symbol not in self.tokens]
        self.ids = {token: id for id, token in enumerate(self.tokens) if id > EOS}

    def split(self, line: str) -> list[str]:
        parts = split_words(line) if self.is_words else split_symbols(line, self.symbols)
        parts = [part.lower() if self.lowercase and part not in self.symbols else part for part in parts]
        if self.kind == "decomposed":
            return [token for part in parts for token in ([part] if part in self.symbols else split_composed(part))]
        if self.is_words:
            return parts
        return [token for part in parts for token in ([part] if part in self.symbols else part)]

    def encode(self, line: str) -> list[int]:
        return [self.ids.get(token, UNK) for token in self.split(line)]

    def decode(self, ids: list[int], unknown_words: list[str]) -> str:
        known = [*self.tokens, *unknown_words]
        tokens = [known[id] for id in ids if id > EOS or id == UNK]
        return join_parts(tokens) if self.kind == "decomposed" else (" " if self.is_words else "").join(tokens)

    def continuations(self) -> list[int]:
        """The ids of tokens that continue a word."""
        return []


# In place of U+2581, which SentencePiece would take for a space. A noncharacter of Unicode, which no vocabulary has.
UNKNOWN_CHARACTER = "\ufdd0"


class Pieces:
    """Sub-words: a SentencePiece model."""

    def __init__(self, o: Section, path: pathlib.Path):
        import sentencepiece

        self.lowercase, self.symbols = o.lowercase, o.user_symbols
        self.processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
        self.tokens = [self.processor.id_to_piece(id) for id in range(self.processor.get_piece_size())]

    def split(self, line: str) -> list[str]:
        """The pieces, with the text of unknown characters."""
        line = re.sub("[\t-\r]", " ", line).replace("▁", UNKNOWN_CHARACTER)
        if self.lowercase:
            parts = split_symbols(line, self.symbols)
            line = "".join(part if part in self.symbols else part.lower() for part in parts)
        pieces: list[str] = self.processor.encode(line, out_type=str)
        return pieces[1:] if len(pieces) > 1 and pieces[0] == "▁" and pieces[1] in self.symbols else pieces

    def encode(self, line: str) -> list[int]:
        return [self.processor.piece_to_id(piece) for piece in self.split(line)]

    def decode(self, ids: list[int], unknown_words: list[str]) -> str:
        ids = [id for id in ids if id > EOS or id == UNK]
        if not unknown_words:
            return self.processor.decode(ids)
        known = [*self.tokens, *unknown_words]
        text = "".join(known[id] for id in ids).replace("▁", " ")
        return text.removeprefix(" ").replace(UNKNOWN_CHARACTER, "▁")

    def continuations(self) -> list[int]:
        return [id for id, piece in enumerate(self.tokens) if id > EOS and unicodedata.category(piece[0])[0] in "LMN"]


class SourcePositions:
    """The targets of a pointer network: positions of source words, from 0."""

    def encode(self, line: str) -> list[int]:
        return [EOS + 1 + int(word) for word in split_words(line)]

    def decode(self, ids: list[int], unknown_words: list[str]) -> str:
        return " ".join(str(id - EOS - 1) for id in ids if id > EOS)


@functools.lru_cache(maxsize=4)
def read_features(path: str) -> tuple[Tensor, ...]:
    """The frames [n, F] of each item of a feature file."""
    from safetensors.torch import load_file

    tensors = load_file(path)
    return tensors["features"].split(tensors["lengths"].tolist())


def as_vector(word: str, width: int) -> list[float]:
    numbers = [float(number) for number in word.split(",")]
    if len(numbers) != width:
        raise ValueError(f"found {word}, expected {width} numbers (model.encoder.numbers)")
    return numbers


def padded(rows: list[list[int]]) -> Tensor:
    return torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD)


class Text:
    """The lines of both sides of the model in a folder, with its configuration and the tags of a direction."""

    def __init__(self, folder: pathlib.Path, o: Section, source_tag: str, target_tag: str):
        self.options, tokenizer = o, o.data.tokenizer
        self.source_tag = source_tag + " " if source_tag else ""

        def read(side: str) -> Any:
            if tokenizer.kind in ("bpe", "unigram"):
                return Pieces(tokenizer, folder / f"{side}.model")
            return Vocabulary(tokenizer, folder / f"{side}.vocabulary")

        self.has_source = o.model.kind != "language_model"
        self.has_vectors = self.has_source and bool(o.model.encoder.numbers)
        output = o.model.output.kind if o.model.output else ""
        self.copies = output == "copy"
        self.source_side: Any = read("source") if self.has_source and not self.has_vectors else None
        self.target_side: Any = self.source_side if tokenizer.joint else None
        if self.target_side is None:
            self.target_side = SourcePositions() if output == "pointer" else read("target")
        for tag, side in ((source_tag, self.source_side), (target_tag, self.target_side)):
            if tag and (side is None or tag not in tokenizer.user_symbols):
                raise ValueError(
                    f"found the tag {tag}, expected one of data.tokenizer.user_symbols: {tokenizer.user_symbols}"
                )
        self.first_token: int = self.target_side.encode(target_tag)[0] if target_tag else BOS

    def source(self, lines: list[str]) -> Source:
        """Lines of text, of vectors (`0.5,-2 1,3`), or names of items of a feature file (`test.safetensors:12`)."""
        if not self.has_source:
            return Source(torch.full((len(lines), 1), UNK), torch.ones(len(lines), dtype=torch.long))
        if self.has_vectors:
            return self.vectors(lines)
        lines = [self.source_tag + line for line in lines]
        ids = [[*self.source_side.encode(line), EOS] for line in lines]
        source = Source(padded(ids), torch.tensor([len(row) for row in ids]))
        if self.copies:
            rows = [self.copied(line) for line in lines]
            source.copy_ids, source.unknown_words = padded([row for row, _ in rows]), [words for _, words in rows]
        return source

    def vectors(self, lines: list[str]) -> Source:
        rows = []
        for line in lines:
            if self.options.data.source == "features":
                path, _, number = line.rpartition(":")
                frames = read_features(path)[int(number) - 1]
            else:
                width = self.options.model.encoder.numbers
                frames = torch.tensor([as_vector(word, width) for word in split_words(line)])
            row = frames.new_zeros(len(frames) + 1, frames.shape[1] + 1)
            row[:-1, :-1], row[-1, -1] = frames, 1  # </s>
            rows.append(row)
        return Source(torch.nn.utils.rnn.pad_sequence(rows, batch_first=True), torch.tensor([len(row) for row in rows]))

    def copied(self, line: str) -> tuple[list[int], list[str]]:
        """The target ids of the words of a source line and of </s>, and the words outside of the target vocabulary."""
        words, ids = self.target_side.split(line), self.target_side.encode(line)
        unknown = list(dict.fromkeys(word for word, id in zip(words, ids, strict=True) if id == UNK))
        return [*self.extended(line, unknown), EOS], unknown

    def extended(self, line: str, unknown: list[str]) -> list[int]:
        """The target ids of a line; V, V + 1, … for these words."""
        V, pairs = len(self.target_side.tokens), zip(self.target_side.split(line), self.target_side.encode(line))
        return [V + unknown.index(word) if word in unknown else id for word, id in pairs]

    def target(self, lines: list[str], source: Source) -> Tensor:
        """Lines -> ids [B, T + 1]: <s> or the target tag, the tokens, </s>, padding."""
        if self.copies:
            ids = [self.extended(line, unknown) for line, unknown in zip(lines, source.unknown_words, strict=True)]
        else:
            ids = [self.target_side.encode(line) for line in lines]
        return padded([[self.first_token, *row, EOS] for row in ids])

    def decode(self, ids: list[int], source_line: str) -> str:
        """The text of the target ids of a source line."""
        return self.target_side.decode(ids, self.copied(self.source_tag + source_line)[1] if self.copies else [])
