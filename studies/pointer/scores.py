"""Scores of answers that are positions, and of words that no training sentence has."""


def equal(references, hypotheses):
    """Returns the share of equal lines."""
    return sum(a == b for a, b in zip(references, hypotheses, strict=True)) / len(references)


def turn(a, b, c):
    """Returns a positive number if the path a → b → c turns left, a negative one if it turns right."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def area(polygon):
    following = polygon[1:] + polygon[:1]
    return abs(sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(polygon, following))) / 2


def cross(a, b, c, d):
    """True if the edges a–b and c–d cross at a point that is no end of either."""
    return turn(a, b, c) * turn(a, b, d) < 0 and turn(c, d, a) * turn(c, d, b) < 0


def is_simple(polygon):
    """True if no edges cross and no point occurs twice."""
    if len(polygon) < 3 or len(set(polygon)) < len(polygon):
        return False
    edges = list(zip(polygon, polygon[1:] + polygon[:1]))
    return not any(cross(*one, *other) for i, one in enumerate(edges) for other in edges[:i])


def from_least(positions):
    """Rotates the corners of a polygon to begin with the least, so that equal polygons are equal lists."""
    if not positions:
        return positions
    least = positions.index(min(positions))
    return positions[least:] + positions[:least]


def hulls(sources, references, hypotheses):
    """Returns the share of hulls that are right, the share of answers that are simple polygons, and the mean area of
    the simple polygons divided by the area of the true hull (Vinyals, Fortunato, Jaitly 2015). Each argument has a list
    of words for each line: points "x,y", positions, positions."""
    right, covered = 0, []
    for source, reference, hypothesis in zip(sources, references, hypotheses, strict=True):
        points = [tuple(map(float, point.split(","))) for point in source]
        wanted, found = [int(p) for p in reference], [int(p) for p in hypothesis]
        right += from_least(wanted) == from_least(found)
        polygon = [points[p] for p in found]
        if is_simple(polygon):
            covered.append(area(polygon) / area([points[p] for p in wanted]))
    n = len(references)
    return right / n, len(covered) / n, sum(covered) / max(1, len(covered))


def unseen_words(training, references, hypotheses):
    """Returns how many words of the references occur in no training line, and how many of them the hypotheses contain."""
    known = {word for line in training for word in line}
    unseen = translated = 0
    for reference, hypothesis in zip(references, hypotheses, strict=True):
        left = list(hypothesis)  # each word of the hypothesis counts once
        for word in reference:
            if word in known:
                continue
            unseen += 1
            if word in left:
                left.remove(word)
                translated += 1
    return unseen, translated
