"""Measures what each head of a Transformer attends to in its own sequence, draws two heads, and writes docs/attention.md.

Trains configs/multi30k_transformer_fast.yaml from French to English, so the model must find out whose arms "ses bras"
are: his, her or their arms. For each head of the encoder and the decoder, and over all sentences of the test source
and their translations, measures

  phrase   the mean weight with which a noun attends to its adjective ("un chien noir": chien → noir), and with which
           the nouns without an adjective attend to the word at that place
  pronoun  the mean weight with which a pronoun attends to its noun ("Un homme lève ses bras": ses → homme), and
           with which the other words after the noun attend to it

Both come with a comparison, because a head that attends to the next word, or to the subject from everywhere, knows
nothing of phrases or pronouns. The head with the largest difference on the odd lines is drawn; its figures are
those of the even lines. The sentence drawn is the one of at most 16 tokens whose weight is nearest to the mean.
"""

import collections
import dataclasses
import json
import pathlib
import statistics
import tempfile

import pages
import project
from cells import Cell, Study, System, multi30k, parser_of
from languages import LANGUAGES
from project import need_multi30k, read, regard

SYSTEM = System("multi30k_transformer_fr_en", (), config="configs/multi30k_transformer_fast.yaml")
TASK = dataclasses.replace(multi30k("fr", "en", 42), name="fr-en")
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


def occurrences_by_head(lines, languages):
    """Returns measure → (side, layer, head) → Occurrences, over the JSON lines of --attention-weights. Heads with few
    are left out."""
    found = {name: collections.defaultdict(list) for name in MEASURES}
    for number, line in enumerate(lines, 1):
        sentence = json.loads(line)
        for side, key in (("encoder", "source"), ("decoder", "inputs")):
            tokens = sentence[key]
            words, ranges = words_of(tokens)
            for layer, heads in enumerate(sentence[side], 1):
                for head, matrix in enumerate(heads, 1):
                    weights = by_word(matrix, ranges)
                    for name, *rest in occurrences(languages[side], words, weights):
                        found[name][side, layer, head].append(Occurrence(number, len(tokens), *rest))
    return {name: {head: some for head, some in by_head.items() if is_enough(some)} for name, by_head in found.items()}


def is_enough(found):
    """True if both halves of the lines have enough weights of both kinds."""
    return all(
        sum(getattr(f, field) is not None for f in half(found, odd)) >= MIN_FOUND
        for odd in (0, 1)
        for field in ("measured", "compared")
    )


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


def draw(cell, name, head, line):
    side, layer, number = head
    with tempfile.TemporaryDirectory() as folder:
        one = pathlib.Path(folder) / "line"
        one.write_text(read(cell.task.data("test")[0]).splitlines()[line - 1] + "\n", encoding="utf-8")
        regard("translate", "-m", cell.run, "-i", one, "-o", one.with_name("output"), "--attention-map", side,
               "--picture", cell.study.page.with_name(f"self_attention_{name}.svg"), "--attention-layer", layer,
               "--attention-head", number)  # fmt: skip


def label(head):
    return "{}, layer {}, head {}".format(*head)


def heads(cell, *options):
    """The weights of each head, and the figures of the head that shows a relation best, which is drawn."""
    languages = {"encoder": LANGUAGES[cell.task.source], "decoder": LANGUAGES[cell.task.target]}
    with tempfile.TemporaryDirectory() as folder:
        weights = pathlib.Path(folder) / "weights"
        regard("translate", "-m", cell.run, "-i", cell.task.data("test")[0], "-o", weights.with_name("output"),
               "--attention-weights", weights, "--attention-map", "encoder,decoder", *options)  # fmt: skip
        found = occurrences_by_head(read(weights).splitlines(), languages)
    best = {}
    for name, by_head in found.items():
        head = best_head(by_head)
        even = half(by_head[head], odd=0)
        place = drawn(even)
        draw(cell, name, head, place.line)
        best[name] = {
            "head": label(head),
            "count": sum(f.measured is not None for f in even),
            "means": means(even),
            "is_clear": any(shows_clearly(half(f, odd=0)) for f in by_head.values()),
            "drawn": [place.line, place.words, place.measured],
        }
    order = sorted(set().union(*found.values()), key=lambda head: (head[0] != "encoder", head))
    weights = {label(head): {name: means(found[name][head]) for name in found if head in found[name]} for head in order}
    return {"heads": list(weights.items()), "best": best}


def heads_table(result):
    """Returns a table of all heads: the weight, and the one that it is compared with, over all lines."""
    rows = [
        [head, *("{:.2f} / {:.2f}".format(*weights[name]) if name in weights else "" for name in MEASURES)]
        for head, weights in result["heads"]
    ]
    columns = ["head", "noun to its adjective / to another word there", "pronoun to its noun / others to it"]
    return pages.table(columns, rows)


def section(cell):
    """Returns the Markdown of the page, or None if there are no figures."""
    result = cell.result()
    if not result:
        return None
    print(heads_table(result))
    source = pathlib.Path(cell.task.data("test")[0])
    text = [f"Run `{cell.system.name}`, {source.name} and its translations:\n"]
    for name, (title, relation, against) in MEASURES.items():
        best = result["best"][name]
        measured, compared = best["means"]
        line, words, weight = best["drawn"]
        text.append(
            f"**{title}: {best['head']}.** The mean weight of {best['count']} {relation} is **{measured:.2f}**, against "
            f"{compared:.2f} {against}. "
            + ("" if best["is_clear"] else "No head shows this relation clearly. ")
            + f"Drawn is line {line}, {words}: {weight:.2f}.\n\n"
            f"![{words}, {best['head']}](self_attention_{name}.svg)\n"
        )
    return "\n".join(text)


def main():
    study = Study(parser_of("self_attention", __doc__).parse_args(), "attention")
    need_multi30k("train.fr", "test_2016_flickr.fr")
    cell = Cell(study, SYSTEM, TASK, (heads,))
    study.fill([cell])
    study.write({"self-attention": section(cell)}, [cell])


project.run(main)
