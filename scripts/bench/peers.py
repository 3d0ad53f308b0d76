"""Installs other toolkits for comparison, each in its own virtual environment under build/peers.

An environment is created on first use, from the Python registry that pip is configured for. On a machine
without a GPU, set PIP_EXTRA_INDEX_URL to PyTorch's index of CPU wheels to save gigabytes. If an
environment cannot be created, its rows are left out.
"""

import environments
import peer_ctranslate2
import peer_joeynmt
import peer_opennmt
from project import BUILD, Failure, warn

TORCH = "torch==2.13.0"  # installed first, and pinned in each later step so that nothing replaces it
FOLDER = BUILD / "peers"
TRAINERS = {"joeynmt": peer_joeynmt, "opennmt": peer_opennmt}
PEERS = {"ctranslate2": peer_ctranslate2, **TRAINERS}


def environment(name):
    """Returns the Python of a peer's environment, which is created if needed; None if that fails."""
    torch = [[TORCH]] if name in TRAINERS else []
    packages = PEERS[name].PACKAGES
    pinned = [step if "--no-deps" in step or not torch else [*step, TORCH] for step in packages]
    try:
        return environments.python_with(FOLDER / name, [*torch, *pinned])
    except Failure as failure:
        warn(f"{PEERS[name].TITLE} is left out: {failure}")
        return None
