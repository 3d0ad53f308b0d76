"""Runs the compiled benchmark programs of tests/bench and passes their tables to the report."""

from pathlib import Path

from programs import relay
from project import need_multi30k
from report import BENCHES, build, need_model


def step(report, options):
    build("regard", "step_bench")
    repeats = 3 if options.quick else 15
    command = [BENCHES / "step_bench", "--repeats", repeats, "--threads", options.threads]
    report.figures.update(relay(report, command))


def product(report, options):
    build("regard", "product_bench")
    command = [BENCHES / "product_bench", "--repeats", 3 if options.quick else 15]
    report.figures.update(relay(report, command))


def growth(report, options):
    build("regard", "step_bench")
    repeats = 1 if options.quick else 5
    command = [BENCHES / "step_bench", "--growth", "--repeats", repeats]
    command += ["--threads", options.threads] + (["--quick"] if options.quick else [])
    report.figures.update(relay(report, command))


def architectures(report, options):
    build("regard", "step_bench")
    repeats = 1 if options.quick else 7
    command = [BENCHES / "step_bench", "--architectures", "--repeats", repeats]
    command += ["--threads", options.threads]
    report.figures.update(relay(report, command))


def decoding_steps(report, options):
    build("regard", "step_bench")
    command = [BENCHES / "step_bench", "--decoding-steps", "--repeats", 1 if options.quick else 7]
    report.figures.update(relay(report, command))


def decode(report, options):
    source, reference = "test_2016_flickr.en", "test_2016_flickr.de"
    need_multi30k(source, reference)
    model = need_model(options.model)
    build("regard", "decode_bench")
    command = [BENCHES / "decode_bench", "--model", model, "--threads", options.threads]
    command += ["--input", f"data/multi30k/{source}", "--reference", f"data/multi30k/{reference}"]
    command += ["--repeats", 1, "--lines", 100] if options.quick else ["--repeats", 5]
    report.say(f"The model in `{Path(model).name}`.")
    report.figures.update({"model": model, **relay(report, command)})
