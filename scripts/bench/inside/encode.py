"""encode.py MODEL TEXT PIECES ENCODED, run by the Python of a peer. Writes the regular pieces of a
SentencePiece model, one on each line, and the text in pieces separated by blanks."""

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
