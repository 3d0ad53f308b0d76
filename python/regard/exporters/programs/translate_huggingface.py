"""Translates with Hugging Face's transformers: python3 translate.py <source >translation

Needs `pip install transformers torch sentencepiece`. Reads UTF-8, one sentence on each line. The search is that of
generation_config.json.
"""

import argparse
import itertools
import pathlib
import sys

import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

FOLDER = pathlib.Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beam-size", type=int, help="1 is greedy search")
    parser.add_argument("--batch-size", type=int, default=64, help="sentences that are translated together")
    options = parser.parse_args()
    search = {"num_beams": options.beam_size} if options.beam_size else {}
    tokenizer = AutoTokenizer.from_pretrained(FOLDER)
    model = AutoModelForSeq2SeqLM.from_pretrained(FOLDER).eval()
    sys.stdin.reconfigure(encoding="utf-8", newline="\n")
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    while batch := list(itertools.islice(sys.stdin, options.batch_size)):
        lines = [line.removesuffix("\n").removesuffix("\r") for line in batch]
        filled = [line for line in lines if line.strip()]
        texts = iter(())
        if filled:
            inputs = tokenizer(filled, return_tensors="pt", padding=True, truncation=True)
            with torch.inference_mode():
                found = model.generate(**inputs, **search)
            texts = iter(tokenizer.batch_decode(found, skip_special_tokens=True))
        for line in lines:
            print(next(texts) if line.strip() else "")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
