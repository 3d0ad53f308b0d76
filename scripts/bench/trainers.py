"""Trains regard and other toolkits side by side: the same data, sub-words and batches."""

import peers
from cases import ARCHITECTURES, Case, encode_corpus, train_regard
from pages import table
from programs import work_folder
from project import Failure, need_multi30k, warn
from report import build, median

# Rows of regard. The first trains the sub-words of all programs, so no machine may lack its precision.
PRECISIONS = {"regard_fp32": "fp32", "regard_bf16": "bf16"}


def title(name):
    return f"regard, {PRECISIONS[name]}" if name in PRECISIONS else peers.PEERS[name].TITLE


def train(name, case, pythons):
    """Trains one program; returns a Trained."""
    folder = case.folder(name)
    if name in PRECISIONS:
        return train_regard(case, folder, f"training.precision={PRECISIONS[name]}")
    encode_corpus(pythons[name], case)
    return peers.TRAINERS[name].train(case, pythons[name], folder)


def side_by_side(case, rounds, pythons):
    """Trains all programs in turn. Returns name to the Trained of each round, and the titles of those
    that failed."""
    runs = {name: [] for name in (*PRECISIONS, *pythons)}
    absent = []
    for index in range(rounds):
        for name in list(runs):
            warn(f"{case.name}: {name}, {case.steps} steps, round {index + 1} of {rounds}")
            try:
                runs[name].append(train(name, case, pythons))
            except Failure as failure:
                if name == next(iter(PRECISIONS)):
                    raise
                warn(f"{title(name)} is left out: {failure}")
                absent.append(title(name))
                del runs[name]
    return runs, absent


def figures(trained):
    """Returns the medians over the rounds, each without the first line of its log."""
    return {
        "target_tokens_per_second": median([median(run.speeds[1:]) for run in trained]),
        "target_tokens_per_step": median([median(run.batches[1:]) for run in trained]),
        "parameters": trained[0].parameters,
        "peak_memory": median([run.peak_bytes for run in trained]),
    }


def report_speeds(report, case, rounds, runs, absent):
    architecture = case.architecture
    report.say(
        f"**{architecture.title}** (`{architecture.config}`): batches of {architecture.batch:,} "
        f"{architecture.batch_type}s, {case.threads} thread(s), {case.steps} steps of each in turn, "
        f"{rounds} round(s), without the first {case.every} steps of each round."
    )
    found = {name: figures(trained) for name, trained in runs.items()}
    ours = [name for name in PRECISIONS if name in found]
    rows = []
    for name, row in found.items():
        ratios = [
            median([
                median(mine.speeds[1:]) / median(its.speeds[1:])
                for mine, its in zip(runs[one], runs[name])
            ])
            for one in ours
        ]
        rows.append([
            title(name),
            f"{row['target_tokens_per_second']:.0f}",
            *(f"{ratio:.2f}" for ratio in ratios),
            f"{row['peak_memory'] / 1e6:.0f}",
            f"{row['target_tokens_per_step']:.0f}",
            f"{row['parameters'] / 1e6:.1f}",
        ])
    head = ["", "target tokens/s", *(f"{title(one)}, is faster by" for one in ours), "peak MB"]
    report.say(table([*head, "target tokens a step", "parameters, millions"], rows))
    for name in absent:
        report.say(f"{name} could not be run and has no row.")
    report.figures[case.name] = {"steps": case.steps, "rounds": rounds, "absent": absent, **found}


def run(report, options):
    need_multi30k("train.en", "train.de", "val.en", "val.de")
    build("regard")
    wanted = [name for name in peers.TRAINERS if name in options.against]
    pythons = {name: python for name in wanted if (python := peers.environment(name))}
    rounds = 1 if options.quick else options.rounds
    for name in options.architecture:
        with work_folder() as work:
            steps = ARCHITECTURES[name].steps
            case = Case(work, options, name, options.steps or (10 if options.quick else steps))
            runs, absent = side_by_side(case, rounds, pythons)
            missing = [title(name) for name in wanted if name not in pythons]
            report_speeds(report, case, rounds, runs, missing + absent)
