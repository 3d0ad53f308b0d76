"""docs/attention.md: the words are written by hand, every figure and picture comes from here."""

import re
import statistics

from cells import LENGTHS, LONG, ROOT, Failure, regard
from systems import BUNDLED, TASKS

PAGE = ROOT / "docs" / "attention.md"
PICTURES = ROOT / "docs" / "attention"
IN_CURVES = ("none", "location", "additive", "general", "local_p")


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def shown(values, form):
    """The mean of what is there, and how many there are where they are several."""
    values = [value for value in values if value is not None]
    if not values:
        return "–"
    text = form.format(statistics.mean(values))
    return text if len(values) == 1 else f"{text} ± {(max(values) - min(values)) / 2:.1f}"


class Grid:
    """All cells by system and task."""

    def __init__(self, cells, speeds):
        self.speeds = speeds
        self.cells = {(cell.system.name, cell.task.name): cell for cell in cells}
        self.systems = list({cell.system.name: cell.system for cell in cells}.values())

    def results(self, system, direction):
        found = []
        for task in TASKS:
            cell = self.cells[system.name, task.name]
            if task.name.startswith(direction) and cell.result():
                found.append(cell.result())
        return found

    def done(self, system, task):
        return self.cells[system.name, task.name].result()


def scores(grid):
    head = "kind|BLEU de→en|chrF|perplexity|BLEU en→de|AER|tokens/s|parameters".split("|")
    rows = []
    for system in grid.systems:
        german, english = grid.results(system, "de-en"), grid.results(system, "en-de")
        bundled = grid.done(system, BUNDLED)
        every = german + english
        alignment = (bundled or {}).get("test", {}).get("alignment")
        name = f"`{system.name}`" + (f" ({system.remark})" if system.remark else "")
        rows.append(
            [
                name,
                shown([r["test"]["bleu"]["score"] for r in german], "{:.1f}"),
                shown([statistics.mean(r["test"]["chrf"]["score"] for r in german)] if german else [], "{:.1f}"),
                shown([statistics.mean(r["test"]["perplexity"] for r in german)] if german else [], "{:.2f}"),
                shown([r["test"]["bleu"]["score"] for r in english], "{:.1f}"),
                shown([alignment["error_rate"] if alignment else None], "{:.3f}"),
                shown([grid.speeds.get(system.name)], "{:,.0f}"),
                shown([every[0]["parameters"]] if every else [], "{:,.0f}"),
            ]
        )
    return table(head, rows)


def lengths(grid):
    rows = []
    head = ["kind"]
    for system in grid.systems:
        result = grid.done(system, BUNDLED)
        if not result:
            continue
        bins = [b for b in result["long"]["by_length"] if b["sentences"] > 0]
        head = ["kind"] + [
            f"{b['shortest']}–{b['longest']}" if b["longest"] else f"{b['shortest']}+" for b in bins
        ]
        rows.append([f"`{system.name}`"] + [f"{b['bleu']:.1f}" for b in bins])
    return table(head, rows)


def draw_lengths(grid, work):
    """docs/attention/lengths.svg, of the few kinds that differ most."""
    files = {}
    for system in grid.systems:
        if system.name not in IN_CURVES or not grid.done(system, BUNDLED):
            continue
        files[system.name] = work / system.name
        run = grid.cells[system.name, BUNDLED.name].run
        regard("translate", "-m", run, "-i", LONG[0], "-o", files[system.name])
    if "additive" not in files:
        return ""
    main = files.pop("additive")
    regard(
        "evaluate", "--hypotheses", main, "-s", LONG[0], "-r", LONG[1], "--by-length", LENGTHS,
        "--force", "--by-length-svg", PICTURES / "lengths.svg", "--compare", *files.values(),
    )  # fmt: skip
    return "![BLEU by source length](attention/lengths.svg)\n"


def alignments(grid, work):
    """One sentence under every kind, side by side."""
    task = TASKS[0]
    line = work / "line"
    source = (ROOT / task.data("test")[0]).read_text(encoding="utf-8").splitlines()
    line.write_text(next(s for s in source if len(s.split()) == 9) + "\n", encoding="utf-8")
    shown_kinds = []
    for system in grid.systems:
        cell = grid.cells[system.name, task.name]
        if not system.has_weights or not cell.result():
            continue
        picture = PICTURES / f"{system.name}.svg"
        regard("translate", "-m", cell.run, "-i", line, "--picture", picture, "-o", work / "text")
        shown_kinds.append(f'<img src="attention/{system.name}.svg" alt="{system.name}" width="32%">')
    return "\n".join(shown_kinds) + "\n"


def explanation(grid, work):
    cell = grid.cells["additive", BUNDLED.name]
    if not cell.result():
        return ""
    line = work / "line"
    source = (ROOT / "data/test.en").read_text(encoding="utf-8").splitlines()
    line.write_text(next(s for s in source if len(s.split()) == 5) + "\n", encoding="utf-8")
    text = regard("translate", "-m", cell.run, "-i", line, "--explain")
    return "```\n" + "\n".join(s.rstrip() for s in text.strip().splitlines()) + "\n```\n"


def write(grid, work, machine):
    PICTURES.mkdir(exist_ok=True)
    parts = {
        "scores": scores(grid) + "\n" + machine + "\n",
        "lengths": lengths(grid) + "\n" + draw_lengths(grid, work),
        "alignments": alignments(grid, work),
        "explain": explanation(grid, work),
    }
    text = PAGE.read_text(encoding="utf-8")
    for name, markdown in parts.items():
        place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.S)
        if not place.search(text):
            raise Failure(6, f"{PAGE}: no place marked <!-- {name} -->")
        text = place.sub(lambda m, body=markdown: m[1] + body + m[2], text, count=1)
    PAGE.write_text(text, encoding="utf-8")
