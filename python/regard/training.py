"""Trains models with the program `regard train`, in a process of its own."""

from __future__ import annotations

import csv
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Union

from . import program
from .arguments import as_assignments
from .errors import CheckpointError, ConfigError, EnvironmentError, Error, InputError

if TYPE_CHECKING:
    from .model import Model

Row = dict[str, Any]
"""A logged step or a validation: the columns of train.jsonl or of validations.tsv, as docs/report.md names them."""
Callback = Callable[["Training", Row], Union[bool, None]]

_ERRORS = {2: ConfigError, 3: InputError, 5: CheckpointError, 6: EnvironmentError}
_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
_STOPPED = {128 + number for number in _SIGNALS} | {-number for number in _SIGNALS}  # the latter before it can save
_SECONDS_BETWEEN_LOOKS = 0.2


class Training:
    """A training in a process of its own. train() makes it.

    The process outlives this one: a notebook can be restarted, and train() with the same run folder resumes a training
    that has ended. Not thread-safe.
    """

    model_dir: pathlib.Path
    """The run folder."""

    def __init__(self, command: list[str], config: str, model_dir: pathlib.Path, quiet: bool, fresh: bool) -> None:
        self.model_dir = model_dir
        self._config, self._quiet = config, quiet
        # Rows after these steps are new; with `fresh`, those of files that are written from now on.
        known = {"train.jsonl": [], "validations.tsv": []} if fresh else self._rows()
        self._last_step = {name: max((row["step"] for row in rows), default=-1) for name, rows in known.items()}
        self._since = time.time_ns() if fresh else 0
        self._sizes: dict[str, int] = {}
        # A file and no pipe, which would break when this process ends.
        self._messages = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        with open(self._messages.fileno(), "a", closefd=False) as messages:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=messages, stderr=messages, start_new_session=True,
                env=program.environment(),
            )  # fmt: skip
        self._shown = 0

    @property
    def history(self) -> list[Row]:
        """The logged steps of the run, with those of earlier sessions: pandas.DataFrame(training.history)."""
        path = self.model_dir / "train.jsonl"
        if not path.exists():
            return []
        lines = path.read_text(encoding="utf-8").split("\n")[:-1]  # the last line may be incomplete
        return [json.loads(line) for line in lines]

    @property
    def validations(self) -> list[Row]:
        """The validations of the run; `best` is true for the one whose model is the best."""
        path, rows = self.model_dir / "validations.tsv", []
        if not path.exists():
            return []
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                if None in row.values():  # incomplete
                    break
                numbers = {key: float(value) for key, value in row.items() if key != "best" and value}
                whole = {key: int(numbers[key]) for key in ("step", "epoch") if key in numbers}
                rows.append({**numbers, **whole, "best": row["best"] == "*"})
        return rows

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def was_stopped(self) -> bool:
        """True if a signal or a callback has ended the training, which train() with the same run folder resumes."""
        return self._process.returncode in _STOPPED

    def stop(self) -> None:
        """Asks the process to save and to end. wait() waits for that."""
        if self.is_running:
            self._process.terminate()

    def wait(self, callbacks: Iterable[Callback] = ()) -> Training:
        """Waits for the end, shows the messages of the process on standard error, and calls each callback with this
        object and each new row, of logged steps and of validations (which have the key "best").

        The training is stopped if a callback returns True, if it raises, and by Ctrl-C. Raises ConfigError,
        InputError, CheckpointError, EnvironmentError or Error if the training fails.
        """
        callbacks = list(callbacks)
        try:
            while True:
                is_running = self.is_running
                self._show_messages()
                if any([callback(self, row) is True for row in self._new_rows() for callback in callbacks]):
                    self.stop()
                if not is_running:
                    break
                time.sleep(_SECONDS_BETWEEN_LOOKS)
        except BaseException:
            self.stop()
            self._process.wait()
            raise
        finally:
            if os.path.exists(self._config):
                os.remove(self._config)
        code = self._process.returncode
        if code != 0 and code not in _STOPPED:
            raise _ERRORS.get(code, Error)(self._reason(code))
        return self

    def model(self, **options: Any) -> Model:
        """Loads the best model so far, with the keywords of regard.Model."""
        from .model import Model

        return Model(self.model_dir, **options)

    def __repr__(self) -> str:
        state = "running" if self.is_running else "stopped" if self.was_stopped else "finished"
        return f"<regard.Training {str(self.model_dir)!r}, {state}>"

    def _rows(self) -> dict[str, list[Row]]:
        return {"train.jsonl": self.history, "validations.tsv": self.validations}

    def _new_rows(self) -> list[Row]:
        states = {name: path.stat() for name in self._last_step if (path := self.model_dir / name).exists()}
        sizes = {name: state.st_size for name, state in states.items() if state.st_mtime_ns >= self._since}
        if sizes == self._sizes:
            return []
        self._sizes, new = sizes, []
        for name, rows in self._rows().items():
            if name not in sizes:
                continue
            new += [row for row in rows if row["step"] > self._last_step[name]]
            self._last_step[name] = max([self._last_step[name], *(row["step"] for row in rows)])
        return sorted(new, key=lambda row: row["step"])

    def _show_messages(self) -> None:
        self._messages.seek(self._shown)
        text = self._messages.read()
        self._shown = self._messages.tell()
        if text and not self._quiet:
            sys.stderr.write(text)
            sys.stderr.flush()

    def _reason(self, code: int) -> str:
        self._messages.seek(0)
        found = re.findall(r"^error: (.*(?:\n(?!\w+: ).*)*)", self._messages.read(), re.M)
        return found[-1].strip() if found else f"regard train ended with exit code {code}"


def train(
    config: str | os.PathLike[str] | Mapping[str, Any],
    overrides: Mapping[str, object] | None = None,
    *,
    callbacks: Iterable[Callback] = (),
    fresh: bool = False,
    init_from: str | os.PathLike[str] | None = None,
    quiet: bool = False,
    wait: bool = True,
) -> Training:
    """Trains a model, or resumes the run of its folder, as `regard train` does, in a process of its own.

        training = regard.train("mine.yaml", {"training.learning_rate": 0.001})
        pandas.DataFrame(training.history).plot(x="step", y="loss")
        training.model().translate(["They are watching ."])

    `config` is the path of a configuration, or its content as a dict of sections. `overrides` has values by their
    whole keys. `fresh` deletes an existing run; `init_from` is a model to start from. Waits for the end as
    Training.wait() does, or returns at once if `wait` is false.

    Raises ConfigError for a wrong configuration, InputError for wrong data, CheckpointError for a damaged run,
    EnvironmentError if a file, device or memory is missing, and Error if the training diverges.
    """
    binary, assignments = str(program.path()), as_assignments(overrides or {})
    path = _written(config) if isinstance(config, Mapping) else os.fspath(config)
    words = ["-c", path, *assignments]
    command = [binary, "config", "print", *words]
    printed = subprocess.run(command, capture_output=True, encoding="utf-8", env=program.environment(), check=False)
    written = path if isinstance(config, Mapping) else ""
    found = re.search(r"^training:\n(?:  .*\n)*?  model_dir: (.*)$", printed.stdout, re.M)
    if printed.returncode != 0 or found is None:
        if written:
            os.remove(written)
        reason = printed.stderr.strip().removeprefix("error: ")
        raise _ERRORS.get(printed.returncode, Error)(reason)
    name = json.loads(found[1]) if found[1].startswith('"') else found[1]
    options = ["--fresh"] if fresh else []
    options += ["--init-from", os.fspath(init_from)] if init_from is not None else []
    training = Training([binary, "train", *options, *words], written, pathlib.Path(name), quiet, fresh)
    return training.wait(callbacks) if wait else training


def _written(config: Mapping[str, Any]) -> str:
    """Writes a configuration to a file, as JSON, which is YAML, and returns its path."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", prefix="regard-", delete=False, encoding="utf-8") as file:
        json.dump(config, file, default=os.fspath)
    return file.name
