"""Replaces `python -m joeynmt`, run by the Python of JoeyNMT. JoeyNMT calls SetVocabulary, which
sentencepiece 0.2.0 no longer has. It would restrict the segmentation to the vocabulary, which here is
the vocabulary of the model anyway."""

import sentencepiece

if not hasattr(sentencepiece.SentencePieceProcessor, "SetVocabulary"):
    sentencepiece.SentencePieceProcessor.SetVocabulary = lambda self, pieces: None

from joeynmt.__main__ import main  # noqa: E402  after the patch above

main()
