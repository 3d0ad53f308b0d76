"""Measures target tokens per second in training, on an otherwise idle machine."""

import json
import pathlib
import statistics
import tempfile

from project import regard
from systems import TASKS

ROUNDS = 3  # in turn: A B C A B C …
STEPS = 80
WARM_UP = 20


def tokens_per_second(system, settings):
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        regard(
            "train", "-c", "configs/attention_comparison.yaml", f"training.model_dir={run}",
            f"training.max_steps={STEPS}", "training.logging_every=10",
            f"training.validation_every={10 * STEPS}", *TASKS[0].settings,
            *system.settings_for(TASKS[0]), *settings,
        )  # fmt: skip
        lines = (run / "train.jsonl").read_text(encoding="utf-8").splitlines()
    steps = [json.loads(line) for line in lines]
    return statistics.median(
        step["target_tokens_per_second"] for step in steps if step["step"] > WARM_UP
    )


def measure(systems, settings, figures, machine, tell):
    """Stores the median of the rounds of each system. Calls `tell` with a line for each measurement."""
    rounds = {system.name: [] for system in systems}
    for number in range(ROUNDS):
        for system in systems:
            rounds[system.name].append(tokens_per_second(system, settings))
            tell(f"round {number + 1}, {system.name}: {rounds[system.name][-1]:,.0f} tokens/s")
    for name, values in rounds.items():
        figures.put({"machine": machine, "tokens_per_second": statistics.median(values)}, name, "speed")
