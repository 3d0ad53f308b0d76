"""Python environments for packages that regard itself does not need, each created on first use."""

import shutil
import subprocess
import sys

from project import ENVIRONMENT_ERROR, Failure, warn


def python_with(folder, steps):
    """Returns the Python of the virtual environment `folder`. Creates it if it has other packages than those of
    `steps`, each a list of arguments of `pip install`. The packages come from the registry that pip is configured
    for. Raises Failure if a step fails."""
    python = folder / "bin" / "python"
    stamp = folder / "installed"
    wanted = "\n".join(" ".join(step) for step in steps)
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    warn(f"installing {', '.join(word for step in steps for word in step if word[0] != '-')} into {folder}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in ([sys.executable, "-m", "venv", folder], *([*pip, *step] for step in steps)):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            last = "\n".join(done.stderr.strip().splitlines()[-5:])
            text = " ".join(map(str, command))
            raise Failure(ENVIRONMENT_ERROR, f"{text} ended with {done.returncode}:\n{last}")
    stamp.write_text(wanted, encoding="utf-8")
    return python
