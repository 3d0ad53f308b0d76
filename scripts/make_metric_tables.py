#!/usr/bin/env python3
"""Writes tests/metrics/cases.json: what sacreBLEU makes of made-up lines.

    pip install sacrebleu==2.6.0
    python3 scripts/make_metric_tables.py [FILE]

The tests of the metrics compare with this table. It is the same on every run.
"""

import json
import pathlib
import random
import sys

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.metrics.bleu import _get_tokenizer

TOKENIZERS = ["13a", "intl", "char", "none"]

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
]

WORDS = (
    "a the dog cat house red blue runs Jumps über Straße, garçon déjà-vu 1,234.5 3-4 U.S. don't «oui» "
    "„ja“ end. stop! 50% (maybe) naïve — 2019. 你好 мир ΟΔΟΣ سلام 🙂 x&amp;y &quot;so&quot; is on under"
).split()


def pick(rng, items):
    return items[int(rng.random() * len(items))]


def change(rng, line):
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


def bleu_figures(hypotheses, references):
    rows = []
    plain = [(t, "exp", False, False) for t in TOKENIZERS]
    smoothed = [("13a", s, False, e) for s in ("none", "floor", "add-k") for e in (False, True)]
    for tokenizer, smoothing, lowercase, effective in plain + smoothed + [
            ("13a", "exp", True, False), ("intl", "exp", True, False), ("13a", "exp", False, True)]:
        bleu = BLEU(tokenize=tokenizer, smooth_method=smoothing, lowercase=lowercase,
                    effective_order=effective, force=True)
        score = bleu.corpus_score(hypotheses, references)
        rows.append({
            "tokenizer": tokenizer, "smoothing": smoothing, "lowercase": lowercase,
            "effective_order": effective, "signature": str(bleu.get_signature()),
            "score": score.score, "precisions": score.precisions, "brevity_penalty": score.bp,
            "system_length": score.sys_len, "reference_length": score.ref_len,
        })
        if smoothing != "add-k":  # which changes the counts themselves
            rows[-1] |= {"matches": score.counts, "totals": score.totals}
    return rows


def chrf_figures(hypotheses, references):
    rows = []
    for word_order, lowercase in ((0, False), (2, False), (0, True), (2, True)):
        chrf = CHRF(word_order=word_order, lowercase=lowercase)
        score = chrf.corpus_score(hypotheses, references)
        rows.append({"word_order": word_order, "lowercase": lowercase, "name": score.name,
                     "signature": str(chrf.get_signature()), "score": score.score})
    return rows


def corpus_entry(name, hypotheses, references):
    columns = list(zip(*references))
    return {
        "name": name, "hypotheses": hypotheses, "references": references,
        "bleu": bleu_figures(hypotheses, references),
        "chrf": chrf_figures(hypotheses, references),
        "sentence_bleu": [sacrebleu.sentence_bleu(h, list(r)).score
                          for h, r in zip(hypotheses, columns)],
        "sentence_chrf": [sacrebleu.sentence_chrf(h, list(r)).score
                          for h, r in zip(hypotheses, columns)],
    }


def token_entries():
    for name in TOKENIZERS:
        tokenizer = _get_tokenizer(name)()
        for line in LINES:
            tokens = tokenizer(line.rstrip()).split()
            yield {"tokenizer": name, "line": line, "tokens": " ".join(tokens)}


def dump_rows(rows):
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]"


def main():
    default = pathlib.Path(__file__).parent.parent / "tests" / "metrics" / "cases.json"
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    corpora = [corpus_entry(*corpus) for corpus in CORPORA + [random_corpus()]]
    path.write_text(
        f'{{"made_by": "scripts/make_metric_tables.py with sacreBLEU {sacrebleu.__version__}",\n'
        f'"tokens": {dump_rows(token_entries())},\n"corpora": {dump_rows(corpora)}}}\n',
        encoding="utf-8")


if __name__ == "__main__":
    main()
