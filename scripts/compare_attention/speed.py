"""Measures target tokens per second in training, on an otherwise idle machine."""

import statistics

from cells import tokens_per_second
from systems import TASKS

ROUNDS = 3  # in turn: A B C A B C …


def measure(systems, settings, figures, machine, tell):
    """Stores the median of the rounds of each system. Calls `tell` with a line for each measurement."""
    rounds = {system.name: [] for system in systems}
    for number in range(ROUNDS):
        for system in systems:
            rounds[system.name].append(tokens_per_second(system, TASKS[0], settings))
            tell(f"round {number + 1}, {system.name}: {rounds[system.name][-1]:,.0f} tokens/s")
    for name, values in rounds.items():
        figures.put({"machine": machine, "tokens_per_second": statistics.median(values)}, name, "speed")
