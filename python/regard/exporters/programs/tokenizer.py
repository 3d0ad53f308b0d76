"""Converts text to tokens and back, as data.tokenizer of regard does."""

import itertools
import re

SPACE = "▁"  # SentencePiece writes it for a space
UNKNOWN_CHARACTER = "\ufdd0"  # in place of a ▁ of the text; a noncharacter of Unicode, which no vocabulary has


class Tokenizer:
    """A SentencePiece model, words or characters. `settings` are those of regard.json."""

    def __init__(self, settings, file):
        self.kind = settings["tokenizer"]
        self.lowercase = settings["lowercase"]
        self.symbols = settings["user_symbols"]
        self.split = re.compile("(" + "|".join(map(re.escape, self.symbols)) + ")" if self.symbols else "(?!)")
        self.pieces = None
        if self.kind in ("bpe", "unigram"):
            import sentencepiece

            self.pieces = sentencepiece.SentencePieceProcessor(model_file=str(file))
            self.tokens = [self.pieces.id_to_piece(id) for id in range(self.pieces.vocab_size())]
        else:
            self.tokens = file.read_bytes().decode("utf-8").split("\n")[:-1]
        self.tokens[:4] = ["<pad>", "<unk>", "<s>", "</s>"]
        self.ids = {token: id for id, token in enumerate(self.tokens)}

    def encode(self, line):
        parts = self.split.split(line)
        if self.lowercase:
            parts = [part if part in self.symbols else part.lower() for part in parts]
        text = "".join(parts)
        if self.kind == "word":
            return re.findall(r"[^ \t-\r]+", text)
        if self.kind == "character":
            return list(itertools.chain.from_iterable([part] if part in self.symbols else part for part in parts))
        text = re.sub(r"[\t-\r]", " ", text).replace(SPACE, UNKNOWN_CHARACTER)
        tokens = self.pieces.encode(text, out_type=str)
        return tokens[1:] if tokens[:1] == [SPACE] and tokens[1:2] and tokens[1] in self.symbols else tokens

    def decode(self, tokens):
        if self.pieces:
            return self.pieces.decode(tokens)
        return (" " if self.kind == "word" else "").join(tokens)
