"""`regard export` with its runtimes, in folders of their own below build/exports."""

import os
import shutil
import subprocess
import sys

from project import BUILD, CHECK_FAILED, ENVIRONMENT_ERROR, REGARD, ROOT, Failure, need_regard, warn

WORK = BUILD / "exports"
PYTHON = ROOT / ".venv" / "bin" / "python"  # with PyTorch
VERSIONS = ("ctranslate2==4.8.5", "sentencepiece==0.2.3", "safetensors==0.8.0", "PyYAML==6.0.4", "onnx==1.23.2",
            "onnxruntime==1.32.0", "transformers==5.24.0")  # fmt: skip


def pip(*arguments):
    command = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(ENVIRONMENT_ERROR, f"pip install {' '.join(map(str, arguments))}:\n{done.stderr.strip()[-1000:]}")


class Exporter:
    """Exports models, and translates with the exports. Installs the runtimes on first use, from the registry that pip
    is configured for, and the Python package of regard with the library of build/ each time, for which
    `scripts/setup.sh --python` must have been run."""

    def __init__(self):
        need_regard()
        self.packages, site = WORK / "packages", WORK / "site"
        stamp = self.packages / "installed"
        if not stamp.is_file() or stamp.read_text(encoding="utf-8") != "\n".join(VERSIONS):
            warn(f"installing {', '.join(VERSIONS)} into {self.packages}")
            shutil.rmtree(self.packages, ignore_errors=True)
            pip("--target", self.packages, *VERSIONS)
            stamp.write_text("\n".join(VERSIONS), encoding="utf-8")
        shutil.rmtree(site, ignore_errors=True)
        pip("--no-index", "--no-deps", "--no-build-isolation", f"--config-settings=cmake.define.REGARD_BUILD_FOLDER={BUILD}",
            "--target", site, ROOT / "python")  # fmt: skip
        self.variables = os.environ | {
            "PYTHONPATH": f"{self.packages}:{site}",
            "REGARD_PYTHON": str(PYTHON),
            "TRANSFORMERS_VERBOSITY": "error",
            "HF_HUB_OFFLINE": "1",
        }

    def export(self, model, output, to, *options):
        """Writes the folder `output`, also if it has an earlier export. Raises Failure if the model is refused."""
        command = [REGARD, "export", model, "--to", to, "-o", output, "--force", *options]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=self.variables, check=False)
        if done.returncode != 0:
            raise Failure(done.returncode, done.stderr.strip())
        sys.stderr.write(done.stderr)

    def python(self, program, *arguments, text=""):
        """Returns what a program prints that uses the runtimes."""
        command = [PYTHON, program, *arguments]
        done = subprocess.run(list(map(str, command)), input=text, capture_output=True, encoding="utf-8",
                              env=self.variables, check=False)  # fmt: skip
        if done.returncode != 0:
            raise Failure(CHECK_FAILED, f"{program}: {done.stderr.strip()[-2000:]}")
        return done.stdout

    def translate(self, folder, text, *options):
        """Returns the translations of a text by the program of an export."""
        return self.python(folder / "translate.py", *options, text=text).split("\n")[:-1]
