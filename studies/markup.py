"""Measures where tags stand in translations, and writes docs/decoding.md.

Puts two pairs of tags around one to four words each, beside each other or one inside the other, into the lines of
Multi30k's test sets of 2016 and 2017, and of its validation text, translates them English to German with `--markup`, and
compares the words between the tags with those that an alignment by other means links to the tagged source words. The
constants of the method were chosen on the lines of the test sets, without their translations, so the lines of the
validation text are new to it. Trains
configs/multi30k_fast.yaml for 2,400 steps if its run does not exist.

The alignment is that of two models like IBM 2, one for each direction, with probabilities of words and a preference for
the diagonal (Dyer et al. 2013), learnt from the training pairs and the translations by expectation maximization; the
links are those of both, and of their neighbours that one has (Och and Ney 2003).
"""

import functools
import math
import random
import re
import tempfile
from collections import defaultdict
from pathlib import Path

import project
from cells import Study, short_parser_of
from pages import table
from project import ROOT, machine, need_multi30k, regard

STEPS = ("training.max_steps=2400", "training.validation_every=800")
SETS = {"test": ("test_2016_flickr", "test_2017_flickr"), "validation": ("val",)}
TOKEN = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")
TAG = re.compile(r"</?[bi]>")
ROUNDS = 5
TENSION = 4.0  # of the diagonal
NULL = 0.08  # probability of a word that is linked to nothing


def main():
    study = Study(short_parser_of("markup", __doc__, "runs").parse_args(), "decoding")
    run = study.folder / "multi30k_markup"
    names = [name for set_of in SETS.values() for name in set_of]
    need_multi30k("train.en", "train.de", *(f"{name}.en" for name in names))
    if not (ROOT / run / "best").exists():
        need_multi30k("val.de")
        regard("train", "-c", "configs/multi30k_fast.yaml", f"training.model_dir={run}", *STEPS, *study.trial)
    of_sets = {title: [line for name in set_of for line in read(f"{name}.en")] for title, set_of in SETS.items()}
    lines = sum(of_sets.values(), [])
    draw = random.Random(1)
    tagged = [with_tags(line, draw) for line in lines]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tagged").write_text("\n".join(line for line, _ in tagged) + "\n", encoding="utf-8")
        outputs = regard("translate", "-m", run, "-i", Path(folder) / "tagged", "--markup").splitlines()
    parsed = [parse(line) for line in outputs]
    whole = sum(is_whole(spans, own) for (_, spans), (_, own) in zip(parsed, tagged))
    rows, begin = [], 0
    all_of_them = list(zip(tagged, *sides_and_links(lines, parsed), parsed))
    for title, own in of_sets.items():
        rows += [[f"{way}, {title}", *row] for way, *row in figures_of(all_of_them[begin : begin + len(own)])]
        begin += len(own)
    body = table(["tags placed by, lines", "pairs", "right words", "precision", "recall", "F1"], rows)
    study.write(
        {
            "markup": f"\n{body}\n{whole} of {len(lines)} lines have all their tags, nested as in the source. "
            f"{machine()}.\n"
        }
    )


def read(name):
    return (ROOT / "data/multi30k" / name).read_text(encoding="utf-8").splitlines()


def with_tags(line, draw):
    """The line with tags, and the tokens between each pair: {"b": (first, end)}."""
    tokens = list(TOKEN.finditer(line))
    words = [i for i, token in enumerate(tokens) if token.group()[0].isalnum()]
    spans = {}
    for name in "bi":
        for _ in range(20):
            count = draw.randint(1, min(4, len(words)))
            first = draw.randrange(len(words) - count + 1)
            span = (words[first], words[first + count - 1] + 1)
            other = spans.get("b", span)
            apart = span[1] <= other[0] or span[0] >= other[1]
            if name == "b" or apart or (other[0] <= span[0] and span[1] <= other[1] and span != other):
                spans[name] = span
                break
    # At one place, end tags stand before start tags; the inner pair ends first and starts last.
    marks = []
    for name, (first, end) in spans.items():
        marks.append((tokens[first].start(), 1, name, f"<{name}>"))
        marks.append((tokens[end - 1].end(), 0, "" if name == "i" else name, f"</{name}>"))
    text = line
    for at, _, _, tag in sorted(marks, reverse=True):
        text = text[:at] + tag + text[at:]
    return text, spans


def parse(line):
    """The tokens of a line without its tags, and those between each pair; None if tags are missing or crossed."""
    text, spans, open_tags = "", {}, []
    end = 0
    for tag in TAG.finditer(line):
        text += line[end : tag.start()]
        end = tag.end()
        name = tag.group().strip("</>")
        if tag.group()[1] != "/":
            open_tags.append((name, len(text)))
        elif not open_tags or open_tags[-1][0] != name or name in spans:
            return text, None
        else:
            spans[name] = (open_tags.pop()[1], len(text))
    text += line[end:]
    tokens = list(TOKEN.finditer(text))
    inside = {
        name: {i for i, token in enumerate(tokens) if token.start() >= first and token.end() <= last}
        for name, (first, last) in spans.items()
    }
    return [token.group() for token in tokens], None if open_tags else inside


def is_whole(inside, spans):
    """True if the tags of a line are there, and those inside others still are."""
    if inside is None or set(inside) != set(spans):
        return False
    if len(spans) < 2 or not (spans["b"][0] <= spans["i"][0] and spans["i"][1] <= spans["b"][1]):
        return True
    return inside["i"] <= inside["b"]


def sides_and_links(lines, parsed):
    """The tokens of both sides of each line, and the links between them."""
    sources = [TOKEN.findall(line) for line in lines]
    targets = [tokens if isinstance(tokens, list) else [] for tokens, _ in parsed]
    return sources, targets, alignment(sources, targets)


def figures_of(lines):
    """Rows of the table: the words between tags by attention, and by relative position."""
    right = {"attention": [], "relative position": []}
    for (_, spans), source, target, links_of_line, (_, inside) in lines:
        for name, (first, end) in spans.items():
            # Words only: punctuation has no meaning to get right.
            gold = {j for i, j in links_of_line if first <= i < end and target[j][0].isalnum()}
            if not gold:
                continue
            begin = round(first * len(target) / len(source))
            last = max(begin + 1, round(end * len(target) / len(source)))
            for way, chosen in (
                ("attention", (inside or {}).get(name, set())),
                ("relative position", set(range(begin, last))),
            ):
                right[way].append(({j for j in chosen if target[j][0].isalnum()}, gold))
    return [row(way, pairs) for way, pairs in right.items()]


def row(way, pairs):
    shared = sum(len(chosen & gold) for chosen, gold in pairs)
    precision = shared / max(1, sum(len(chosen) for chosen, _ in pairs))
    recall = shared / sum(len(gold) for _, gold in pairs)
    exact = sum(chosen == gold for chosen, gold in pairs) / len(pairs)
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    return [way, len(pairs), f"{100 * exact:.1f} %", *(f"{100 * value:.1f} %" for value in (precision, recall, f1))]


def alignment(sources, targets):
    """Links of each pair of lines, symmetrized."""
    lower = [[[word.lower() for word in line] for line in side] for side in (sources, targets)]
    training = [[[word.lower() for word in TOKEN.findall(line)] for line in read(f"train.{side}")] for side in ("en", "de")]
    ways = []
    for turned in (False, True):
        one, other = (training[1], training[0]) if turned else (training[0], training[1])
        mine, theirs = (lower[1], lower[0]) if turned else (lower[0], lower[1])
        pairs = list(zip(one + mine, other + theirs))
        links = best_links(pairs, probabilities(pairs), len(mine))
        ways.append([{(j, i) if turned else (i, j) for i, j in line} for line in links])
    return [grown(forward & backward, forward | backward) for forward, backward in zip(*ways)]


@functools.cache
def diagonal(j, source, target):
    """The probability of each source position for target word j."""
    near = [math.exp(-TENSION * abs(i / source - j / target)) for i in range(source)]
    return [(1 - NULL) * weight / sum(near) for weight in near]


def probabilities(pairs):
    """P(target word | source word)."""
    table_of = None
    for _ in range(ROUNDS):
        counts = defaultdict(lambda: defaultdict(float))
        for source, target in pairs:
            for j, word in enumerate(target):
                weights = weights_of(source, target, j, word, table_of)
                total = sum(weights)
                for i, weight in enumerate(weights):
                    counts[source[i] if i < len(source) else ""][word] += weight / total
        table_of = {}
        for word, row_of in counts.items():
            total = sum(row_of.values())
            table_of[word] = {other: count / total for other, count in row_of.items() if count > 1e-6}
    return table_of


def weights_of(source, target, j, word, table_of):
    """The weight of each source word, and of none."""
    near = diagonal(j, len(source), len(target))
    if table_of is None:
        return [*near, NULL]
    weights = [weight * table_of.get(source[i], {}).get(word, 1e-9) for i, weight in enumerate(near)]
    return weights + [NULL * table_of.get("", {}).get(word, 1e-9)]


def best_links(pairs, table_of, count):
    """The links of the last `count` pairs: one for each target word, or none."""
    links = []
    for source, target in pairs[-count:]:
        found = set()
        for j, word in enumerate(target):
            weights = weights_of(source, target, j, word, table_of)
            i = max(range(len(weights)), key=weights.__getitem__)
            if i < len(source):
                found.add((i, j))
        links.append(found)
    return links


def grown(both, either):
    """The links of both directions and their neighbours, also diagonal ones, with a word that has none."""
    links = set(both)
    while True:
        added = {
            (i, j)
            for i, j in either - links
            if (all(a != i for a, _ in links) or all(b != j for _, b in links))
            and any(abs(a - i) <= 1 and abs(b - j) <= 1 for a, b in links)
        }
        if not added:
            return links
        links |= added


project.run(main)
