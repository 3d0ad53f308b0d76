"""Changes lines of the source, one at a time (an operator, a bound, a constant, a deleted call), builds the tests of that
part of the source, and counts the changes that they notice. A change that no test notices is a fault that could be
there. The changes are drawn at random; those of a seed are the same for everybody. The program works on a copy of the
commit in build-mutations/, keeps its results in docs/reliability/mutations.json, and goes on where it was stopped. A
change takes about a minute on two cores.
"""

import collections
import datetime
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import time

import project
from operators import changes_of
from pages import put, table
from project import CHECK_FAILED, ROOT, Failure, processor, warn

PARTS = ("kernels", "optim", "decoding", "training", "metrics", "checkpoint", "text")
CORE = ("metrics", "text")  # without LibTorch
# Tests of the whole program, for parts that tests of their own cover only in pieces: filters by test program. They run
# if the tests of the part notice nothing.
PROGRAM_TESTS = {
    "training": {"cli_tests": "Train.*:TrainResume.*:Transfer.*:Prepare.*", "gpu_tests": "GpuCounts.*"},
    "optim": {"gpu_tests": "GpuCounts.*:*GpuTraining*additive*"},
}
WORK = ROOT / "build-mutations"
SOURCE = WORK / "source"
BUILD = WORK / "build"
NOT_TRIED = "not tried again."  # ends the reason of a survivor that has a test since
PATIENCE = 900  # seconds for the tests of the whole program
RESULTS = ROOT / "docs" / "reliability" / "mutations.json"
PAGE = ROOT / "docs" / "reliability.md"


def output_of(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def candidates(part):
    """Returns all changes of the part, in a fixed order: file, number of the line, operator, old and new line."""
    found = []
    for path in sorted((SOURCE / "src" / part).rglob("*.cpp")) + sorted((SOURCE / "src" / part).rglob("*.h")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            for operator, changed in changes_of(line):
                found.append((path.relative_to(SOURCE).as_posix(), number, operator, line, changed))
    return found


def key_of(change):
    """Returns a name of the change that survives changes elsewhere in the file."""
    path, _, operator, line, changed = change
    return hashlib.sha256("\n".join((path, operator, line, changed)).encode()).hexdigest()[:12]


def targets_of(part):
    library = "core" if part in CORE else "torch"
    targets = [f"{library}_unit_tests", f"{library}_reference_tests"]
    return targets + ["disk_tests"] if part == "checkpoint" else targets


def filter_of(part):
    """Returns the filter of GoogleTest for the tests in tests/PART."""
    suites = set()
    folders = [part, "disk"] if part == "checkpoint" else [part]
    for folder in folders:
        for path in (SOURCE / "tests" / folder).rglob("*_test.cpp"):
            text = path.read_text(encoding="utf-8")
            suites.update(re.findall(r"^TEST(?:_[FP])?\(\s*(\w+),", text, re.M))
    return ":".join(f"{suite}.*:*/{suite}.*" for suite in sorted(suites))


def own_tests(part):
    return dict.fromkeys(targets_of(part), filter_of(part))


def prepare(commit):
    """Copies the commit and configures its build."""
    stamp = WORK / "commit"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != commit:
        shutil.rmtree(SOURCE, ignore_errors=True)
        SOURCE.mkdir(parents=True)
        with subprocess.Popen(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE) as archive:
            subprocess.run(["tar", "-x", "-m", "-C", SOURCE], stdin=archive.stdout, check=True)
        (SOURCE / ".venv").symlink_to(ROOT / ".venv")
        stamp.write_text(commit, encoding="utf-8")
    subprocess.run(
        ["cmake", "--preset", "release", "-B", BUILD], cwd=SOURCE, stdout=subprocess.DEVNULL, check=True
    )


def builds(targets):
    done = subprocess.run(
        ["ninja", "-C", BUILD, *targets], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return done.returncode == 0


def program_of(target):
    return BUILD / "tests" / ("gpu" if target == "gpu_tests" else "") / target


def run_tests(filters, patience):
    """Runs test programs with their filters. Returns "passed", "failed" or "timeout"."""
    for target, tests in filters.items():
        command = [program_of(target), f"--gtest_filter={tests}", "--gtest_brief=1", "--gtest_fail_fast"]
        try:
            done = subprocess.run(
                command, capture_output=True, timeout=patience, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"}
            )
        except subprocess.TimeoutExpired:
            return "timeout"
        if done.returncode != 0:
            return "failed"
    return "passed"


def try_change(change, patience):
    """Returns "noticed", "survived" or, if the changed source cannot be compiled, "invalid"."""
    path, number, _, line, changed = change
    part = path.split("/")[1]
    file = SOURCE / path
    before = file.read_text(encoding="utf-8")
    lines = before.splitlines(keepends=True)
    assert lines[number].rstrip("\n") == line
    lines[number] = changed + "\n"
    file.write_text("".join(lines), encoding="utf-8")
    try:
        if not builds(targets_of(part)):
            return "invalid"
        if run_tests(own_tests(part), patience) != "passed":
            return "noticed"
        more = PROGRAM_TESTS.get(part, {})
        if more and (not builds(["regard", "regard-torch", *more]) or run_tests(more, PATIENCE) != "passed"):
            return "noticed"
        return "survived"
    finally:
        file.write_text(before, encoding="utf-8")


def load():
    if not RESULTS.exists():
        return {"results": {}}
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def save(stored):
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def patience_of(part):
    """Runs the tests of the part without a change. Returns for how many seconds a changed source may run them."""
    if not builds(targets_of(part)):
        raise Failure(CHECK_FAILED, f"the tests of {part} cannot be built")
    began = time.monotonic()
    if run_tests(own_tests(part), None) != "passed":
        raise Failure(CHECK_FAILED, f"the tests of {part} fail without a change")
    return 30 + 5 * (time.monotonic() - began)


def put_result(change, patience, stored):
    path, number, operator, line, changed = change
    result = try_change(change, patience)
    stored["results"][key_of(change)] = {
        "part": path.split("/")[1], "file": path, "line": number + 1, "operator": operator, "before": line.strip(),
        "after": changed.strip(), "result": result, "commit": stored["commit"],
        "date": datetime.date.today().isoformat(),
    }  # fmt: skip
    save(stored)
    warn(f"{path}:{number + 1}: {operator}: {result}: {changed.strip()}")


def check_part(part, wanted, seed, stored):
    """Draws changes of the part until as many as wanted have a result."""
    order = candidates(part)
    random.Random(f"{seed} {part}").shuffle(order)
    results = stored["results"]
    counted, patience = 0, None
    for change in order:
        if counted >= wanted:
            return
        key = key_of(change)
        if key not in results:
            patience = patience or patience_of(part)
            put_result(change, patience, stored)
        counted += results[key]["result"] != "invalid"


def check_survivors(part, stored):
    """Tries the stored survivors without a reason again. Forgets those whose line is no longer there."""
    order = {key_of(change): change for change in candidates(part)}
    results = stored["results"]
    survivors = [
        key
        for key, r in results.items()
        if r["part"] == part and r["result"] == "survived" and r.get("why", NOT_TRIED).endswith(NOT_TRIED)
    ]
    patience = None
    for key in survivors:
        if results[key]["commit"] == stored["commit"]:
            continue
        if key not in order:
            warn(f"{results[key]['file']}:{results[key]['line']}: gone: {results[key]['before']}")
            del results[key]
            save(stored)
            continue
        patience = patience or patience_of(part)
        put_result(order[key], patience, stored)


def text_of(stored):
    """Returns the table and the list of survivors."""
    counts = {part: collections.Counter() for part in PARTS}
    for result in stored["results"].values():
        counts[result["part"]][result["result"]] += 1
    rows = []
    for part in (*PARTS, "all"):
        of_part = sum(counts.values(), collections.Counter()) if part == "all" else counts[part]
        valid = of_part["noticed"] + of_part["survived"]
        share = f"{100 * of_part['noticed'] / valid:.0f} %" if valid else "–"
        rows.append([part, valid, of_part["noticed"], of_part["survived"], share])
    results = list(stored["results"].values())
    dates = sorted(result["date"] for result in results)
    commits = sorted({result["commit"][:7] for result in results})
    lines = [
        f"{stored['processor']}, commits {', '.join(commits)}, {dates[0]} to {dates[-1]}, seed {stored['seed']}.",
        "",
        table(["part", "changes", "noticed", "survived", "noticed of all"], rows).rstrip("\n"),
    ]
    survivors = sorted((r for r in results if r["result"] == "survived"), key=lambda r: (r["file"], r["line"]))
    if survivors:
        lines += ["", "Not noticed (the lines are those of the commit):", ""]
        for r in survivors:
            why = f" {r['why']}" if r.get("why") else ""
            lines.append(f"- `{r['file']}:{r['line']}`, {r['operator']}: `{r['before']}` → `{r['after']}`.{why}")
    return "\n".join(lines)


def main():
    parser = project.parser_of("scripts/check.sh mutations", __doc__)
    parser.add_argument("--changes", type=int, default=22, help="changes of each part; default: 22")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", action="store_true", help="try the survivors again that have no reason, or a test since")
    parser.add_argument("--write", action="store_true", help="only write the table into docs/reliability.md")
    options = parser.parse_args()
    stored = load()
    if not options.write:
        processors = dict.fromkeys(filter(None, [*stored.get("processor", "").split("; "), processor()]))
        stored.update(commit=output_of("git", "rev-parse", "HEAD").strip(), seed=options.seed, processor="; ".join(processors))
        prepare(stored["commit"])
        for part in options.parts:
            if options.again:
                check_survivors(part, stored)
            else:
                check_part(part, options.changes, options.seed, stored)
    print(text_of(stored))
    if options.write:
        put(PAGE, {"mutations": f"\n{text_of(stored)}\n\n"})


project.run(main)
