"""Measures a corpus larger than memory: `regard prepare`, the start of training, and the reading of batches
beside a training step. The text is generated for the measurement and removed after it."""

import json
import subprocess

from programs import timed, train, train_log, work_folder
from pages import table
from project import ENVIRONMENT_ERROR, REGARD, ROOT, Failure, warn
from report import BENCHES, build, median

CONFIG = "configs/bench.yaml"


def read(folder, *options):
    """Runs corpus_bench on a prepared folder and returns its figures."""
    done = subprocess.run(
        [BENCHES / "corpus_bench", "read", folder, *map(str, options)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )
    if done.returncode != 0:
        raise Failure(ENVIRONMENT_ERROR, f"corpus_bench: {done.stderr.strip()}")
    return json.loads(done.stdout)


def run(report, options):
    build("regard", "corpus_bench")
    pairs = options.pairs or (200_000 if options.quick else 20_000_000)
    with work_folder() as work:
        src, trg, folder = work / "train.src", work / "train.trg", work / "prepared"
        warn(f"corpus: generating {pairs:,} pairs")
        timed([BENCHES / "corpus_bench", "generate", pairs, src, trg], work / "generate.log")
        text_bytes = src.stat().st_size + trg.stat().st_size
        settings = [
            f"data.train=[{{src: {src}, trg: {trg}}}]",
            "data.dev.src=",
            "data.dev.trg=",
            "data.tokenizer.kind=word",
            "data.remove_duplicates=true",
        ]
        prepare = [REGARD, "prepare", "-c", CONFIG, "-o", folder, "--threads", options.threads]
        prepared = timed([*prepare, *settings], work / "prepare.log")
        src.unlink()
        trg.unlink()
        folder_bytes = sum(file.stat().st_size for file in folder.iterdir())
        settings[0] = "data.train=[]"
        settings.append(f"data.prepared={folder}")
        start = timed(
            [REGARD, "train", "-c", CONFIG, "--dry-run", f"training.model_dir={work / 'dry'}",
             "--threads", options.threads, *settings],
            work / "start.log",
        )
        start_tokens = timed(
            [REGARD, "train", "-c", CONFIG, "--dry-run", f"training.model_dir={work / 'dry'}",
             "--threads", options.threads, *settings, "training.batch_type=token",
             "training.batch_size=4096"],
            work / "start_tokens.log",
        )
        steps = 20 if options.quick else 60
        train(
            CONFIG, work / "run", options, *settings, f"training.max_steps={steps}",
            "training.logging_every=10",
        )
        seconds = [line["seconds"] for line in train_log(work / "run")]
        step = median([(b - a) / 10 for a, b in zip(seconds, seconds[1:])])
        sentences = read(folder, "--batch-size", 80)
        tokens = read(folder, "--batch-size", 4096, "--tokens")
    figures = {
        "pairs": pairs,
        "text_bytes": text_bytes,
        "folder_bytes": folder_bytes,
        "prepare_seconds": prepared.seconds,
        "prepare_peak_bytes": prepared.peak_bytes,
        "start_seconds": start.seconds,
        "start_tokens_seconds": start_tokens.seconds,
        "step_seconds": step,
        "step_over_loader": step / sentences["batch_seconds"],
        "sentences": sentences,
        "tokens": tokens,
    }
    report.figures.update(figures)
    report.say(
        f"{pairs:,} generated pairs, {text_bytes / 1e9:.1f} GB of text, {folder_bytes / 1e9:.1f} GB prepared; the "
        f"model of `{CONFIG}` with a vocabulary of words:"
    )
    rows = [
        ["`regard prepare`, with removal of duplicates, s", f"{prepared.seconds:.0f}"],
        ["its peak resident memory, MB", f"{prepared.peak_bytes / 1e6:.0f}"],
        ["`regard train --dry-run`, the whole process with its trial steps, s", f"{start.seconds:.1f}"],
        ["the same with batches of 4,096 target tokens, s", f"{start_tokens.seconds:.1f}"],
        ["a training step of 80 sentences, ms", f"{1e3 * step:.0f}"],
        ["reading its batch, mean, ms", f"{1e3 * sentences['batch_seconds']:.2f}"],
        ["step ÷ reading", f"{figures['step_over_loader']:.0f}"],
        [
            "the slowest batch, which plans a window of 512, ms",
            f"{1e3 * sentences['slowest_batch_seconds']:.0f}",
        ],
        ["planning an epoch, batches of 80 sentences, s", f"{sentences['plan_seconds']:.2f}"],
        ["planning an epoch, batches of 4,096 target tokens, s", f"{tokens['plan_seconds']:.2f}"],
        [
            "memory for reading that no file backs (RssAnon), MB",
            f"{max(sentences['anonymous_bytes'], tokens['anonymous_bytes']) / 1e6:.0f}",
        ],
    ]
    report.say(table(["", "figure"], rows))
