#!/usr/bin/env python3
"""Counts translated unseen words: unseen_words.py TRAINING REFERENCE HYPOTHESIS, text files.

Counts the words of the reference that never occur in the training text, how many of them the hypothesis
contains, and the lines that are exactly right.
"""

import sys

training, references, hypotheses = ([line.split() for line in open(path)] for path in sys.argv[1:])
known = {word for line in training for word in line}
unseen = translated = right = 0
for reference, hypothesis in zip(references, hypotheses, strict=True):
    left = list(hypothesis)  # each word of the hypothesis counts once
    for word in reference:
        if word in known:
            continue
        unseen += 1
        if word in left:
            left.remove(word)
            translated += 1
    right += reference == hypothesis
print(f"{translated} of {unseen} ({100 * translated / max(1, unseen):.1f} %)", end=" ")
print(f"{100 * right / len(references):.1f} %")
