"""Translates with models that regard has trained, and scores translations.

    import regard

    model = regard.Model("runs/mine")
    model.translate(["They are watching ."], beam_size=5)

The computation is that of the program `regard`, in C++. docs/python.md of the repository has examples.

The first import loads PyTorch, because the package uses the LibTorch that PyTorch contains: exactly the version
that it was built with.
"""

try:
    import torch
except ModuleNotFoundError as error:
    raise ImportError(
        "regard uses the LibTorch of PyTorch, which is not installed here; install it, then install regard again"
    ) from error

from . import _build

if torch.__version__ != _build.torch_version:
    raise ImportError(
        f"regard was built with PyTorch {_build.torch_version}, but found PyTorch {torch.__version__}; "
        "install that version, or build regard again: pip install ./python in its repository"
    )

from .errors import CheckpointError, ConfigError, EnvironmentError, Error, InputError
from .metrics import MetricScore, evaluate
from .model import Hypothesis, Model, SelfAttention, Translation
from .plot import AttentionPlot, plot_attention
from .torch_model import TorchModel, to_torch

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
    "Translation",
    "evaluate",
    "plot_attention",
    "to_torch",
]
