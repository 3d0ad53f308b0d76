"""Measures what each head of a Transformer attends to in its own sequence, and draws two heads.

The run translates a language that studies/self_attention/languages.py knows (English, French), such as that of

    regard train -c configs/multi30k_transformer_fast.yaml name=multi30k_transformer_fr_en
        training.model_dir=runs/multi30k_transformer_fr_en
        data.train.0.src=data/multi30k/train.fr data.train.0.trg=data/multi30k/train.en
        data.dev.src=data/multi30k/val.fr data.dev.trg=data/multi30k/val.en

From French to English, the model must find out whose arms "ses bras" are: his, her or their arms. For each head of
the encoder and the decoder, and over all sentences of the source file and their translations, measures

  phrase   the mean weight with which a noun attends to its adjective ("un chien noir": chien → noir), and with which
           the nouns without an adjective attend to the word at that place
  pronoun  the mean weight with which a pronoun attends to its noun ("Un homme lève ses bras": ses → homme), and
           with which the other words after the noun attend to it

Both come with a comparison, because a head that attends to the next word, or to the subject from everywhere, knows
nothing of phrases or pronouns. The head with the largest difference on the odd lines is drawn; its figures are
those of the even lines. The sentence drawn is the one of at most 16 tokens whose weight is nearest to the mean.
"""

import argparse
import collections
import json
import pathlib
import statistics
import tempfile

import pages
import project
from languages import LANGUAGES
from project import INPUT_ERROR, ROOT, USAGE_ERROR, Failure, regard

MAX_DRAWN_TOKENS = 16
MIN_FOUND = 10  # occurrences below which a mean says little
MEASURES = {
    "phrase": (
        "A phrase",
        "nouns to their adjectives",
        "of the nouns without an adjective to the word there",
    ),
    "pronoun": (
        "A pronoun and its noun",
        "pronouns to their nouns",
        "of the other words to these nouns",
    ),
}
# A head shows a relation clearly if the weight is at least this, and twice that of the comparison.
CLEAR = 0.3

# One occurrence in a sentence: the line, the number of tokens, the weight measured, the weight it is compared with
# (either may be None), and the words.
Occurrence = collections.namedtuple("Occurrence", "line tokens measured compared words")


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/study.sh self_attention",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("run", nargs="?", default="runs/multi30k_transformer_fr_en", metavar="RUN")
    parser.add_argument(
        "-s",
        "--source",
        default="data/multi30k/test_2016_flickr.fr",
        metavar="FILE",
        help="text to translate (default: %(default)s)",
    )
    parser.add_argument(
        "--languages",
        default="fr-en",
        metavar="FROM-TO",
        help="languages of source and target; others than en and fr are not measured (default: %(default)s)",
    )
    parser.add_argument(
        "--write", action="store_true", help="write figures and pictures into docs/attention.md"
    )
    return parser.parse_args()


def words_of(tokens):
    """Returns the words of a sentence in lower case, and the range of tokens of each. Sub-words that begin a
    word start with ▁; without any, each token is a word."""
    has_marks = any(token.startswith("▁") for token in tokens)
    ranges = []
    for i, token in enumerate(tokens):
        if token == "</s>":
            break
        starts = not has_marks or token.startswith("▁") or not token[0].isalnum()
        if starts or not ranges:
            ranges.append([i, i + 1])
        else:
            ranges[-1][1] = i + 1
    return ["".join(tokens[a:b]).strip("▁").lower() for a, b in ranges], ranges


def by_word(matrix, ranges):
    """Returns the weights between words: the mean over the tokens that attend, the sum over those attended to."""
    return [
        [sum(sum(matrix[i][c:d]) for i in range(a, b)) / (b - a) for c, d in ranges] for a, b in ranges
    ]


def occurrences(language, words, weights):
    """Yields (measure, weight measured, weight compared with, words) for a sentence and a head."""
    pairs = language.pronouns_with_nouns(words)
    pronouns = {pronoun for pronoun, _ in pairs}
    for pronoun, noun in pairs:
        others = [weights[i][noun] for i in range(noun + 1, len(words)) if i not in pronouns]
        if others:
            yield "pronoun", weights[pronoun][noun], statistics.fmean(others), f"“{words[pronoun]}” → “{words[noun]}”"
    for noun, neighbour, has_adjective in language.nouns_in_phrases(words):
        weight = weights[noun][neighbour]
        pair = (weight, None) if has_adjective else (None, weight)
        yield "phrase", *pair, f"“{words[noun]}” → “{words[neighbour]}”"


def measure(lines, languages):
    """Returns measure → (side, layer, head) → Occurrences, over the JSON lines of --attention-weights."""
    found = {name: collections.defaultdict(list) for name in MEASURES}
    for number, line in enumerate(lines, 1):
        sentence = json.loads(line)
        for side, key in (("encoder", "source"), ("decoder", "inputs")):
            tokens = sentence[key]
            if languages[side] is None or not tokens:
                continue
            words, ranges = words_of(tokens)
            for layer, heads in enumerate(sentence[side], 1):
                for head, matrix in enumerate(heads, 1):
                    weights = by_word(matrix, ranges)
                    for name, *rest in occurrences(languages[side], words, weights):
                        found[name][side, layer, head].append(Occurrence(number, len(tokens), *rest))
    return found


def means(found):
    """Returns the mean weight measured and the mean of the weights that it is compared with."""
    measured = [f.measured for f in found if f.measured is not None]
    compared = [f.compared for f in found if f.compared is not None]
    return statistics.fmean(measured), statistics.fmean(compared)


def shows_clearly(found):
    measured, compared = means(found)
    return measured >= CLEAR and measured >= 2 * compared


def half(found, odd):
    """Returns the occurrences of the odd or even lines."""
    return [f for f in found if f.line % 2 == odd]


def best_head(heads):
    """Returns the head whose weight exceeds that of its comparison most, on the odd lines."""

    def difference(head):
        measured, compared = means(half(heads[head], odd=1))
        return measured - compared

    return max(heads, key=difference)


def drawn(found):
    """Returns the occurrence whose weight is nearest to the mean, among those in short sentences."""
    mean, _ = means(found)
    found = [f for f in found if f.measured is not None]
    short = [f for f in found if f.tokens <= MAX_DRAWN_TOKENS]
    return min(short or found, key=lambda f: abs(f.measured - mean))


def draw(run, source, line, chosen, picture):
    side, layer, head = chosen
    text = source.read_text(encoding="utf-8").splitlines()[line - 1]
    with tempfile.TemporaryDirectory() as folder:
        one = pathlib.Path(folder) / "line"
        one.write_text(text + "\n", encoding="utf-8")
        regard("translate", "-m", run, "-i", one, "--picture", picture, "--attention-map", side,
               "--attention-layer", layer, "--attention-head", head)  # fmt: skip


def heads_table(found):
    """Returns a table of all heads: the weight, and the one that it is compared with, over all lines."""
    heads = sorted({head for name in MEASURES for head in found[name]}, key=lambda h: (h[0] != "encoder", h))
    rows = []
    for head in heads:
        rows.append(["{}, layer {}, head {}".format(*head)])
        for name in MEASURES:
            weights = found[name].get(head)
            rows[-1].append("{:.2f} / {:.2f}".format(*means(weights)) if weights else "")
    columns = ["head", "noun to its adjective / to another word there", "pronoun to its noun / others to it"]
    return pages.table(columns, rows)


def section(found, run_name, source):
    """Returns the Markdown of the page."""
    text = [f"Run `{run_name}`, {source.name} and its translations:\n"]
    for name, (title, relation, against) in MEASURES.items():
        chosen = best_head(found[name])
        even = half(found[name][chosen], odd=0)
        measured, compared = means(even)
        is_clear = any(shows_clearly(half(f, odd=0)) for f in found[name].values())
        where = "{}, layer {}, head {}".format(*chosen)
        place = drawn(even)
        count = sum(f.measured is not None for f in even)
        text.append(
            f"**{title}: {where}.** The mean weight of {count} {relation} is **{measured:.2f}**, against "
            f"{compared:.2f} {against}. "
            + ("" if is_clear else "No head shows this relation clearly. ")
            + f"Drawn is line {place.line}, {place.words}: {place.measured:.2f}.\n\n"
            f"![{place.words}, {where}](self_attention_{name}.svg)\n"
        )
    return "\n".join(text)


def check(found, source):
    for name in MEASURES:
        any_head = next(iter(found[name].values()), [])
        counts = [
            sum(getattr(f, field) is not None for f in half(any_head, odd))
            for odd in (0, 1)
            for field in ("measured", "compared")
        ]
        count = min(counts)
        if count < MIN_FOUND:
            raise Failure(
                INPUT_ERROR,
                f"{source}: found {count} of `{name}` in half of the lines, expected at least {MIN_FOUND}; "
                "give a longer text with -s, or name its languages with --languages",
            )


def main():
    options = arguments()
    sides = options.languages.split("-")
    if len(sides) != 2 or not set(sides) & set(LANGUAGES):
        raise Failure(
            USAGE_ERROR, f"--languages: found {options.languages}, expected two, with en or fr, such as fr-en"
        )
    source, run = ROOT / options.source, ROOT / options.run
    if not source.is_file():
        raise Failure(INPUT_ERROR, f"found no {source}; run scripts/fetch_multi30k.sh, or name a file with -s")
    if not run.exists():
        raise Failure(INPUT_ERROR, f"found no {run}; train it (see --help), or name another run")
    with tempfile.TemporaryDirectory() as folder:
        weights = pathlib.Path(folder) / "weights.jsonl"
        regard("translate", "-m", run, "-i", source, "-o", pathlib.Path(folder) / "out",
               "--attention-weights", weights, "--attention-map", "encoder,decoder")  # fmt: skip
        with weights.open(encoding="utf-8") as lines:
            found = measure(lines, dict(zip(("encoder", "decoder"), map(LANGUAGES.get, sides))))
    check(found, options.source)
    text = section(found, json.loads(regard("info", run, "--json"))["name"], source)
    print(heads_table(found))
    print(text)
    if not options.write:
        return
    for name in MEASURES:
        chosen = best_head(found[name])
        place = drawn(half(found[name][chosen], odd=0))
        draw(run, source, place.line, chosen, ROOT / "docs" / f"self_attention_{name}.svg")
    pages.put(ROOT / "docs" / "attention.md", {"self-attention": text})


if __name__ == "__main__":
    project.run(main)
