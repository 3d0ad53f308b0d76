"""Measures `regard translate` beside translate.py of the export: speed of whole programs from text to text, without
their start, and the size of what they need on disk."""

import json
import pathlib
import re
import statistics
import subprocess
import time

import pages
from exports import PYTHON, VERSIONS, WORK
from project import (
    ENVIRONMENT_ERROR,
    REGARD,
    ROOT,
    Failure,
    count_of,
    machine,
    model_folder,
    need_multi30k,
    regard,
    small_transformer,
)

PAGE = ROOT / "docs" / "export.md"
SOURCE = ROOT / "data" / "multi30k" / "test_2016_flickr.en"
BEAM = 5
THREADS = (1, 2)
# Packages that pip installs with ctranslate2 and sentencepiece; those of the conversion do not count.
RUNTIME_PACKAGES = ("ctranslate2*", "numpy*", "sentencepiece*", "yaml", "_yaml", "PyYAML*", "pyyaml*")


def size_of(paths):
    """Returns the bytes of files, and of all files in folders."""
    files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*"))]
    return sum(file.stat().st_size for file in files if file.is_file() and "__pycache__" not in file.parts)


def libraries_of_regard():
    """Returns the programs and the shared libraries that they load, without the C library."""
    found = {REGARD, REGARD.with_name("regard-torch")}
    for program in list(found):
        said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for path in re.findall(r"=> (/\S+)", said):
            if not re.match(r"lib(c|m|dl|rt|pthread)\.so", pathlib.Path(path).name):
                found.add(pathlib.Path(path).resolve())
    return found


def seconds(exporter, command, source, work):
    """Returns the wall time of a program; its translations go into work / output."""
    began = time.perf_counter()
    with open(source, "rb") as text, open(work / "output", "wb") as output:
        done = subprocess.run(list(map(str, command)), stdin=text, stdout=output, stderr=subprocess.PIPE, env=exporter.variables, check=False)
    if done.returncode != 0:
        raise Failure(ENVIRONMENT_ERROR, f"{command[0]} ended with {done.returncode}: {done.stderr.decode()[-500:]}")
    return time.perf_counter() - began


def pieces(exporter, run, text):
    """Returns the number of tokens of translations, without </s>."""
    code = (
        "import sys, sentencepiece as s; p = s.SentencePieceProcessor(model_file=sys.argv[1]);"
        "print(sum(map(len, p.encode(sys.stdin.read().splitlines()))))"
    )
    command = [PYTHON, "-c", code, model_folder(run) / "source.model"]
    return int(subprocess.run(list(map(str, command)), input=text, capture_output=True, text=True, check=True).stdout)


def programs(exporter, run, threads):
    """Yields title and command of each program."""
    for precision in ("fp32", "int8"):
        command = [REGARD, "translate", "-m", run, "--precision", precision, "--threads", threads, "--quiet"]
        yield f"regard, {precision}", [*command, "--beam-size", BEAM, "--batch-size", 64]
    for quantization in ("float32", "int8"):
        folder = WORK / "measure" / quantization
        command = [PYTHON, folder / "translate.py", "--threads", threads]
        yield f"CTranslate2, {quantization}", [*command, "--beam-size", BEAM, "--batch-size", 64]


def can_run(exporter, command, source, work):
    """False if the processor lacks the instructions of this precision of regard."""
    try:
        seconds(exporter, command, source, work)
    except Failure as failure:
        if "found int8, which needs a processor" not in str(failure):
            raise
        return False
    return True


def measure(exporter, run, work, rounds):
    """Returns lines a second (median of the rounds) by title and threads, and the translations by title. A precision
    that the processor lacks is left out."""
    one_line = work / "one_line"
    one_line.write_text(SOURCE.read_text(encoding="utf-8").split("\n")[0] + "\n", encoding="utf-8")
    count = len(SOURCE.read_text(encoding="utf-8").split("\n")) - 1
    found, texts = {}, {}
    cases = [
        (title, threads, command) for threads in THREADS for title, command in programs(exporter, run, threads)
    ]
    cases = [case for case in cases if can_run(exporter, case[2], one_line, work)]
    for _ in range(rounds):
        for title, threads, command in cases:
            start = seconds(exporter, command, one_line, work)
            whole = seconds(exporter, command, SOURCE, work)
            found.setdefault((title, threads), []).append(count / (whole - start))
            texts[title] = (work / "output").read_text(encoding="utf-8")
    return {case: statistics.median(speeds) for case, speeds in found.items()}, texts, count


def main(exporter, options):
    need_multi30k(SOURCE.name)
    work = WORK / "measure"
    work.mkdir(parents=True, exist_ok=True)
    run = pathlib.Path(options.measure) if options.measure else work / "run"
    if not options.measure:
        small_transformer(run)
    small = work / "quantized"
    regard("quantize", "--quiet", run, "-o", small)
    for quantization in ("float32", "int8"):
        exporter.export(run, work / quantization, "ctranslate2", "--quantization", quantization)

    speeds, texts, count = measure(exporter, run, work, options.rounds)
    tokens = {title: pieces(exporter, run, text) for title, text in texts.items()}
    lines = {title: text.split("\n")[:-1] for title, text in texts.items()}
    equal = {title: sum(map(str.__eq__, lines["regard, fp32"], text)) for title, text in lines.items()}
    of_model = ("config.yaml", "manifest.json", "model.safetensors", "source.model", "target.model")
    sizes = {
        "regard, fp32": size_of(path for name in of_model if (path := model_folder(run) / name).is_file()),
        "regard, int8": size_of(path for name in of_model if (path := small / name).is_file()),
        **{f"CTranslate2, {q}": size_of([work / q]) for q in ("float32", "int8")},
    }
    rows = []
    for title, size in sizes.items():
        numbers = [f"{speeds[title, t]:.0f}" if (title, t) in speeds else "–" for t in THREADS]
        of_text = [f"{tokens[title]:,}", f"{equal[title]:,}"] if title in tokens else ["–", "–"]
        rows.append([title, *numbers, *of_text, f"{size / 1e6:.1f}"])
    runtime = size_of(path for name in RUNTIME_PACKAGES for path in exporter.packages.glob(name))
    [version] = [name.partition("==")[2] for name in VERSIONS if name.startswith("ctranslate2==")]
    head = ["", *(f"lines/s, {count_of(t, 'thread')}" for t in THREADS), "tokens of the output", "lines as regard, fp32", "model, MB"]
    text = pages.table(head, rows) + (
        f"\n{machine()}, CTranslate2 {version}; {count:,} lines, beam {BEAM}, batches of 64, medians of "
        f"{options.rounds} rounds in turn. What the programs need besides the model: regard "
        f"{size_of(libraries_of_regard()) / 1e6:.0f} MB (two programs and their libraries), CTranslate2 "
        f"{runtime / 1e6:.0f} MB (Python packages) and Python.\n"
    )
    print(text)
    by_name = {f"{title}, {threads}": speed for (title, threads), speed in speeds.items()}
    print(json.dumps({"lines_per_second": by_name, "tokens": tokens, "equal": equal, "bytes": sizes}))
    if options.write:
        pages.put(PAGE, {"export": text})
