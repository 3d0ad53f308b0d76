"""Installs other toolkits for comparison, each in its own virtual environment under build/peers.

An environment is created on first use, from the Python registry that pip is configured for. On a machine
without a GPU, set PIP_EXTRA_INDEX_URL to PyTorch's index of CPU wheels to save gigabytes. If an
environment cannot be created, its rows are left out.
"""

import shutil
import sys

import peer_ctranslate2
import peer_joeynmt
import peer_opennmt
from programs import timed
from project import BUILD, Failure, warn

TORCH = "torch==2.13.0"  # installed first, and pinned in each later step so that nothing replaces it
FOLDER = BUILD / "peers"
TRAINERS = {"joeynmt": peer_joeynmt, "opennmt": peer_opennmt}
PEERS = {"ctranslate2": peer_ctranslate2, **TRAINERS}


def environment(name):
    """Returns the Python of a peer's environment, which is created if needed; None if that fails."""
    folder = FOLDER / name
    python = folder / "bin" / "python"
    torch = [[TORCH]] if name in TRAINERS else []
    steps = [*torch, *PEERS[name].PACKAGES]
    wanted = "\n".join(" ".join(step) for step in steps)
    stamp = folder / "installed"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    warn(f"installing {PEERS[name].TITLE} into {folder}; this takes minutes")
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    log = folder.with_suffix(".log")
    pip = [python, "-m", "pip", "install", "--quiet"]
    try:
        timed([sys.executable, "-m", "venv", folder], log)
        for packages in steps:
            pinned = [TORCH] if torch and "--no-deps" not in packages else []
            timed([*pip, *packages, *pinned], log)
    except Failure as failure:
        warn(f"{PEERS[name].TITLE} is left out: {failure}")
        return None
    stamp.write_text(wanted, encoding="utf-8")
    return python
