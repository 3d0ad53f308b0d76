"""Run by JoeyNMT's Python in place of `python -m joeynmt`: sentencepiece 0.2.0 no longer has the
SetVocabulary that JoeyNMT calls. It would keep the segmentation to the vocabulary, which here is
that of the model anyway."""

import sentencepiece

if not hasattr(sentencepiece.SentencePieceProcessor, "SetVocabulary"):
    sentencepiece.SentencePieceProcessor.SetVocabulary = lambda self, pieces: None

from joeynmt.__main__ import main  # noqa: E402  the class must be mended first

main()
