"""`regard export` calls this program: python -m regard.exporters MODEL --to FORMAT -o FOLDER."""

from __future__ import annotations

import argparse
import sys

from ..errors import CheckpointError, ConfigError, EnvironmentError
from . import FORMATS, export

QUANTIZATIONS = ("float32", "int8", "int8_float32", "int8_float16", "int8_bfloat16", "int16", "float16", "bfloat16")
EXIT_CODES = {ConfigError: 2, CheckpointError: 5, EnvironmentError: 6}


def main() -> None:
    parser = argparse.ArgumentParser(prog="regard export")
    parser.add_argument("model")
    parser.add_argument("--to", choices=FORMATS, required=True)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--quantization", choices=QUANTIZATIONS)
    parser.add_argument("--force", action="store_true")
    o = parser.parse_args()
    options = {"quantization": o.quantization} if o.quantization else {}
    try:
        if options and o.to != "ctranslate2":
            raise ConfigError(f"--quantization: found --to {o.to}, expected ctranslate2, which alone reads it")
        folder = export(o.model, o.output, to=o.to, force=o.force, **options)
    except tuple(EXIT_CODES) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(next(code for kind, code in EXIT_CODES.items() if isinstance(error, kind)))
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{folder}: {size / 1e6:.1f} MB; python3 {folder}/translate.py", file=sys.stderr)


if __name__ == "__main__":
    main()
