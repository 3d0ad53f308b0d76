"""The extension module. PyTorch is imported before it, so that LibTorch is loaded once, from PyTorch."""

from __future__ import annotations

import torch  # noqa: F401

from . import _native

__all__ = ["_native"]
