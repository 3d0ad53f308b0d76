#!/usr/bin/env python3
"""Writes tests/metrics/cases.json: the results of sacreBLEU for made-up lines.

    pip install sacrebleu==2.6.0 sentencepiece
    python3 tests/metrics/make_cases.py [FILE]

The tests of the metrics compare regard with this table. Every run writes the same table.
"""

import json
import pathlib
import random
import sys

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.bleu import _get_tokenizer
from sacrebleu.significance import PairedTest
from sacrebleu.tokenizers.tokenizer_spm import TokenizerSPM
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer
from sentencepiece import SentencePieceProcessor

ROOT = pathlib.Path(__file__).resolve().parents[2]
PIECES = "tests/fuzz/corpora/sentencepiece/unigram.model"
TOKENIZERS = ["13a", "intl", "zh", "char", "none"]

LINES = [
    "",
    " ",
    "Plain words stay .",
    "Glued, to words; all: of (these)! Really?",
    "\"Quoted\" and 'half-quoted' and don't",
    "1,234.5 and 1.234,5 and .5 and 5. and 5.a and a,5",
    "3-4 and a-b and -1 and 10--20 and 1-, 2.-3",
    "It ends with the year 1999.",
    "It ends with the year 1999. ",
    "U.S.A. ... and so on.., .,",
    "&quot;R&amp;D&quot; &lt;b&gt; &amp;quot; &amp;lt; &apos;s &AMP;",
    "a <skipped> b<skipped>c <SKIPPED>",
    "a bro-\nken line\nand a -\n",
    "\ttabs\tand\u00a0no-break\u3000and ideographic\u2003spaces\u2028",
    "http://example.org/a?b=1&c=2#d user@example.org 50% $3 {x|y} [z] ~ ^ `",
    "«Guillemets», „low“ “high” ‘single’ – en — em…",
    "½² ٣٫٥ Ⅷ. ५,६ 5€ €5 5£. ±5 ×2",
    "emoji 🙂 next👍🏽to 👩\u200d🔬words❤\ufe0f!",
    "مرحبا، كيف الحال؟ ١٬٢٣٤٫٥",
    "你好，世界！今天是2024年1月3日。「引用」",
    "  他说：“好…”，花了5.5元（€3-4）。 See 3.5% of GDP, U.S., in 2019.",
    "ㄅㄆ ⼀⾛ 𠀀𪛖 你𠀀好 ①☂✈ Ａｂ１ ﹁﹂",
    "これはテストです。カタカナ・テスト（１２３）",
    "Cafe\u0301 u\u0308ber nai\u0308ve, A\u030a!",
    "ΟΔΟΣ. ΣΟΦΟΣ, Σ Α'Σ ΣΑΣ-ΣΑ",
    "İSTANBUL ISPARTA ẞ STRASSE ǅ",
    "हिन्दी में लिखा हुआ। वाक्य॥",
    "!!! ??? ... --- ,,, ;;; '''",
    "a_b c+d e=f g*h i/j k\\l <m>",
]

CORPORA = [
    ("identical", ["The cat sat on the mat .", "A dog."], [["The cat sat on the mat .", "A dog."]]),
    ("no match", ["one two three four five"], [["six seven eight nine ten"]]),
    ("no matching 4-gram", ["the cat sat on a mat today"], [["the cat sat by a mat today"]]),
    ("no matching 2-gram", ["a b c d e"], [["a c e b d"]]),
    ("too short for a 4-gram", ["hello there"], [["hello there"]]),
    ("one word", ["hello"], [["hello world"]]),
    ("hypothesis shorter", ["the cat sat on"], [["the cat sat on the mat by the door"]]),
    ("hypothesis longer", ["the cat sat on the mat by the door"], [["the cat sat on"]]),
    ("repeated word is clipped", ["the the the the the the the"], [["the cat is on the mat"]]),
    ("empty hypotheses", ["", ""], [["not empty", "at all"]]),
    ("an empty hypothesis", ["", "a b c d e f"], [["not empty", "a b c d e f g"]]),
    ("an empty reference", ["something here", "a b c d e f"], [["", "a b c d e f g"]]),
    ("all empty", [""], [[""]]),
    ("two references", ["the cat sat on the mat"],
     [["a cat sat on a mat"], ["the cat was on the mat today"]]),
    ("two lengths as close", ["a b c d e"], [["a b c d e f g"], ["a b c"]]),
    ("second reference better", ["a quick brown fox jumps", "hello"],
     [["slow dogs sleep all day long", "bye"], ["a quick brown fox jumped", "hello"]]),
    ("case", ["THE Cat Sat on The mat .", "ΟΔΟΣ ΣΟΦΟΣ"], [["the cat sat on the mat .", "οδος σοφος"]]),
    ("numbers and marks", ["It cost 1,234.50 $ (about 5-6 %) .", "\"Yes\", he said: no."],
     [["It cost $1,234.50 (about 5-7%).", "“Yes”, he said – no."]]),
    ("entities", ["&quot;R&amp;D&quot; is good for you"], [["\"R&D\" is good for me"]]),
    ("Chinese", ["今天天气很好，我们去公园。"], [["今天天气真好，我们去公园吧。"]]),
    ("Arabic", ["ذهب الولد إلى المدرسة، ثم عاد."], [["ذهب الولد إلى المدرسة ثم عاد إلى البيت."]]),
    ("emoji and marks", ["so good 🙂🙂 cafe\u0301!"], [["so good 🙂 café!"]]),
    ("words in punctuation", ["(hi) \"there\", ... 'tis (so). -", "!?"],
     [["(hi \"there\" .. 'tis so.) -", "?!"]]),
    ("phrases moved", ["on the mat sat the cat today", "b c d a", "x a b c d e f g h i j k l m"],
     [["today the cat sat on the mat", "a b c d", "a b c d e f g h i j k l m x"]]),
    ("a word moved far", ["w " + " ".join(f"a{i}" for i in range(60))],
     [[" ".join(f"a{i}" for i in range(60)) + " w"]]),
    ("lengths far apart", ["a b", " ".join("c d e f".split() * 30)],
     [[" ".join("b x y a".split() * 40), "d c"]]),
    ("more shifts than are tried", [" ".join("a b c d e".split() * 12)],
     [[" ".join("e a d b c".split() * 12)]]),
]

TER_FLAGS = ("normalized", "no_punct", "asian_support", "case_sensitive")
TER_OPTIONS = [dict(zip(TER_FLAGS, (flag == "1" for flag in flags))) for flags in
               ("0000", "0001", "1000", "0100", "1101", "1010", "0110", "1110")]

WORDS = (
    "a the dog cat house red blue runs Jumps über Straße, garçon déjà-vu 1,234.5 3-4 U.S. don't «oui» "
    "„ja“ end. stop! 50% (maybe) naïve — 2019. 你好 мир ΟΔΟΣ سلام 🙂 x&amp;y &quot;so&quot; is on under"
).split()


def pick(rng, items):
    """As rng.choice(), but every version of Python picks the same items."""
    return items[int(rng.random() * len(items))]


def change(rng, line):
    """Replaces, repeats or deletes some words."""
    words = []
    for word in line.split():
        chance = rng.random()
        if chance < 0.7:
            words.append(word)
        elif chance < 0.85:
            words.append(pick(rng, WORDS))
        elif chance < 0.92:
            words += [word, word]
    return " ".join(words)


def random_corpus():
    rng = random.Random(7)
    hypotheses = [" ".join(pick(rng, WORDS) for _ in range(1 + int(rng.random() * 20)))
                  for _ in range(150)]
    return "random", hypotheses, [[change(rng, line) for line in hypotheses] for _ in range(2)]


def move(rng, line):
    """Moves phrases to other places."""
    words = line.split()
    for _ in range(int(rng.random() * 3)):
        start = int(rng.random() * len(words))
        phrase = words[start:start + 1 + int(rng.random() * 4)]
        del words[start:start + len(phrase)]
        at = int(rng.random() * (len(words) + 1))
        words[at:at] = phrase
    return " ".join(words)


def moved_corpus():
    rng = random.Random(8)
    hypotheses = [" ".join(pick(rng, WORDS) for _ in range(1 + int(rng.random() * 50)))
                  for _ in range(60)]
    return "random, moved", hypotheses, [[move(rng, change(rng, line)) for line in hypotheses]
                                         for _ in range(3)]


def bleu_figures(hypotheses, references):
    rows = []
    plain = [(t, "exp", None, False, False) for t in TOKENIZERS]
    smoothed = [("13a", s, None, False, e) for s in ("none", "floor", "add-k") for e in (False, True)]
    valued = [("13a", "floor", 0.5, False, False), ("13a", "add-k", 0.25, False, True)]
    for tokenizer, smoothing, value, lowercase, effective in plain + smoothed + valued + [
            ("13a", "exp", None, True, False), ("intl", "exp", None, True, False), ("13a", "exp", None, False, True)]:
        bleu = BLEU(tokenize=tokenizer, smooth_method=smoothing, smooth_value=value, lowercase=lowercase,
                    effective_order=effective, force=True)
        score = bleu.corpus_score(hypotheses, references)
        rows.append({
            "tokenizer": tokenizer, "smoothing": smoothing, "smoothing_value": value, "lowercase": lowercase,
            "effective_order": effective, "signature": str(bleu.get_signature()),
            "score": score.score, "precisions": score.precisions, "brevity_penalty": score.bp,
            "system_length": score.sys_len, "reference_length": score.ref_len,
        })
        if smoothing != "add-k":  # add-k changes the counts themselves
            rows[-1] |= {"matches": score.counts, "totals": score.totals}
    return rows


def score_in_pieces(hypotheses, references):
    """Returns BLEU of the pieces of a SentencePiece model, of which sacreBLEU would fetch its own."""
    bleu = BLEU(tokenize="none", force=True)
    bleu.tokenizer = TokenizerSPM.__new__(TokenizerSPM)
    bleu.tokenizer.sp = SentencePieceProcessor(model_file=str(ROOT / PIECES))
    return bleu.corpus_score(hypotheses, references).score


def chrf_figures(hypotheses, references):
    rows = []
    for word_order, beta, lowercase in ((0, 2, False), (2, 2, False), (0, 2, True), (2, 2, True), (0, 1, False), (2, 3, True)):
        chrf = CHRF(word_order=word_order, beta=beta, lowercase=lowercase)
        score = chrf.corpus_score(hypotheses, references)
        rows.append({"word_order": word_order, "beta": beta, "lowercase": lowercase, "name": score.name,
                     "signature": str(chrf.get_signature()), "score": score.score})
    return rows


def ter_figures(hypotheses, references):
    rows = []
    for options in TER_OPTIONS:
        ter = TER(**options)
        score = ter.corpus_score(hypotheses, references)
        rows.append({"options": options, "signature": str(ter.get_signature()),
                     "score": score.score, "edits": score.num_edits,
                     "reference_length": score.ref_length})
    return rows


def corpus_entry(name, hypotheses, references):
    columns = list(zip(*references))
    return {
        "name": name, "hypotheses": hypotheses, "references": references,
        "bleu": bleu_figures(hypotheses, references),
        "bleu_in_pieces": score_in_pieces(hypotheses, references),
        "chrf": chrf_figures(hypotheses, references),
        "ter": ter_figures(hypotheses, references),
        "sentence_bleu": [sacrebleu.sentence_bleu(h, list(r)).score
                          for h, r in zip(hypotheses, columns)],
        "sentence_chrf": [sacrebleu.sentence_chrf(h, list(r)).score
                          for h, r in zip(hypotheses, columns)],
        "sentence_ter": [sacrebleu.sentence_ter(h, list(r)).score
                         for h, r in zip(hypotheses, columns)],
    }


def token_entries():
    for name in TOKENIZERS:
        tokenizer = _get_tokenizer(name)()
        for line in LINES:
            tokens = tokenizer(line.rstrip()).split()
            yield {"tokenizer": name, "line": line, "tokens": " ".join(tokens)}


def ter_token_entries():
    for options in TER_OPTIONS:
        tokenizer = TercomTokenizer(**options)
        for line in LINES:
            yield {"options": options, "line": line, "tokens": tokenizer(line.rstrip())}


def systems():
    """Returns a baseline, a slightly better system and a better one, with their references."""
    rng = random.Random(9)
    reference = [" ".join(pick(rng, WORDS) for _ in range(3 + int(rng.random() * 20)))
                 for _ in range(250)]

    def system(kept):
        return [" ".join(word if rng.random() < kept else pick(rng, WORDS)
                         for word in line.split()) for line in reference]
    return [system(kept) for kept in (0.7, 0.705, 0.74)], [reference]


def significance():
    hypotheses, references = systems()
    named = [(f"system {i}", lines) for i, lines in enumerate(hypotheses)]
    rows = []
    for test in ("bs", "ar"):
        metrics = {"bleu": BLEU(force=True), "chrf": CHRF(), "chrf++": CHRF(word_order=2),
                   "ter": TER()}
        paired = PairedTest(named, metrics, references, test_type=test, n_ar_confidence=1000)
        signatures, scores = paired()
        for (name, key) in zip(list(scores)[1:], metrics):
            rows.append({"test": test, "metric": key, "signature": str(signatures[name]),
                         "systems": [{"score": float(r.score), "mean": float(r.mean),
                                      "half_width": float(r.ci), "p": r.p_value}
                                     for r in scores[name]]})
    return {"hypotheses": hypotheses, "references": references, "rows": rows}


def dump_rows(rows):
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]"


def main():
    default = ROOT / "tests" / "metrics" / "cases.json"
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    corpora = [corpus_entry(*corpus) for corpus in CORPORA + [random_corpus(), moved_corpus()]]
    path.write_text(
        f'{{"made_by": "tests/metrics/make_cases.py with sacreBLEU {sacrebleu.__version__}", "pieces": "{PIECES}",\n'
        f'"tokens": {dump_rows(token_entries())},\n'
        f'"ter_tokens": {dump_rows(ter_token_entries())},\n"corpora": {dump_rows(corpora)},\n'
        f'"significance": {json.dumps(significance(), ensure_ascii=False)}}}\n',
        encoding="utf-8")


if __name__ == "__main__":
    main()
