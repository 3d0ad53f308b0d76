"""Translates text with CTranslate2 as `regard translate` does: python3 translate.py <source >translation

Needs `pip install ctranslate2 sentencepiece`. Reads UTF-8, one sentence on each line. The defaults are those of
the model (regard.json).
"""

import argparse
import itertools
import json
import pathlib
import sys

import ctranslate2
from tokenizer import Tokenizer

FOLDER = pathlib.Path(__file__).resolve().parent
END = "</s>"
NO_PENALTY = 1e-6  # with 0, CTranslate2 does not end a search when beam_size hypotheses have finished


def best(result, settings):
    """Returns the tokens of the hypothesis with the highest score of `regard translate`. Ranks by another formula
    than CTranslate2, which divides log P by n^alpha."""
    alpha, gnmt = settings["beam_alpha"], settings["length_penalty"] == "gnmt"

    def score(hypothesis):
        tokens, log_p = hypothesis
        n = len(tokens)  # with </s>
        return log_p / ((5 + n) / 6 if gnmt else n) ** alpha

    found = list(zip(result.hypotheses, result.scores))
    finished = [hypothesis for hypothesis in found if hypothesis[0][-1:] == [END]]
    return [token for token in max(finished or found, key=score)[0] if token != END]


def translate(translator, settings, source, target, lines, options):
    """Returns the translation of each line. A blank line stays blank."""
    filled = [line for line in lines if line.strip()]
    tag = f"{options.src_tag} " if options.src_tag else ""
    results = translator.translate_batch(
        [source.encode(tag + line) for line in filled],
        target_prefix=[[options.trg_tag]] * len(filled) if options.trg_tag else None,
        beam_size=options.beam_size,
        num_hypotheses=options.beam_size,
        length_penalty=NO_PENALTY,
        min_decoding_length=settings["min_output_length"],
        max_decoding_length=settings["max_output_length"],
        repetition_penalty=settings["repetition_penalty"],
        no_repeat_ngram_size=settings["no_repeat_ngram"],
        max_batch_size=options.batch_size,
        return_scores=True,
        return_end_token=True,
    )
    translations = iter([target.decode(best(result, settings)) for result in results])
    return [next(translations) if line.strip() else "" for line in lines]


def main():
    settings = json.loads((FOLDER / "regard.json").read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beam-size", type=int, default=settings["beam_size"], help="1 is greedy search")
    parser.add_argument("--threads", type=int, default=1, help="sentences are translated on so many threads")
    parser.add_argument("--compute-type", default="default", help="int8, float32 … (CTranslate2); default: as stored")
    parser.add_argument("--batch-size", type=int, default=64, help="sentences that are translated together")
    parser.add_argument("--src-tag", default="", help="user symbol before each source line")
    parser.add_argument("--trg-tag", default="", help="user symbol with which the decoder begins")
    options = parser.parse_args()
    if bool(options.trg_tag) != settings["needs_trg_tag"]:
        expected = "--trg-tag TAG: the model was trained with tags" if settings["needs_trg_tag"] else "no --trg-tag"
        parser.error(f"expected {expected}")
    for tag in filter(None, (options.src_tag, options.trg_tag)):
        if tag not in settings["user_symbols"]:
            parser.error(f"found the tag {tag}, expected one of: {', '.join(settings['user_symbols']) or 'no tag'}")

    translator = ctranslate2.Translator(
        str(FOLDER), compute_type=options.compute_type, inter_threads=options.threads, intra_threads=1
    )
    source, target = (Tokenizer(settings, FOLDER / settings[side]) for side in ("source", "target"))
    sys.stdin.reconfigure(encoding="utf-8", newline="\n")
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    while block := list(itertools.islice(sys.stdin, 32 * options.batch_size)):
        lines = [line.removesuffix("\n").removesuffix("\r") for line in block]
        for text in translate(translator, settings, source, target, lines, options):
            print(text, flush=False)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
