"""Writes models for other runtimes: `regard export RUN --to onnx -o FOLDER`, or

    regard.export("runs/mine", "exported", to="onnx")

An export is a folder with the model, its tokenizers and a program that translates with them. docs/export.md says what
each runtime can represent.
"""

from __future__ import annotations

import importlib
import os
import pathlib
import shutil
from typing import Any

from ..errors import CheckpointError, ConfigError, EnvironmentError

__all__ = ["FORMATS", "export"]

FORMATS = {
    "ctranslate2": ("ctranslate2", "safetensors", "sentencepiece", "yaml"),
    "huggingface": ("numpy", "safetensors", "sentencepiece", "yaml"),
    "onnx": ("onnx", "safetensors", "sentencepiece", "yaml"),
}
"""The formats with the packages of Python that write them."""


def model_folder(folder: str | os.PathLike[str]) -> pathlib.Path:
    """Returns the model folder of a run (its best, else its last model), or the folder itself."""
    for place in (pathlib.Path(folder, name) for name in ("", "best", "last")):
        if (place / "model.safetensors").is_file():
            return place
    raise CheckpointError(f"{folder}: found no model.safetensors, expected a run folder or a model folder")


def need_packages(to: str) -> None:
    """Raises EnvironmentError if a package is missing."""
    missing = [name for name in FORMATS[to] if importlib.util.find_spec(name) is None]
    if missing:
        names = " ".join({"yaml": "PyYAML"}.get(name, name) for name in missing)
        raise EnvironmentError(f"export to {to}: found no {', '.join(missing)} in this Python; pip install {names}")


def export(model: str | os.PathLike[str], output: str | os.PathLike[str], *, to: str, force: bool = False,
           **options: Any) -> pathlib.Path:  # fmt: skip
    """Writes the folder `output` and returns its path.

    `to` is one of FORMATS. `force` replaces an earlier export. Option of ctranslate2: `quantization`, such as "int8".
    Raises ConfigError if the format cannot represent the model, with the options that do not fit, and if the folder
    exists; CheckpointError if there is no model; EnvironmentError if a package of Python is missing.
    """
    if to not in FORMATS:
        raise ConfigError(f"to: found {to}, expected one of: {', '.join(FORMATS)}")
    source, target = model_folder(model), pathlib.Path(output)
    need_packages(to)
    is_export = (target / "regard.json").is_file() and not (target / "manifest.json").exists()
    if target.exists() and not (force and is_export):
        hint = "pass --force to replace it" if is_export else "name a new folder"
        raise ConfigError(f"{target}: the output folder exists; {hint}")
    part = target.with_name(target.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        importlib.import_module(f".{to}", __name__).write(source, part, **options)
    except BaseException:
        shutil.rmtree(part)
        raise
    if target.exists():
        shutil.rmtree(target)
    part.rename(target)
    return target
