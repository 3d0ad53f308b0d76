"""Checks that TensorBoard reads the event files of training.tensorboard.

Trains a run, kills and resumes it, reads it with TensorBoard's EventAccumulator, and compares the values with train.jsonl
and validations.tsv. With RUN, compares existing runs instead. Installs TensorBoard from the package registry into
build/tensorboard.
"""

import os
import pathlib
import shutil
import subprocess
import time

import environments
import project
from project import BUILD, CHECK_FAILED, REGARD, ROOT, Failure, read, regard

HERE = pathlib.Path(__file__).resolve().parent
RUN = BUILD / "tensorboard" / "run"
TRAIN = (
    "train", "-c", "configs/quickstart.yaml", f"training.model_dir={RUN}", "training.tensorboard=true",
    "training.max_steps=400", "training.logging_every=10", "training.save_every=70",
    "training.validation_unit=steps", "training.validation_every=100",
)  # fmt: skip


def train_with_a_kill():
    shutil.rmtree(RUN, ignore_errors=True)
    with subprocess.Popen([REGARD, *TRAIN], cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        while '"step":190' not in read(RUN / "train.jsonl"):
            if process.poll() is not None:
                raise Failure(CHECK_FAILED, f"the training ended early, with exit code {process.returncode}")
            time.sleep(0.2)
        process.kill()
    regard(*TRAIN)


def main():
    parser = project.parser_of("scripts/check.sh tensorboard", __doc__)
    parser.add_argument("runs", nargs="*", metavar="RUN", help="run folders to compare instead")
    runs = [pathlib.Path(os.environ["CALLED_FROM"]) / run for run in parser.parse_args().runs]
    project.need_regard()
    python = environments.python_with(BUILD / "tensorboard" / "environment", [["tensorboard"]])
    if not runs:
        train_with_a_kill()
    done = subprocess.run([python, HERE / "reads.py", *(runs or [RUN])], check=False)
    if done.returncode != 0:
        raise Failure(CHECK_FAILED, "TensorBoard reads something else")


project.run(main)
