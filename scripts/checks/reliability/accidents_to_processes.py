"""Accidents to the process: signals at bad moments, system limits, restricted cores."""

import json
import os
import re
import signal
import subprocess
import time

from workplace import (
    ENVIRONMENT,
    OK,
    STOPPED,
    Row,
    Wrong,
    corpus,
    expect,
    expect_same_run,
    last_line,
    leftovers,
    wait_until,
)

VALIDATED_LINES = 6000  # some seconds of validation with a beam of ten
VALIDATION_AT = 10
SOON = 2.0  # seconds within which a signal must be answered
OTHER_USER = "61234"  # a user id without processes, so that a limit on processes counts only ours


def long_validation(place):
    """Returns the options of a training whose validations take several seconds."""
    for side, text in zip(("en", "fr"), corpus(VALIDATED_LINES, 5)):
        (place.folder / f"long.{side}").write_text(text, encoding="utf-8")
    return [
        f"data.dev.src={place.folder}/long.en",
        f"data.dev.trg={place.folder}/long.fr",
        "search.max_output_length=100",
        "search.validation_beam_size=10",
        "training.learning_rate=0.0001",  # so that translations are long
        "training.logging_every=1",
        f"training.validation_every={VALIDATION_AT}",
        f"training.max_steps={2 * VALIDATION_AT}",
    ]


def stop_in_validation(place, name, more, stop):
    """Starts a training, waits for its first validation, and sends it the signal `stop`. Returns the exit code,
    the seconds from the signal to the end, and the name of the last checkpoint."""
    process = place.start(*place.training(name, *more))
    place.wait_for_step(process, place.folder / name, VALIDATION_AT)
    time.sleep(0.4)
    expect(process.poll() is None, "the validation was over at once")
    rows = (place.folder / name / "validations.tsv").read_text(encoding="utf-8").splitlines()
    expect(len(rows) <= 1, "the validation was over at once")
    begun = time.monotonic()
    process.send_signal(stop)
    done = place.finish(process)
    seconds = time.monotonic() - begun
    last = place.folder / name / "last"
    saved = last.resolve().name if last.exists() else "nothing"
    return done.code, seconds, saved


def signals_in_validation(place):
    more = long_validation(place)
    undisturbed = place.train("undisturbed", *more)
    faults, slowest = [], 0.0
    for name, stop, codes in (
        ("SIGTERM", signal.SIGTERM, STOPPED),
        ("SIGINT", signal.SIGINT, 128 + signal.SIGINT),
        ("SIGKILL", signal.SIGKILL, 128 + signal.SIGKILL),
    ):
        code, seconds, saved = stop_in_validation(place, name, more, stop)
        slowest = max(slowest, seconds)
        if code != codes:
            faults.append(f"{name}: exit code {code}, expected {codes}")
        if seconds > SOON:
            faults.append(f"{name}: answered after {seconds:.1f} s, expected {SOON:.0f}")
        if saved != f"step-{VALIDATION_AT:08}":
            faults.append(f"{name}: found checkpoint {saved}, expected the step of the validation")
        place.call_for([OK], *place.training(name, *more))
        expect_same_run(place.folder / name, undisturbed, f"resumed after {name}")
    expect(not faults, "; ".join(faults))
    return Row(
        "SIGTERM, SIGINT, SIGKILL during a validation of several seconds",
        "143, 130, 137",
        f"the step of the validation is saved; ended within {SOON:.0f} s; resumed, the validation is repeated, with the same bytes",
    )


def early_signal(place):
    def has_become_torch(process):
        try:
            return os.readlink(f"/proc/{process.pid}/exe").endswith("regard-torch")
        except OSError:
            return False

    faults = []
    for number, delay in enumerate((0.0, 0.02, 0.05, 0.1, 0.15, 0.2)):
        process = place.start(*place.training(f"run{number}"))
        # regard replaces itself with the program regard-torch, which loads LibTorch for a third of a second.
        wait_until(lambda running=process: has_become_torch(running), 10, "regard-torch")
        time.sleep(delay)
        process.send_signal(signal.SIGUSR1)
        done = place.finish(process)
        if done.code == OK:
            expect_same_run(place.folder / f"run{number}", place.run_folder, "after SIGUSR1")
        else:
            faults.append(f"{delay} s: exit code {done.code}")
    expect(not faults, f"SIGUSR1 killed {len(faults)} of 6; {faults[0] if faults else ''}")
    return Row("SIGUSR1 while the program is loaded, at six moments", "0", "the same bytes as an undisturbed run")


def few_processes(place):
    place.folder.chmod(0o777)
    as_other = ["setpriv", f"--reuid={OTHER_USER}", "--clear-groups"]
    can_read = [*as_other, "test", "-x", place.root / "toy.yaml", "-o", "-r", place.root / "toy.yaml"]
    if os.geteuid() != 0 or subprocess.run(list(map(str, can_read)), check=False).returncode != 0:
        return Row("`prlimit --nproc`", "–", "not tested: needs root, and a folder that other users can enter")
    faults, refused = [], 0
    for most in range(1, 10):
        prefix = ["prlimit", f"--nproc={most}", *as_other]
        for arguments in (
            place.training(f"run{most}", "threads=2"),
            ["translate", "-m", place.run_folder, "-i", place.text("test.en"), "--threads", "2"],
            ["evaluate", "-m", place.run_folder, "-s", place.text("test.en"), "-r", place.text("test.fr"), "--force"],
        ):
            done = place.call(*arguments, prefix=prefix)
            refused += done.code == ENVIRONMENT
            if done.code not in (OK, ENVIRONMENT):
                faults.append(f"{arguments[0]} with {most}: exit code {done.code}: {last_line(done.err)}")
    expect(refused, "no call was refused: the limit did not hold")
    expect(not faults, f"{len(faults)} of 27 calls; {faults[0] if faults else ''}")
    return Row("`prlimit --nproc=1` to `9`, `train`, `translate` and `evaluate` with two threads", "0, or 6", "–")


def with_memory(place, megabytes, arguments):
    # Batches that do not fit are processed in halves, which takes time.
    return place.call(*arguments, prefix=["prlimit", f"--as={megabytes * 1_000_000}"], seconds=120)


def least_memory(place, arguments_for):
    """Finds by bisection the least megabytes with which a call succeeds, to within 8. arguments_for(name)
    returns the arguments of a call whose output has this name."""
    too_few, enough = 64, 4096
    while enough - too_few > 8:
        middle = (too_few + enough) // 2
        try:
            well = with_memory(place, middle, arguments_for(f"bisect{middle}")).code == OK
        except Wrong:
            well = False
        too_few, enough = (too_few, middle) if well else (middle, enough)
    return enough


def little_memory(place):
    """Runs with slightly too little memory, so that it ends at the start, in a step, or in a validation."""
    for side, text in zip(("en", "fr"), corpus(300, 7, longest=40)):
        (place.folder / f"train.{side}").write_text(text, encoding="utf-8")
    training = [
        f"data.train.0.src={place.folder}/train.en",
        f"data.train.0.trg={place.folder}/train.fr",
        "model.encoder.hidden_size=128",
        "model.decoder.hidden_size=128",
        "training.batch_size=32",
        "training.max_steps=4",
        "training.save_every=2",
        "training.validation_every=2",
        "threads=2",
    ]
    translate = ["translate", "-m", place.run_folder, "-i", place.text("test.en"), "--threads", "2"]
    faults, codes = [], []
    for arguments_for in (lambda name: place.training(name, *training), lambda _: translate):
        enough = least_memory(place, arguments_for)
        for megabytes in range(enough - 4, max(enough - 100, 64), -12):
            name = f"run{megabytes}"
            arguments = arguments_for(name)
            what = f"{arguments[0]} with {megabytes} MB ({enough} are enough)"
            try:
                done = with_memory(place, megabytes, arguments)
            except Wrong as fault:
                codes.append(None)
                # A thread whose stack cannot grow, or a library that does not check its memory.
                if "ended by signal" not in str(fault):
                    faults.append(f"{what}: {fault}")
                continue
            codes.append(done.code)
            # Too little memory for the system loader, before regard runs.
            unloadable = done.code == 127 and "error while loading shared libraries" in done.err
            if done.code not in (OK, ENVIRONMENT) and not unloadable:
                faults.append(f"{what}: exit code {done.code}: {last_line(done.err)}")
            left = leftovers(place.folder / name) if (place.folder / name).is_dir() else []
            if left:
                faults.append(f"{what}: left behind: {left[:3]}")
    expect(ENVIRONMENT in codes, "no call was refused: the limit did not hold")
    expect(not faults, f"{len(faults)} of {len(codes)} calls; {faults[0] if faults else ''}")
    return Row(
        f"`prlimit --as` in {len(codes)} steps below the need of `train` and `translate`",
        "0 (batches processed in halves), 6, or a signal; 127 from the system loader if LibTorch does not fit",
        "no partial files",
    )


def small_files(place):
    undisturbed = place.run_folder
    text = place.text("test.en").read_text(encoding="utf-8") * 300
    (place.folder / "long.en").write_text(text, encoding="utf-8")
    translate = ["translate", "-m", place.run_folder, "-i", place.folder / "long.en", "--beam-size", "1"]
    faults = []
    for name, most, arguments in (
        ("train", 30_000, place.training("run")),
        ("train, its log", 1_000, place.training("log")),
        ("translate -o", 50_000, [*translate, "-o", place.folder / "output"]),
        ("--alignments", 20_000, [*translate, "-o", "/dev/null", "--alignments", place.folder / "links"]),
        ("average", 20_000, ["average", place.run_folder, "--last", "2", "-o", place.folder / "model"]),
    ):
        done = place.call(*arguments, prefix=["prlimit", f"--fsize={most}"])
        if done.code != ENVIRONMENT:
            faults.append(f"{name}: exit code {done.code}, expected 6: {last_line(done.err)}")
        left = leftovers(place.folder)
        if left:
            faults.append(f"{name}: left behind: {', '.join(left[:3])}")
        for path in [path for path in place.folder.rglob("*") if path.name in left and path.is_file()]:
            path.unlink()
    expect(not faults, f"{len(faults)} faults; {faults[0] if faults else ''}")
    place.call_for([OK], *place.training("run"))
    expect_same_run(place.folder / "run", undisturbed, "resumed without the limit")
    return Row("`ulimit -f` below the output size of `train`, `translate`, `average`", "6", "no `.part` file; resumed without the limit, the same bytes")


def one_core(place):
    core = min(os.sched_getaffinity(0))
    prefix = ["taskset", "-c", core]
    run = place.folder / "run"
    place.call_for([OK], *place.training("run", "threads=0"), prefix=prefix)
    threads = json.loads((run / "manifest.json").read_text(encoding="utf-8"))["threads"]
    expect(threads == 1, f"{threads} threads on one core")
    expect_same_run(run, place.run_folder, "threads: 0 on one core")
    log = (run / "train.log").read_text(encoding="utf-8")
    expect(re.search(r"\b1 threads?\b", log), "the log does not say 1 thread")
    return Row("`taskset` to one core, `threads: 0`", "0", "one thread, and the same bytes as `threads: 1`")


ACCIDENTS = {
    "signals-in-validation": signals_in_validation,
    "early-signal": early_signal,
    "few-processes": few_processes,
    "little-memory": little_memory,
    "small-files": small_files,
    "one-core": one_core,
}
