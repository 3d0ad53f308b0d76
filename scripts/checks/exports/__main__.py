"""Trains small models of many kinds, exports them by `regard export`, and compares the translations of each runtime with
those of `regard translate`, line by line: onnxruntime and CTranslate2 with greedy search and beam 5, transformers with
greedy search. All compute in float32 and must write the same text. Models that
a runtime cannot represent must be refused with a message that names the option.

--measure compares speed and size of regard and CTranslate2, on Multi30k.
"""

import pathlib

import measure
import pages
import project
from exports import VERSIONS, WORK, Exporter
from kinds import FORMATS, KINDS, SMALL
from project import CHECK_FAILED, ROOT, USAGE_ERROR, Failure, names_in, regard, warn

HERE = pathlib.Path(__file__).resolve().parent


def train(name, config, *overrides):
    """Trains a small model, unless it is there; returns its run folder."""
    folder = WORK / "models" / "-".join("".join(c if c.isalnum() else " " for c in name).lower().split())
    if not (folder / "best").exists():
        warn(f"training: {name}")
        regard("train", "--fresh", "--quiet", "-c", config, f"training.model_dir={folder}", *overrides)
    return folder


def by_regard(run, source, *options):
    """Returns the translations of a text in float32."""
    path = WORK / "source"
    path.write_text(source, encoding="utf-8")
    return regard("translate", "-m", run, "-i", path, "--precision", "fp32", "--quiet", *options).split("\n")[:-1]


def compare(exporter, name, run, to, source, tags):
    """Returns the number of equal lines for each beam size, and shows those that differ."""
    folder = run / to
    exporter.export(run, folder, to)
    if to == "onnx":
        exporter.python(HERE / "batches.py", folder)
    no_ratio = [] if to == "onnx" else ["--max-output-ratio", 0]  # which only the program of ONNX has
    equal = []
    for beam in (1,) if to == "huggingface" else (1, 5):  # its beam search ends by a rule of its own
        options = ["--beam-size", beam, *tags]
        ours, theirs = by_regard(run, source, *no_ratio, *options), exporter.translate(folder, source, *options)
        if len(ours) != len(theirs):
            raise Failure(CHECK_FAILED, f"{name}, {to}: found {len(theirs)} translations, expected {len(ours)}")
        wrong = [i for i, pair in enumerate(zip(ours, theirs)) if pair[0] != pair[1]]
        equal.append(len(ours) - len(wrong))
        for i in wrong[:3]:
            warn(f"{name}, {to}, beam {beam}, line {i + 1}:\n  regard  {ours[i]}\n  {to}  {theirs[i]}")
    return equal


def check_refused(exporter, name, model, to, option):
    try:
        exporter.export(model, WORK / "refused", to)
    except Failure as failure:
        if failure.code == USAGE_ERROR and option in str(failure):
            return
        raise Failure(CHECK_FAILED, f"{name}, {to}: expected a refusal that names {option}, found: {failure}") from failure
    raise Failure(CHECK_FAILED, f"{name}, {to}: was exported, expected a refusal")


def check(exporter, kinds, formats, count):
    text = (ROOT / "data" / "test.en").read_text(encoding="utf-8").split("\n")[: count - 2]
    source = "\n".join([*text, "", "A word that is new : ΟΔΟΣ ."]) + "\n"  # a blank line, and unknown letters
    wrong = []
    rows = []
    for name in kinds:
        kind = KINDS[name]
        run, cells = train(name, kind.config, *SMALL, *kind.overrides), []
        for to in formats:
            if option := kind.refused.get(to):
                check_refused(exporter, name, run, to, option)
                cells.append(f"refused: `{option}`")
                continue
            equal = compare(exporter, name, run, to, source, kind.tags)
            cells.append(", ".join(map(str, equal)))
            if min(equal) < count:
                wrong.append(f"{name} ({to})")
        rows.append([name, *cells])
        print(" | ".join(rows[-1]), flush=True)
    small = WORK / "quantized"
    regard("quantize", "--quiet", run, "-o", small)
    for to in formats:
        check_refused(exporter, "weights of 8 bits", small, to, "quantize")
    table = pages.table([f"of {count} lines equal: greedy, beam 5", *formats], rows)
    if wrong:
        raise Failure(CHECK_FAILED, f"other translations: {'; '.join(wrong)}")
    return f"{table}\n{', '.join(VERSIONS)}\n"


def main():
    parser = project.parser_of("scripts/check.sh exports", __doc__)
    parser.add_argument("--to", default="", help=f"some of: {','.join(FORMATS)}")
    parser.add_argument("--kinds", default="", help=f"some of: {'; '.join(KINDS)}; separated by semicolons")
    parser.add_argument("--lines", type=int, default=200, help="lines to translate; default: 200")
    parser.add_argument("--measure", metavar="RUN", nargs="?", const="", help="measure speed and size on Multi30k")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of --measure; default: 5")
    parser.add_argument("--write", action="store_true", help="also write the table into docs/export.md")
    options = parser.parse_args()
    exporter = Exporter()
    if options.measure is not None:
        measure.main(exporter, options)
        return
    kinds = [name.strip() for name in options.kinds.split(";") if name.strip()] or list(KINDS)
    text = check(exporter, kinds, names_in(options.to, list(FORMATS), "format"), options.lines)
    print(text)
    if options.write:
        pages.put(measure.PAGE, {"kinds": text})


project.run(main)
