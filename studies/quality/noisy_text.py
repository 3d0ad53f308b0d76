"""Makes misspelt and oddly cased versions of a text. The same text and seed give the same bytes."""

import random

TYPING_ERRORS = 0.05  # share of the words


def misspelt(word, chance):
    """Swaps two neighbouring characters, drops one or types one twice. `word` has at least two characters."""
    kind = chance.choice(("swap", "drop", "repeat"))
    if kind == "swap":
        at = chance.randrange(len(word) - 1)
        if word[at] != word[at + 1]:
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    at = chance.randrange(len(word))
    return word[:at] + (word[at] + word[at:] if kind == "repeat" else word[at + 1 :])


def with_typing_errors(lines, seed=1):
    """Misspells a share of all words, drawn from those with at least two characters."""
    words = [line.split(" ") for line in lines]
    places = [(i, w) for i, line in enumerate(words) for w, word in enumerate(line) if len(word) > 1]
    count = sum(map(len, words))
    chance = random.Random(seed)
    for i, w in sorted(chance.sample(places, min(len(places), round(TYPING_ERRORS * count)))):
        words[i][w] = misspelt(words[i][w], chance)
    return [" ".join(line) for line in words]


def with_capitals(lines):
    return [" ".join(word[:1].upper() + word[1:] for word in line.split(" ")) for line in lines]


# (name, function from lines to lines)
NOISE = (
    ("typing errors in 5 % of the words", with_typing_errors),
    ("all lower case", lambda lines: [line.lower() for line in lines]),
    ("all upper case", lambda lines: [line.upper() for line in lines]),
    ("capital at the beginning of each word", with_capitals),
)
VERSIONS = (("as it is", list), *NOISE)
