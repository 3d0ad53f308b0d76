"""Measures BLEU by source length, with attention and with one fixed context, and writes docs/length_study.md.

The corpus is the bundled one (Bahdanau et al. 2015, Figure 2). Trains configs/quickstart.yaml and
quickstart_fixed_context.yaml if their runs do not exist, and translates both test sets.
"""

import json
import pathlib
import tempfile

import project
from cells import Study, short_parser_of
from project import ROOT, machine, regard

EDGES = "5,10,15,20,30,40,50"
SYSTEMS = {"quickstart": "attention", "quickstart_fixed_context": "fixed_context"}


def main():
    study = Study(short_parser_of("length", __doc__, "runs").parse_args(), "length_study")
    bleu = {}
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for side in ("en", "fr"):
            parts = [(ROOT / "data" / f"{part}.{side}").read_text(encoding="utf-8") for part in ("test", "test_long")]
            (work / f"test.{side}").write_text("".join(parts), encoding="utf-8")
        for config, system in SYSTEMS.items():
            run = study.folder / config
            regard("train", "-c", f"configs/{config}.yaml", f"training.model_dir={run}", *study.trial)
            regard("translate", "-m", run, "-i", work / "test.en", "-o", work / f"{system}.fr")
            scores = regard("evaluate", "-m", run, "-s", "data/test.en", "-r", "data/test.fr", "--force", "--json")
            bleu[system] = json.loads(scores)["bleu"]["score"]
        text = regard(
            "evaluate", "--hypotheses", work / "attention.fr", "-s", work / "test.en", "-r", work / "test.fr", "--force",
            "--by-length", EDGES, "--compare", work / "fixed_context.fr",
            "--by-length-svg", study.page.with_suffix(".svg"),
        )  # fmt: skip
    figures = f"""
```
{text[text.index("source words"):].rstrip()}
```

![BLEU by source length](length_study.svg)

On `data/test` alone, the test set of the quick start: BLEU {bleu["attention"]:.2f} with attention,
{bleu["fixed_context"]:.2f} with one fixed context.

{machine()}.
"""
    study.write({"length": figures})


project.run(main)
