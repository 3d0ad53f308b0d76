"""Accidents to the files that regard writes: closed descriptors, several writers, moved folders."""

import os
import shutil
import subprocess
import time

from workplace import (
    CHECKPOINT,
    ENVIRONMENT,
    INPUT,
    OK,
    USAGE,
    Row,
    Wrong,
    digest,
    differences,
    expect,
    expect_same_run,
    expect_untouched,
    last_line,
    snapshot,
    wait_until,
)

CLOSINGS = ((0,), (1,), (2,), (0, 1, 2))  # descriptors to close: stdin, stdout, stderr, all
TRIALS = 25  # of a race of two processes
LONG_LINE = "the small cat " * 900 + "\n"  # long enough for a warning


def closed_train(place):
    undisturbed = place.train("undisturbed")
    for closed in CLOSINGS:
        name = "closed" + "".join(map(str, closed))
        place.call_for([OK], *place.training(name), closed=closed)
        expect_same_run(place.folder / name, undisturbed, f"without {closed}")
        lock = (place.folder / name / ".lock").read_text(encoding="utf-8")
        expect(lock.strip().isdigit(), f"without {closed}: .lock holds {lock[:60]!r}")
    return Row("`train` with stdin, stdout, stderr, or all three closed", "0", "the same bytes as an undisturbed run")


def closed_translate(place):
    source = place.folder / "in.en"
    text = LONG_LINE + place.text("test.en").read_text(encoding="utf-8")
    source.write_text(text, encoding="utf-8")
    command = ["translate", "-m", place.run_folder, "-i", source]

    def files_of(name, closed=()):
        files = [place.folder / f"{name}.{kind}" for kind in ("out", "links", "json")]
        options = zip(("-o", "--alignments", "--attention-weights"), files)
        place.call_for([OK], *command, *(word for pair in options for word in pair), closed=closed)
        return [digest(file) for file in files]

    undisturbed = files_of("undisturbed")
    for closed in CLOSINGS:
        expect(files_of(f"closed{closed[0]}{len(closed)}", closed) == undisturbed, f"-o without {closed}: other bytes")
    printed = place.call_for([OK], *command).out
    for closed in ((0,), (2,)):
        expect(place.call_for([OK], *command, closed=closed).out == printed, f"without {closed}: other bytes")
    for closed in ((1,), (0, 1, 2)):
        place.call_for([ENVIRONMENT], *command, closed=closed)
    found = place.call_for([OK, INPUT, ENVIRONMENT], "translate", "-m", place.run_folder, closed=(0,))
    expect(not found.out, "a closed stdin produced a translation")
    return Row(
        "`translate` likewise, with and without `-o`, with a warning to print",
        "0; 6 if stdout is needed, 3 or 6 if stdin is needed",
        "no byte of a message in the outputs",
    )


def closed_others(place):
    commands = {
        "evaluate": ["--hypotheses", place.text("test.fr"), "-r", place.text("test.fr")],
        "info": [place.run_folder],
    }
    for verb, arguments in commands.items():
        printed = place.call_for([OK], verb, *arguments).out
        for closed in ((0,), (2,)):
            found = place.call_for([OK], verb, *arguments, closed=closed).out
            expect(found == printed, f"{verb} without {closed}: other bytes")
        for closed in ((1,), (0, 1, 2)):
            place.call_for([ENVIRONMENT], verb, *arguments, closed=closed)
    translations = []
    for closed in ((), *CLOSINGS):
        output = place.folder / f"translations{len(translations)}"
        arguments = ["-m", place.run_folder, "-s", place.text("test.en"), "-r", place.text("test.fr")]
        codes = [ENVIRONMENT, OK] if 1 in closed else [OK]
        done = place.call_for(codes, "evaluate", *arguments, "--force", "-o", output, closed=closed)
        if done.code == OK:
            translations.append(digest(output))
    expect(len(set(translations)) == 1, "evaluate -o: other bytes")
    models = []
    for closed in ((), *CLOSINGS):
        output = place.folder / f"average{len(models)}"
        place.call_for([OK], "average", place.run_folder, "--last", "2", "-o", output, closed=closed)
        models.append({name: value for name, value in snapshot(output).items() if name != "manifest.json"})
        place.call_for([OK], "info", output)
    expect(all(model == models[0] for model in models), "average: other bytes")
    return Row("`evaluate`, `average`, `info` likewise", "0; 6 if stdout is needed", "the same outputs")


def two_averages(place):
    command = ["average", place.run_folder, "--last", "2", "-o", place.folder / "both"]
    place.call_for([OK], *command[:-1], place.folder / "alone")
    weights = digest(place.folder / "alone" / "model.safetensors")
    refused = 0
    for trial in range(TRIALS):
        shutil.rmtree(place.folder / "both", ignore_errors=True)
        processes = [place.start(*command) for _ in range(2)]
        ends = [place.finish(process) for process in processes]
        codes = sorted(done.code for done in ends)
        expect(codes in ([OK, OK], [OK, ENVIRONMENT]), f"trial {trial}: exit codes {codes}")
        expect(all(done.err.strip() for done in ends), f"trial {trial}: no message")
        refused += codes[1] == ENVIRONMENT
        model = place.folder / "both" / "model.safetensors"
        expect(model.is_file(), f"trial {trial}: exit codes {codes}, and no model remains")
        expect(digest(model) == weights, f"trial {trial}: other weights")
        if trial % 5 == 0:
            place.call_for([OK], "info", place.folder / "both")
        names = sorted(path.name for path in place.folder.iterdir() if not path.name.endswith(".lock"))
        expect(names == ["alone", "both"], f"trial {trial}: left behind: {names}")
    return Row(f"two simultaneous `average` with the same `-o`, {TRIALS} times", "0, or 6", "one complete model")


def two_trains(place):
    undisturbed = place.train("undisturbed", "training.max_steps=400")
    command = place.training("both", "training.max_steps=400")
    first = place.start(*command)
    place.wait_for_step(first, place.folder / "both", 10)
    second = place.call_for([ENVIRONMENT], *command)
    expect("training here" in second.err, f"the second says: {last_line(second.err)}")
    expect(place.finish(first).code == OK, "the first was disturbed")
    expect_same_run(place.folder / "both", undisturbed, "two trainings")
    for trial in range(5):
        name = f"together{trial}"
        ends = [place.finish(process) for process in [place.start(*place.training(name)) for _ in range(2)]]
        codes = sorted(done.code for done in ends)
        # One may start after the other has finished.
        expect(codes in ([OK, ENVIRONMENT], [OK, OK]), f"at once: exit codes {codes}")
        expect_same_run(place.folder / name, place.run_folder, "two trainings at once")
    return Row("two `train` into one run folder", "0 and 6", "the same bytes as an undisturbed run")


def report_and_train(place):
    undisturbed = place.train("undisturbed", "training.max_steps=900")
    process = place.start(*place.training("run", "training.max_steps=900"))
    run = place.folder / "run"
    place.wait_for_step(process, run, 40)
    page = place.folder / "page.html"
    for output in ([], ["-o", page]):
        place.call_for([OK], "report", run, *output)
    text = page.read_text(encoding="utf-8")
    expect(text.rstrip().endswith("</html>"), "the page is incomplete")
    expect(place.finish(process).code == OK, "the training was disturbed")
    (run / "report.html").unlink()
    expect_same_run(run, undisturbed, "a training with reports")
    return Row("`report` of a running training", "0", "a complete page, and an undisturbed run")


def folder_of_that_name(place):
    user_files = []
    for name in (".model.tmp", ".model.old"):
        file = place.folder / name / "thesis.txt"
        file.parent.mkdir()
        file.write_text("irreplaceable\n", encoding="utf-8")
        user_files.append(file)
    place.call_for([OK, ENVIRONMENT], "average", place.run_folder, "--last", "2", "-o", place.folder / "model")
    for file in user_files:
        expect(file.is_file(), f"{file.parent.name}/{file.name} is gone")
    return Row("the user's folders `.NAME.tmp` and `.NAME.old` beside `average -o NAME`", "0", "they are unchanged")


# Rare checkpoints, so that the folder disappears while none is being written.
SELDOM = ["training.save_every=300", "training.validation_every=1000000"]


def train_and_disturb(place, name, disturb):
    """Starts a long training and calls disturb(run folder), which takes the folder away. The training must
    exit at once."""
    run = place.folder / name
    process = place.start(*place.training(name, "training.max_steps=1000000", *SELDOM))
    wait_until(lambda: (run / "last").exists() or process.poll() is not None, 60, "a checkpoint")
    place.wait_for_step(process, run, max(place.steps(run), default=0) + 20)
    disturb(run)
    begun = time.monotonic()
    done = place.finish(process, 20)
    expect(done.code == ENVIRONMENT, f"exit code {done.code}, expected 6: {last_line(done.err)}")
    expect(time.monotonic() - begun < 5, "it continued for more than 5 seconds")


def moved_run(place):
    moved = place.folder / "moved"
    train_and_disturb(place, "run", lambda run: run.rename(moved))
    expect(not (place.folder / "run").exists(), "something was created at the old path")
    steps = max(place.steps(moved)) + 40
    more = [f"training.max_steps={steps}", *SELDOM]
    place.call_for([OK], *place.training("moved", *more))
    expect_same_run(moved, place.train("undisturbed", *more), "resumed at the new path")
    return Row("the run folder moved during training", "6", "nothing at the old path; resumed at the new path, the same bytes")


def deleted_run(place):
    def delete(run):
        for _ in range(100):  # a file may be created while rm works
            if subprocess.run(["rm", "-rf", run], stderr=subprocess.DEVNULL, check=False).returncode == 0:
                return
        raise Wrong("rm -rf keeps finding new files")

    train_and_disturb(place, "run", delete)
    expect(not (place.folder / "run").exists(), "something was created at the old path")
    return Row("`rm -rf` of the run folder during training", "6", "nothing at the old path")


def exchanged_run(place):
    def exchange(run):
        run.rename(place.folder / "moved")
        run.mkdir()
        (run / "own.txt").write_text("somebody else's\n", encoding="utf-8")

    train_and_disturb(place, "run", exchange)
    names = sorted(path.name for path in (place.folder / "run").iterdir())
    expect(names == ["own.txt"], f"regard wrote into another folder: {names}")
    return Row("the run folder moved during training, and another put in its place", "6", "the other folder is unchanged")


def train_into_model(place):
    place.copy_of_model("model")
    run = place.copy_of_run("run")
    os.symlink(run / "best", place.folder / "link")
    own = place.folder / "own"
    (own / "validation").mkdir(parents=True)
    for name in ("train.jsonl", "validations.tsv", "validation/step-00000030.txt"):
        (own / name).write_text("a user's own\n", encoding="utf-8")
    for target in ("model", "run/best", "run/last", "link", "own"):
        before = snapshot(place.folder)
        place.call_for([USAGE], *place.training(target))
        expect_untouched(before, place.folder, f"training.model_dir={target}")
    return Row(
        "`train` into a model folder, `RUN/best`, a folder with the user's own `train.jsonl`", "2", "nothing is changed"
    )


def output_into_run(place):
    run = place.copy_of_run("run")
    checkpoint = (run / "last").resolve().relative_to(run)
    translate = ["translate", "-m", run, "-i", place.text("dev.en")]
    attempts = [
        *(["report", run, "-o", run / name] for name in ("train.log", "train.jsonl", "manifest.json", "config.yaml")),
        ["report", run, "-o", run / checkpoint / "model.safetensors"],
        [*translate, "-o", run / "validations.tsv"],
        [*translate, "-o", run / "last" / "model.safetensors"],
        [*translate, "-o", place.folder / "o", "--alignments", run / "train.jsonl"],
        [*translate, "-o", place.folder / "o", "--report", run / "last" / "config.yaml"],
        ["score", "-m", run, "-s", place.text("dev.en"), "-t", place.text("dev.fr"), "-o", run / "train.log"],
        ["average", run, "--last", "2", "-o", run / checkpoint],
        ["average", run, "--last", "2", "-o", run],
    ]
    for attempt in attempts:
        before = snapshot(place.folder)
        place.call_for([USAGE], *attempt)
        expect_untouched(before, place.folder, " ".join(map(str, attempt[:1] + attempt[-2:])))
    return Row(f"`-o` that names a file of a run, in {len(attempts)} ways", "2", "nothing is changed")


def copied_with_links_resolved(place):
    more = ["training.save_every=10", "training.keep_newest=2"]
    place.train("copy0", *more)
    for number, steps in ((1, 120), (2, 180)):
        copy = place.folder / f"copy{number}"
        subprocess.run(["cp", "-rL", place.folder / f"copy{number - 1}", copy], check=True)
        place.call_for([OK], *place.training(copy.name, *more, f"training.max_steps={steps}"))
        undisturbed = place.train(f"undisturbed{number}", *more, f"training.max_steps={steps}")
        expect_same_run(copy, undisturbed, f"copy {number}")
        expect((copy / "last").is_symlink() and (copy / "best").is_symlink(), "`last` and `best` are not links")
    return Row("a run copied with `cp -rL`, resumed, copied again, resumed", "0", "the same bytes as an undisturbed run")


def damaged_configuration(place):
    good = (place.run_folder / "last" / "config.yaml").read_bytes()
    damages = {
        "cut in a key": good[: good.index(b"hidden_size") + 5],
        "brackets": b"{" * 300,
        "random bytes": bytes((17 * i * i + 201 * i) % 256 for i in range(500)),
        "empty": b"",
        "an unknown key": good.replace(b"hidden_size", b"hiden_size"),
        "a size of -3": good.replace(b"hidden_size: 16", b"hidden_size: -3"),
        "missing": None,
    }
    faults = []
    texts = ["-s", place.text("dev.en")]
    for name, content in damages.items():
        run = place.copy_of_run(name.replace(" ", "_"))
        config = run / "last" / "config.yaml"
        config.unlink() if content is None else config.write_bytes(content)
        output = place.folder / "output"
        commands = [
            ["translate", "-m", run, "-i", place.text("dev.en"), "-o", output],
            ["info", run],
            ["score", "-m", run, *texts, "-t", place.text("dev.fr"), "-o", output],
            ["evaluate", "-m", run, *texts, "-r", place.text("dev.fr"), "--force", "-o", output],
            ["average", run / "last", place.run_folder, "-o", place.folder / "average"],
            ["report", run, "-o", output],
            place.training(run.name, "training.max_steps=70"),
        ]
        before = snapshot(run)
        for command in commands:
            try:
                place.call_for([CHECKPOINT], *command)
                new = [path for path in differences(before, snapshot(run)) if path not in (".lock", "train.log")]
                expect(not new, f"{command[0]}: changed or new: {new[:5]}")
                expect(not output.exists(), f"{command[0]}: an output remains")
            except Wrong as fault:
                faults.append(f"{name}: {fault}")
    expect(not faults, f"{len(faults)} of {7 * len(damages)}; {faults[0] if faults else ''}")
    return Row(
        f"`config.yaml` of a checkpoint damaged in {len(damages)} ways, seven verbs each", "5", "nothing is changed"
    )


ACCIDENTS = {
    "closed-train": closed_train,
    "closed-translate": closed_translate,
    "closed-others": closed_others,
    "two-averages": two_averages,
    "two-trains": two_trains,
    "report-and-train": report_and_train,
    "folder-of-that-name": folder_of_that_name,
    "moved-run": moved_run,
    "deleted-run": deleted_run,
    "exchanged-run": exchanged_run,
    "train-into-model": train_into_model,
    "output-into-run": output_into_run,
    "copied-links": copied_with_links_resolved,
    "damaged-config": damaged_configuration,
}
