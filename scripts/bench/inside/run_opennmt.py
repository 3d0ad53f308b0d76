"""run_opennmt.py train|translate ARGUMENT…, run by the Python of OpenNMT-py. Replaces onmt_train and
onmt_translate: PyTorch now refuses to load the checkpoints of OpenNMT-py, which contain more than tensors,
unless it is told that they are trusted."""

import functools
import importlib
import sys

import torch

torch.load = functools.partial(torch.load, weights_only=False)

program = sys.argv.pop(1)
importlib.import_module(f"onmt.bin.{program}").main()
