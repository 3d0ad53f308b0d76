"""Trains, translates with, and scores models of regard.

    import regard

    training = regard.train("mine.yaml")
    model = training.model()
    model.translate(["They are watching ."], beam_size=5)

The computation is that of the program `regard`, in C++. docs/python.md of the repository has examples.

The package uses the LibTorch that PyTorch contains: exactly the version that it was built with. PyTorch is loaded by
the first name that needs it, because that takes a second.
"""

from __future__ import annotations

import importlib
import importlib.util
import pathlib
import re
import sys
from typing import TYPE_CHECKING, Any

from . import _build

if TYPE_CHECKING:
    from .errors import CheckpointError, ConfigError, EnvironmentError, Error, InputError
    from .exporters import export
    from .metrics import MetricScore, evaluate
    from .model import Hypothesis, Model, SelfAttention, Translation
    from .plot import AttentionPlot, plot_attention
    from .torch_model import TorchModel, to_torch
    from .training import Training, train

_MODULES = {
    "errors": ("CheckpointError", "ConfigError", "EnvironmentError", "Error", "InputError"),
    "exporters": ("export",),
    "metrics": ("MetricScore", "evaluate"),
    "model": ("Hypothesis", "Model", "SelfAttention", "Translation"),
    "plot": ("AttentionPlot", "plot_attention"),
    "torch_model": ("TorchModel", "to_torch"),
    "training": ("Training", "train"),
}

__version__ = _build.version

__all__ = [
    "AttentionPlot",
    "CheckpointError",
    "ConfigError",
    "EnvironmentError",
    "Error",
    "Hypothesis",
    "InputError",
    "MetricScore",
    "Model",
    "SelfAttention",
    "TorchModel",
    "Training",
    "Translation",
    "evaluate",
    "export",
    "plot_attention",
    "to_torch",
    "train",
]


def _check_torch() -> None:
    """Raises ImportError unless PyTorch is installed in the version that the package was built with."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        raise ImportError(
            "regard uses the LibTorch of PyTorch, which is not installed here; install it, then install regard again"
        )
    text = pathlib.Path(found.origin).with_name("version.py").read_text(encoding="utf-8")
    version = re.search(r"^__version__ = ['\"]([^'\"]+)['\"]", text, re.M)
    name = version[1] if version else "of unknown version"
    if name != _build.torch_version:
        raise ImportError(
            f"regard was built with PyTorch {_build.torch_version}, but found PyTorch {name}; "
            "install that version, or build regard again: pip install ./python in its repository"
        )


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names:
            value = globals()[name] = getattr(importlib.import_module(f".{module}", __name__), name)
            return value
    raise AttributeError(f"module 'regard' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if "torch" not in sys.modules or sys.modules["torch"].__version__ != _build.torch_version:
    _check_torch()
