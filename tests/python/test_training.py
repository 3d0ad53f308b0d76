"""train(): a training in a process of its own."""

import subprocess
import sys

import pytest

import regard


@pytest.fixture
def config(corpus, tmp_path):
    """A configuration of 60 steps on a toy language, as a dict."""
    files = {}
    for part, lines, seed in (("train", 200, 1), ("dev", 20, 2)):
        for side, text in zip(("src", "trg"), corpus(lines, seed)):
            files[part, side] = tmp_path / f"{part}.{side}"
            files[part, side].write_text("".join(line + "\n" for line in text), encoding="utf-8")
    side = {"embedding_dim": 16, "hidden_size": 16}
    return {
        "name": "toy", "device": "cpu", "threads": 1,
        "data": {
            "train": [{side: files["train", side] for side in ("src", "trg")}],
            "dev": {side: files["dev", side] for side in ("src", "trg")},
            "tokenizer": {"kind": "word"},
        },
        "model": {"encoder": side, "decoder": {**side, "readout_size": 16}, "attention": {"size": 16}},
        "training": {
            "model_dir": tmp_path / "run", "max_steps": 60, "batch_type": "sentence", "batch_size": 32,
            "learning_rate": 0.01, "validation_every": 20, "logging_every": 10,
        },
    }  # fmt: skip


def test_the_rows_of_a_training_reach_callbacks_and_history(config, sources, capfd):
    rows = []
    training = regard.train(config, callbacks=[lambda training, row: rows.append(row)])
    assert not training.is_running and not training.was_stopped
    assert [row["step"] for row in training.history] == [10, 20, 30, 40, 50, 60]
    assert [row["step"] for row in training.validations] == [20, 40, 60]
    assert sum(row["best"] for row in training.validations) >= 1
    assert [row for row in rows if "best" not in row] == training.history
    assert [row["step"] for row in rows if "best" in row] == [20, 40, 60]
    assert training.history[-1]["loss"] < training.history[0]["loss"]
    assert all(training.model(device="cpu", threads=1).translate(sources))
    assert "60" in capfd.readouterr().err  # the messages of the process


def test_a_stopped_training_resumes_to_the_same_bytes(config, tmp_path):
    long = {"training.max_steps": 100_000}
    stopped = regard.train(config, long, callbacks=[lambda training, row: row["step"] >= 20], quiet=True)
    assert stopped.was_stopped and "stopped" in repr(stopped)
    last = stopped.history[-1]["step"]
    assert 20 <= last < 100_000
    end = {"training.max_steps": last + 40}
    resumed = regard.train(config, end, quiet=True)
    whole = regard.train(config, {**end, "training.model_dir": tmp_path / "whole"}, quiet=True)
    assert not resumed.was_stopped
    assert resumed.history[-1]["step"] == last + 40
    assert [row["step"] for row in resumed.history] == [row["step"] for row in whole.history]
    weights = [(each.model_dir / "last/model.safetensors").read_bytes() for each in (whole, resumed)]
    assert weights[0] == weights[1]


def test_an_exception_of_a_callback_stops_the_training_and_is_raised(config):
    def fail(training, row):
        raise KeyError(row["step"])

    with pytest.raises(KeyError, match="10"):
        regard.train(config, {"training.max_steps": 100_000}, callbacks=[fail], quiet=True)
    assert regard.train(config, {"training.max_steps": 60}, quiet=True).history[-1]["step"] >= 10  # no process is left


def test_a_training_runs_beside_the_caller_until_it_is_stopped(config, capfd):
    training = regard.train(config, {"training.max_steps": 100_000}, wait=False, quiet=True)
    assert training.is_running and "running" in repr(training)
    training.stop()
    assert training.wait().was_stopped
    assert capfd.readouterr().err == ""


def test_fresh_and_init_from_are_those_of_the_program(config, run_folder):
    regard.train(config, {"training.max_steps": 20}, quiet=True)
    rows = []
    again = regard.train(config, {"training.max_steps": 10}, fresh=True, init_from=run_folder, quiet=True,
                         callbacks=[lambda training, row: rows.append(row)])  # fmt: skip
    assert [row["step"] for row in again.history] == [10]
    assert rows == [again.validations[0], *again.history, *again.validations[1:]]  # the first is of the given model
    assert again.history[0]["loss"] < 2  # that of a trained model


@pytest.mark.parametrize("overrides, error, message", [
    ({"training.batch_sizes": 3}, regard.ConfigError, "did you mean|unknown key"),
    ({"data.train.0.src": "nothing.en"}, (regard.InputError, regard.EnvironmentError), "nothing.en"),
    ({"device": "cuda:77"}, regard.Error, "cuda"),
])  # fmt: skip
def test_a_failure_of_the_program_is_an_exception(overrides, error, message, config):
    with pytest.raises(error, match=message):
        regard.train(config, overrides, quiet=True)


def test_a_file_and_lists_are_configurations_too(config, tmp_path):
    import json

    path = tmp_path / "toy.yaml"
    path.write_text(json.dumps(config, default=str), encoding="utf-8")
    overrides = {"data.tokenizer.user_symbols": ["<x>", "<y>"], "training.max_steps": 10}
    training = regard.train(path, overrides, quiet=True)
    assert "<y>" in (training.model_dir / "config.yaml").read_text(encoding="utf-8")


def test_the_program_of_the_package_runs_and_passes_its_exit_code():
    run = lambda *words: subprocess.run([sys.executable, "-m", "regard", *words], capture_output=True, text=True)
    assert run("--version").stdout.startswith(f"regard {regard.__version__}")
    assert run("train", "-c", "nothing.yaml").returncode == 2


def test_import_does_not_load_torch():
    program = "import sys, regard; assert 'torch' not in sys.modules; regard.Model; assert 'torch' in sys.modules"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
