"""Writes the figures and pictures of docs/attention.md. Its prose is written by hand."""

import statistics

from cells import BUNDLED, machines
from measures import LENGTHS, LONG
from pages import table
from project import ROOT, regard
from systems import SYSTEMS, TASKS, VARIANTS

IN_CURVES = ("none", "location", "additive", "general", "local_p")


def mean_and_range(values, form):
    """Formats the mean of the values that are not None; with several, adds ± half of their range."""
    values = [value for value in values if value is not None]
    if not values:
        return "–"
    text = form.format(statistics.mean(values))
    return text if len(values) == 1 else f"{text} ± {(max(values) - min(values)) / 2:.1f}"


def mean(values, form):
    """Formats the mean alone."""
    return mean_and_range([statistics.mean(values)] if values else [], form)


class Grid:
    """All cells, by system and task, and their stored figures."""

    def __init__(self, study, cells):
        self.figures = study.figures
        self.pictures = study.pictures
        self.cells = {(cell.system.name, cell.task.name): cell for cell in cells}
        self.systems = list({cell.system.name: cell.system for cell in cells}.values())

    def results(self, system, direction):
        """Returns the figures of the finished cells of a direction, such as "de-en": one for each seed."""
        found = [self.done(system, task) for task in TASKS if task.name.startswith(direction)]
        return list(filter(None, found))

    def done(self, system, task):
        return self.cells[system.name, task.name].result()

    def run(self, name, task):
        """Returns the run folder of a finished cell, or None if its model is not on this machine."""
        cell = self.cells[name, task.name]
        return cell.run if cell.result() and cell.has_model() else None

    def speed(self, system):
        return (self.figures.get(system.name, "speed") or {}).get("tokens_per_second")

    def machines(self):
        """Returns the machines of the figures, one line for each kind of figure."""
        cells = [cell.result() for cell in self.cells.values()]
        speeds = [self.figures.get(system.name, "speed") for system in self.systems]
        lines = []
        for what, rows in (("Trained", cells), ("Tokens per second", speeds)):
            if found := machines(rows):
                lines.append(f"{what}: {found}.\n")
        return "\n".join(lines)


def queries(grid):
    """Every kind with the query of its paper and with the other one, and other variants."""
    head = ["kind", "variant", "BLEU de→en", "perplexity", "validation BLEU", "validation perplexity"]
    rows = []
    task = TASKS[0]
    for system in SYSTEMS:
        variants = [variant for variant in VARIANTS if variant.variant_of == system.name]
        if not variants:
            continue
        for one in (system, *variants):
            result = grid.done(one, task)
            if not result:
                continue
            dev = result.get("dev", {})
            rows.append(
                [
                    f"`{system.name}`" if one is system else "",
                    default_variant(system, variants) if one is system else VARIANT_TEXT[one.remark],
                    f"{result['bleu']:.1f}",
                    f"{result['perplexity']:.2f}",
                    mean_and_range([dev.get("bleu")], "{:.1f}"),
                    mean_and_range([dev.get("perplexity")], "{:.2f}"),
                ]
            )
    return table(head, rows)


VARIANT_TEXT = {
    "last": "`query: last`",
    "new": "`query: new`",
    "feeding": "`query: new`, `input_feeding`",
    "annealed": "`anneal_steps` half of the steps",
    "half_temperature": "`temperature: 0.5`",
    "at_once": "`anneal_steps: 0`",
}


def default_variant(system, variants):
    """Returns the query that `auto` selects, from the variant that has the other one."""
    names = [variant.remark for variant in variants]
    query = "`query: new`" if "last" in names else "`query: last`"
    return f"{query} (auto)" if "last" in names or "new" in names else "default"


def scores(grid):
    head = "kind|BLEU de→en|chrF|perplexity|BLEU en→de|BLEU bundled|largest α|AER|tokens/s|parameters"
    head = head.split("|")
    rows = []
    for system in SYSTEMS:
        german, english = grid.results(system, "de-en"), grid.results(system, "en-de")
        bundled = grid.done(system, BUNDLED) or {}
        parameters = [result["parameters"] for result in german + english]
        if not parameters and not bundled:
            continue
        rows.append(
            [
                f"`{system.name}`" + (f" ({system.remark})" if system.remark else ""),
                mean_and_range([r["bleu"] for r in german], "{:.1f}"),
                mean([r["chrf"] for r in german], "{:.1f}"),
                mean([r["perplexity"] for r in german], "{:.2f}"),
                mean_and_range([r["bleu"] for r in english], "{:.1f}"),
                mean_and_range([bundled.get("bleu")], "{:.1f}"),
                mean_and_range([bundled.get("largest_weight")], "{:.2f}"),
                mean_and_range([bundled.get("alignment_error_rate")], "{:.3f}"),
                mean_and_range([grid.speed(system)], "{:,.0f}"),
                mean_and_range(parameters[:1], "{:,.0f}"),
            ]
        )
    return table(head, rows)


def lengths(grid):
    rows = []
    head = ["kind"]
    for system in SYSTEMS:
        bins = (grid.done(system, BUNDLED) or {}).get("by_length")
        if not bins:
            continue
        head = ["kind"] + [
            f"{b['shortest']}–{b['longest']}" if b["longest"] else f"{b['shortest']}+" for b in bins
        ]
        rows.append([f"`{system.name}`"] + [f"{b['bleu']:.1f}" for b in bins])
    return table(head, rows)


def curves(grid, work):
    """Draws lengths.svg for the kinds IN_CURVES, which differ most, if all their models are on this machine.
    Returns the Markdown of the picture, also of one drawn earlier."""
    picture = grid.pictures / "lengths.svg"
    runs = {name: grid.run(name, BUNDLED) for name in IN_CURVES}
    if all(runs.values()):
        files = {}
        for name, run in runs.items():
            files[name] = work / name
            regard("translate", "-m", run, "-i", LONG[0], "-o", files[name])
        main = files.pop("additive")
        regard(
            "evaluate", "--hypotheses", main, "-s", LONG[0], "-r", LONG[1], "--by-length", LENGTHS,
            "--force", "--by-length-svg", picture, "--compare", *files.values(),
        )  # fmt: skip
    return "![BLEU by source length](attention/lengths.svg)\n" if picture.is_file() else ""


def alignments(grid, work):
    """Returns Markdown that shows the attention of every kind for one sentence, side by side. Draws the
    pictures of kinds whose model is on this machine, and shows earlier pictures of the others."""
    task = TASKS[0]
    line = work / "line"
    source = (ROOT / task.data("test")[0]).read_text(encoding="utf-8").splitlines()
    line.write_text(next(s for s in source if len(s.split()) == 9) + "\n", encoding="utf-8")
    images = []
    for system in SYSTEMS:
        picture = grid.pictures / f"{system.name}.svg"
        run = grid.run(system.name, task)
        if run and system.has_weights:
            regard("translate", "-m", run, "-i", line, "--picture", picture, "-o", work / "text")
        if picture.is_file():
            images.append(f'<img src="attention/{system.name}.svg" alt="{system.name}" width="32%">')
    if not images:
        return ""
    return "The attention of each kind on the same sentence, German to English:\n\n" + "".join(
        image + "\n" for image in images
    )


def explanation(grid, work):
    """Returns the output of --explain, or None if the model is not on this machine."""
    run = grid.run("additive", BUNDLED)
    if not run:
        return None
    line = work / "line"
    source = (ROOT / "data/test.en").read_text(encoding="utf-8").splitlines()
    line.write_text(next(s for s in source if len(s.split()) == 5) + "\n", encoding="utf-8")
    text = regard("translate", "-m", run, "-i", line, "--explain")
    return "```\n" + "\n".join(s.rstrip() for s in text.strip().splitlines()) + "\n```\n"


def parts(grid, work):
    """Returns the parts of the page, by name."""
    grid.pictures.mkdir(exist_ok=True)
    return {
        "scores": scores(grid) + "\n" + grid.machines(),
        "queries": queries(grid),
        "lengths": lengths(grid) + "\n" + curves(grid, work),
        "alignments": alignments(grid, work),
        "explain": explanation(grid, work),
    }
