"""Writes a Transformer of regard as a model of CTranslate2, with its tokenizers and a program that translates.

    scripts/export_ctranslate2.sh runs/mine exported --quantization int8
    python3 exported/translate.py <source >translation

MODEL is a run folder (its best model, else its last) or a model folder. docs/export.md says what is exported.
--check trains small models of several kinds and compares the translations of regard and CTranslate2. --measure
compares speed and size, on Multi30k.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import check
import environments
import measure
import project
from project import BUILD, USAGE_ERROR, Failure

HERE = pathlib.Path(__file__).resolve().parent
WORK = BUILD / "export_ctranslate2"
PACKAGES = [["ctranslate2==4.8.5", "sentencepiece==0.2.0", "safetensors==0.8.0", "PyYAML==6.0.4"]]
QUANTIZATIONS = (
    "float32", "int8", "int8_float32", "int8_float16", "int8_bfloat16", "int16", "float16", "bfloat16",
)  # fmt: skip


class Exporter:
    """Exports models with CTranslate2 in its own Python environment."""

    def __init__(self):
        self.work = WORK
        self.python = environments.python_with(WORK / "python", PACKAGES)

    def export(self, model, output, quantization="float32", replace=False):
        """Writes the folder `output`. Raises Failure if it exists and is not to be replaced, or if CTranslate2
        cannot represent the model."""
        folder = project.model_folder(model)
        is_export = (output / "regard.json").is_file() and (output / "model.bin").is_file()
        if output.exists() and not (is_export and replace):
            hint = "pass --force to replace it" if is_export else "name a new folder"
            raise Failure(USAGE_ERROR, f"{output}: the output folder exists; {hint}")
        part = output.with_name(output.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        command = [self.python, HERE / "convert.py", folder, part, quantization]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            shutil.rmtree(part)
            raise Failure(done.returncode, done.stderr.strip())
        sys.stderr.write(done.stderr)
        if output.exists():
            shutil.rmtree(output)
        part.rename(output)


def arguments():
    parser = project.parser_of("scripts/export_ctranslate2.sh", __doc__)
    parser.add_argument(
        "model", nargs="?", metavar="MODEL", help="run folder or model folder; --measure trains one if it is missing"
    )
    parser.add_argument("output", nargs="?", metavar="OUTPUT", help="folder to write")
    parser.add_argument(
        "--quantization", choices=QUANTIZATIONS, default="float32", help="numbers that the weights are stored in"
    )
    parser.add_argument("--force", action="store_true", help="replace an existing export")
    parser.add_argument("--check", action="store_true", help="compare the translations of small models")
    parser.add_argument("--lines", type=int, default=200, help="lines that --check translates; default: 200")
    parser.add_argument("--measure", action="store_true", help="measure speed and size on Multi30k")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of --measure; default: 5")
    parser.add_argument("--write", action="store_true", help="also write the figures of --measure into docs/export.md")
    options = parser.parse_args()
    if (options.output is None) == (not (options.check or options.measure)):
        parser.error("expected MODEL and OUTPUT, or --check, or --measure")
    return options


def main():
    options = arguments()
    exporter = Exporter()
    if options.check:
        check.main(exporter, options.lines)
    if options.measure:
        measure.main(exporter, options)
    if options.output:
        caller = pathlib.Path(os.environ["CALLED_FROM"])
        output = caller / options.output
        exporter.export(caller / options.model, output, options.quantization, options.force)
        size = sum(file.stat().st_size for file in output.iterdir())
        print(f"{options.output}: {options.quantization}, {size / 1e6:.1f} MB; python3 {options.output}/translate.py")


project.run(main)
