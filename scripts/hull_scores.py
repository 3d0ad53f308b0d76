#!/usr/bin/env python3
"""Scores convex hulls: hull_scores.py SOURCE REFERENCE HYPOTHESIS, text files.

Prints the share of hulls that are right, the share of answers that are simple polygons (no crossing
edges, no repeated point), and the mean area of the simple polygons divided by the area of the true hull
(Vinyals, Fortunato, Jaitly 2015). A polygon that starts at another corner is right too.
"""

import sys


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


sources, references, hypotheses = ([line.split() for line in open(path)] for path in sys.argv[1:])
right = simple = 0
covered = 0.0
for source, reference, hypothesis in zip(sources, references, hypotheses, strict=True):
    points = [tuple(map(float, point.split(","))) for point in source]
    wanted, found = [int(p) for p in reference], [int(p) for p in hypothesis]
    right += from_least(wanted) == from_least(found)
    polygon = [points[p] for p in found]
    if is_simple(polygon):
        simple += 1
        covered += area(polygon) / area([points[p] for p in wanted])
n = len(references)
print(f"{100 * right / n:.1f} % {100 * simple / n:.1f} % {100 * covered / max(1, simple):.1f} %")
