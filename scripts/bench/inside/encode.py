"""Run by a peer's Python: encode.py MODEL TEXT PIECES ENCODED writes a SentencePiece model's
regular pieces, one a line, and the text in pieces, blanks between them."""

import sys

import sentencepiece

model, text, pieces, encoded = sys.argv[1:]
processor = sentencepiece.SentencePieceProcessor(model_file=model)
with open(pieces, "w", encoding="utf-8") as out:
    for i in range(processor.vocab_size()):
        if not processor.is_control(i) and not processor.is_unknown(i):
            out.write(processor.id_to_piece(i) + "\n")
with open(encoded, "w", encoding="utf-8") as out:
    with open(text, encoding="utf-8", newline="\n") as lines:
        for line in lines:
            out.write(" ".join(processor.encode(line.rstrip("\n"), out_type=str)) + "\n")
