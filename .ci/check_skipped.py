"""Compares the tests that were skipped with tests/skipped.txt: check_skipped.py RESULTS.xml (of ctest --output-junit)."""

import fnmatch
import pathlib
import sys
import xml.etree.ElementTree

root = pathlib.Path(__file__).resolve().parents[1]
lines = (root / "tests" / "skipped.txt").read_text(encoding="utf-8").splitlines()
allowed = [line for line in lines if line and not line.startswith("#")]
cases = list(xml.etree.ElementTree.parse(sys.argv[1]).iter("testcase"))
skipped = [case.get("name").split("  # ")[0] for case in cases if case.get("status") in ("notrun", "disabled")]
unexpected = [name for name in skipped if not any(fnmatch.fnmatchcase(name, pattern) for pattern in allowed)]
for name in unexpected:
    print(f"{name} was skipped, and tests/skipped.txt does not say why")
print(f"{len(cases)} tests, {len(skipped)} skipped, {len(unexpected)} of them not in tests/skipped.txt")
sys.exit(1 if unexpected or not cases else 0)
