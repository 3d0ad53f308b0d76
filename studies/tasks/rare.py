"""Validation text for the generalisation that cogs asks for, from the training text alone: a few verbs, nouns and names
keep one sentence there, and are to be understood in another construction, or at another place."""

import collections
import random
import re

SENTENCES = (40, 250)  # of a word that is made rare
WORDS = 2  # for each change
LINES = 80  # for each change, at most
CHANGES = (  # kind of word, place in the sentence that is kept, place in those that are held out
    ("verb", "active", "passive"),
    ("verb", "passive", "active"),
    ("verb", "no object", "active"),
    ("verb", "unaccusative", "active"),
    ("verb", "do dative", "pp dative"),
    ("verb", "pp dative", "do dative"),
    ("noun", "subject", "object"),
    ("noun", "object", "subject"),
    ("noun", "alone", "object"),
    ("name", "subject", "object"),
    ("name", "object", "subject"),
    ("name", "alone", "object"),
)
ARTICLES = ("A", "The", "a", "the")


def construction(roles, words, verb):
    """Returns the construction of the verb at an index, from the roles that its logical form has."""
    if roles & {"ccomp", "xcomp"}:
        return "clause"
    if verb and words[verb - 1] == "was":
        return "passive"
    if "recipient" in roles:
        return "pp dative" if "to" in words[verb:] else "do dative"
    if "agent" in roles:
        return "active" if "theme" in roles else "no object"
    return "unaccusative"


def words_of(source, target):
    """Returns the set of (kind, word, place) of a sentence. A verb is the word of the logical form."""
    words = source.split()
    if len(words) == 1:
        return {(kind, words[0], "alone") for kind in ("verb", "noun", "name")}
    roles = collections.defaultdict(set)
    for verb, role, index in re.findall(r"(\w+) \. (\w+) \( x _ (\d+)", target):
        if role != "nmod":
            roles[verb, int(index)].add(role)
    found = {("verb", verb, construction(of_verb, words, index)) for (verb, index), of_verb in roles.items()}
    for index, word in enumerate(words):
        if index and words[index - 1] in ARTICLES:
            found.add(("noun", word, "subject" if index == 1 else "object"))
        elif word.istitle() and word not in ARTICLES:
            found.add(("name", word, "subject" if index == 0 else "object"))
    return found


def rarefied(pairs):
    """Returns the pairs for training and the validation triples (source, target, change), by change."""
    places = [words_of(*pair) for pair in pairs]
    numbers = collections.defaultdict(list)  # of the sentences of each (kind, word, place)
    totals = collections.Counter()
    for number, found in enumerate(places):
        totals.update({(kind, word) for kind, word, _ in found})
        for key in found:
            numbers[key].append(number)
    draw = random.Random(1)
    kept, changes = {}, {}  # the sentence that each rare word keeps; the change of (kind, word, place)
    for kind, before, after in CHANGES:
        words = sorted(word for of_kind, word, place in numbers if (of_kind, place) == (kind, before))
        draw.shuffle(words)
        fit = [
            word
            for word in words
            if (kind, word) not in kept
            and SENTENCES[0] <= totals[kind, word] <= SENTENCES[1]
            and len(numbers[kind, word, after]) >= SENTENCES[0] // 4
        ]
        for word in fit[:WORDS]:
            kept[kind, word] = min(numbers[kind, word, before], key=lambda number: len(pairs[number][0]))
            changes[kind, word, after] = f"{kind} {before} to {after}".replace(" ", "_")
    train, held = [], collections.defaultdict(list)
    for number, pair in enumerate(pairs):
        rare = {(kind, word) for kind, word, _ in places[number]} & kept.keys()
        if all(kept[word] == number for word in rare):
            train.append(pair)
        elif of_pair := sorted(changes[key] for key in places[number] if key in changes):
            held[of_pair[0]].append((*pair, of_pair[0]))
    chosen = {triple for triples in held.values() for triple in draw.sample(triples, min(LINES, len(triples)))}
    return train, sorted(chosen, key=lambda triple: (triple[2], triple[0]))
