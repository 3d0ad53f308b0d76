#!/usr/bin/env bash
# Installs the Python package into a folder of its own, with the library of this build, and runs its tests. Skipped
# without the packages that scripts/setup.sh --python installs. usage: package.sh SOURCE_DIR BUILD_DIR
set -euo pipefail

readonly skipped=77

source_dir=$1
build_dir=$2
python=$source_dir/.venv/bin/python

skip() {
  echo "skipped: $*"
  exit "$skipped"
}

[[ -x $python ]] || skip "found no Python with PyTorch in .venv; run scripts/setup.sh --python"
missing=$("$python" - <<'PYTHON'
import importlib.util

names = ("torch", "pip", "nanobind", "scikit_build_core", "numpy", "pytest", "sentencepiece", "safetensors", "yaml")
print(*(name for name in names if importlib.util.find_spec(name) is None))
PYTHON
)
[[ -z $missing ]] || skip "found no $missing in .venv; run scripts/setup.sh --python"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation \
  --config-settings=cmake.define.REGARD_BUILD_FOLDER="$build_dir" --target "$work/site" "$source_dir/python"

cd "$work" # not the repository, whose python/regard has no extension module
env -u LD_LIBRARY_PATH PYTHONPATH="$work/site" PYTHONDONTWRITEBYTECODE=1 REGARD_SOURCE="$source_dir" \
  REGARD="$build_dir/regard" "$python" -m pytest -q -p no:cacheprovider --basetemp="$work/tmp" \
  --import-mode=importlib "$source_dir/tests/python" "${@:3}"
