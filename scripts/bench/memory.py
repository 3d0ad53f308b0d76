"""Measures the peak memory of training the bench model, and its growth with the steps."""

from programs import train_log, train, work_folder
from project import need_multi30k
from report import build


def run(report, options):
    need_multi30k("train.en", "train.de", "val.en", "val.de")
    build("regard")
    steps = 60 if options.quick else 300
    every = 20 if options.quick else 50
    with work_folder() as work:
        whole = train(
            "configs/bench.yaml",
            work / "run",
            options,
            f"training.max_steps={steps}",
            f"training.validation_every={steps}",
            f"training.logging_every={every}",
        )
        peaks = [(line["step"], line["peak_memory"]) for line in train_log(work / "run")]
    growth = peaks[-1][1] / peaks[0][1] - 1
    report.say(
        f"The peak resident memory of training `configs/bench.yaml`: {peaks[0][1] / 1e6:.0f} MB after step {peaks[0][0]}, "
        f"{peaks[-1][1] / 1e6:.0f} MB after step {peaks[-1][0]} ({100 * growth:+.1f} %), "
        f"{whole.peak_bytes / 1e6:.0f} MB at the end, with validation and saving."
    )
    report.figures.update(
        {
            "peak_by_step": dict(peaks),
            "peak_of_process": whole.peak_bytes,
            "growth": growth,
        }
    )
