#!/usr/bin/env bash
# Checks that TensorBoard reads the event files of training.tensorboard: scripts/tensorboard.sh [RUN…]
# Trains a run, kills and resumes it, reads it with TensorBoard's EventAccumulator, and compares the values with
# train.jsonl and validations.tsv. With RUN, compares existing runs instead. Installs TensorBoard from PyPI into
# build/tensorboard.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly python=build/tensorboard/bin/python
if ! "$python" -c 'import tensorboard' 2>/dev/null; then
  python3 -m venv build/tensorboard
  "$python" -m pip install --quiet tensorboard
fi

runs=("$@")
if ((${#runs[@]} == 0)); then
  readonly run=build/tensorboard/run
  train() { # exec, so that $! is the process id of regard itself
    exec build/regard train -c configs/quickstart.yaml training.model_dir="$run" training.tensorboard=true \
      training.max_steps=400 training.logging_every=10 training.save_every=70 \
      training.validation_unit=steps training.validation_every=100 "$@" 2>/dev/null
  }
  rm -rf "$run"
  train --fresh &
  until grep -qs '"step":190' "$run/train.jsonl"; do sleep 0.2; done
  kill -KILL $!
  wait || true
  (train)
  runs=("$run")
fi
exec "$python" scripts/tensorboard_reads.py "${runs[@]}"
