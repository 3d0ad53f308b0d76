"""Measures one model for several languages, and transfer from one language to another, and writes docs/transfer.md.

All models are the small one of configs/attention_comparison.yaml, on Multi30k. Stopped trainings are resumed, and
finished ones are skipped.
"""

import dataclasses

import project
from cells import ADDITIVE, Cell, System, fill, machines, multi30k, parser_of, write_first_pairs
from figures import Figures
from pages import put, table
from project import ROOT, names_in, need_multi30k, warn

PAGE = ROOT / "docs" / "transfer.md"
STEPS = 3000  # for each direction
CHILD_STEPS = 1500
SIZES = (1000, 5000)
DIRECTIONS = [("en", "de"), ("en", "fr"), ("de", "en"), ("fr", "en")]


def tag(language):
    return f"<2{language}>"


def task_of(source, target, steps=STEPS):
    return dataclasses.replace(multi30k(source, target, 42), name=f"{source}-{target}", steps=steps)


def single():
    return System("single", ADDITIVE, "one model for each direction")


def several(name, remark, directions, side):
    """Returns the model of several directions, whose tags are on the side `src` or `trg`."""
    settings = [
        *ADDITIVE,
        "data.tokenizer.vocabulary_size=6000",
        f"data.tokenizer.user_symbols=[{', '.join(sorted({tag(target) for _, target in directions}))}]",
        f"training.max_steps={STEPS * len(directions)}",
        f"training.validation_every={STEPS * len(directions) // 2}",
    ]
    for i, (source, target) in enumerate(directions):
        if i > 0:
            train = task_of(source, target).data("train")
            settings += [f"data.train.{i}.src={train[0]}", f"data.train.{i}.trg={train[1]}"]
        settings.append(f"data.train.{i}.{side}_tag={tag(target)}")
    first = tag(directions[0][1])
    settings.append(f"data.dev.{side}_tag={first}")
    return System(name, tuple(settings), remark, tags=(f"--{side}-tag", first))


@dataclasses.dataclass(frozen=True)
class OtherDirections:
    """Scores the test set of each direction of a model."""

    directions: tuple
    side: str

    def __call__(self, cell, *options):
        found = {}
        for source, target in self.directions:
            tags = (f"--{self.side}-tag", tag(target))
            score = cell.score(*task_of(source, target).data("test"), *options, tags=tags)
            found[f"{source}-{target}"] = score["bleu"]["score"]
        return {"directions": found}


SEVERAL = [
    ("en_to_both", "from English, tags in the source (`src_tag`)", DIRECTIONS[:2], "src"),
    ("en_to_both_target_tags", "from English, tags of the target (`trg_tag`)", DIRECTIONS[:2], "trg"),
    ("all", "all four directions, tags in the source", DIRECTIONS, "src"),
]


def language_cells(folder, figures):
    """Returns the cells of single models by direction, and those of several directions by name."""
    singles = {
        f"{source}-{target}": Cell(folder, figures, single(), task_of(source, target))
        for source, target in DIRECTIONS
    }
    shared = {}
    for name, remark, directions, side in SEVERAL:
        system = several(name, remark, directions, side)
        measure = OtherDirections(tuple(directions), side)
        shared[name] = Cell(folder, figures, system, task_of(*directions[0]), (measure,))
    return singles, shared


def children(parent):
    """Returns the systems of the second table."""
    short = (f"training.max_steps={CHILD_STEPS}", "training.validation_every=250")
    initial = ("--init-from", str(parent.run.relative_to(ROOT)))
    longer = "data.tokenizer.extend_by=1000"
    frozen = "training.freeze=[decoder.*, output_bias]"

    def child(name, remark, *settings):
        return System(name, (*short, *settings), remark, options=initial, after=parent.recipe)

    scratch = (*ADDITIVE, *short, "data.tokenizer.vocabulary_size=1000")
    return [
        System("from_scratch", scratch, "from random weights, 1,000 sub-words"),
        child("from_german", "from German–English"),
        child("extended", "from German–English, extended", longer),
        child("extended_frozen", "from German–English, extended, frozen decoder", longer, frozen),
    ]


def child_cells(folder, figures, parent):
    tasks = [
        dataclasses.replace(
            task_of("fr", "en", CHILD_STEPS), name=f"fr-en-{pairs}", train=f"{folder.relative_to(ROOT)}/data/first_{pairs}"
        )
        for pairs in SIZES
    ]
    return {s.name: [Cell(folder, figures, s, task) for task in tasks] for s in children(parent)}


def number(value):
    return "–" if value is None else f"{value:.1f}"


def language_table(singles, shared):
    names = [f"{source}-{target}" for source, target in DIRECTIONS]
    head = ["model", "models", *(name.replace("-", "→") for name in names)]
    results = {name: cell.result() for name, cell in singles.items()}
    rows = [["one for each direction", 4, *(number((results[n] or {}).get("bleu")) for n in names)]]
    for cell in shared.values():
        found = (cell.result() or {}).get("directions", {})
        rows.append([cell.system.remark, 1, *(number(found.get(n)) for n in names)])
    done = [*results.values(), *(cell.result() for cell in shared.values())]
    if not any(done):
        return "No figures yet.\n"
    return table(head, rows) + f"\nBLEU of test 2016, beam 5. Trained: {machines(done)}.\n"


def transfer_table(cells):
    rows = []
    results = [cell.result() for of_system in cells.values() for cell in of_system]
    for of_system in cells.values():
        found = [cell.result() for cell in of_system]
        rows.append(
            [of_system[0].system.remark]
            + [f"{r['bleu']:.1f} ({r['dev']['bleu']:.1f})" if r else "–" for r in found]
        )
    if not any(results):
        return "No figures yet.\n"
    head = ["start", *(f"{size:,} pairs" for size in SIZES)]
    return table(head, rows) + (
        f"\nBLEU of test 2016, and in brackets of the validation pair. Trained: {machines(results)}.\n"
    )


def main():
    options = parser_of("transfer", __doc__, "runs/transfer").parse_args()
    need_multi30k("train.de", "train.fr")
    figures = Figures(ROOT / "docs" / "transfer" / "figures.json")
    folder = ROOT / options.runs
    singles, shared = language_cells(folder, figures)
    parent = singles["de-en"]
    cells = child_cells(folder, figures, parent)
    names = ["single", *shared, *cells]
    wanted = names_in(options.only, names, "system")
    if not options.table:
        languages = [*singles.values(), *shared.values()]
        fill([cell for cell in languages if cell.system.name in wanted], options)
        selected = [cell for name, of_system in cells.items() if name in wanted for cell in of_system]
        if any(not cell.result() for cell in selected):
            for size in SIZES:
                write_first_pairs(task_of("fr", "en"), folder / "data", size)
            if not parent.has_model():
                parent.fill(project.CORES)
            fill(selected, options)
    put(PAGE, {"languages": language_table(singles, shared), "transfer": transfer_table(cells)})
    warn("written: docs/transfer.md")


project.run(main)
