"""Measures `regard serve` under load, and attacks it.

    scripts/check.sh serve_load --measure        sentences a second and latency, beside `regard translate`
    scripts/check.sh serve_load --abuse 10       ten minutes of misuse, while 100,000 tagged requests get their answers
    scripts/check.sh serve_load --proxy          100,000 tagged requests and aborts through haproxy and one upstream connection

--measure needs wrk (Debian: apt-get install wrk) and Multi30k (scripts/fetch_multi30k.sh); without -m, it trains a
Transformer first. --proxy needs haproxy (apt-get install haproxy). --abuse and --proxy use the model of
scripts/quickstart.sh.
"""

import json
import pathlib
import shutil

import abuse
import measure
import pages
import project
from project import BUILD, CORES, ENVIRONMENT_ERROR, ROOT, Failure, machine, need_multi30k, small_transformer

WORK = BUILD / "serve_load"
PAGE = ROOT / "docs" / "serving.md"
IDLE = 10_000
SOURCE = ROOT / "data" / "multi30k" / "test_2016_flickr.en"


def arguments():
    parser = project.parser_of("scripts/check.sh serve_load", __doc__)
    parser.add_argument("-m", "--model", type=pathlib.Path, metavar="MODEL", help="run folder or model folder")
    parser.add_argument("--measure", action="store_true", help="measure speed and latency")
    parser.add_argument("--abuse", type=float, metavar="MINUTES", help="attack the server for so long")
    parser.add_argument("--proxy", action="store_true", help="send tagged requests through haproxy")
    parser.add_argument("--requests", type=int, default=100_000, help="tagged requests of --abuse and --proxy; default: 100000")
    parser.add_argument("--beam-size", type=int, default=5, help="of --measure; default: 5")
    parser.add_argument("--seconds", type=int, default=20, help="of each measurement; default: 20")
    parser.add_argument("--rounds", type=int, default=3, help="of --measure; default: 3")
    parser.add_argument("--write", action="store_true", help="also write the figures into docs/serving.md")
    options = parser.parse_args()
    if not options.measure and not options.proxy and options.abuse is None:
        parser.error("give --measure, --abuse MINUTES or --proxy")
    return options


def measured(options):
    if not shutil.which("wrk"):
        raise Failure(ENVIRONMENT_ERROR, "wrk is missing; install it (Debian: apt-get install wrk)")
    need_multi30k(SOURCE.name)
    run = options.model or WORK / "run"
    if not options.model:
        small_transformer(run)
    batch, served = measure.measure(run, SOURCE, WORK, CORES, options.beam_size, options.seconds, options.rounds)
    rows = [["`regard translate`, batches of 64", f"{batch:.0f}", "1.00", "–", "–", "–"]]
    for (active, idle), figures in served.items():
        title = f"`regard serve`, {active} connection{'s' if active > 1 else ''}" + (f" and {idle} idle ones" if idle else "")
        latency = [f"{figures[p]:.0f}" for p in ("p50", "p95", "p99")]
        rows.append([title, f"{figures['speed']:.0f}", f"{figures['speed'] / batch:.2f}", *latency])
    memory = measure.idle_memory(run, IDLE)
    head = ["", "sentences/s", "ratio", "p50, ms", "p95, ms", "p99, ms"]
    text = pages.table(head, rows) + (
        f"\n{machine()}, wrk on the same cores; a Transformer of 2.1 million parameters "
        f"(`configs/multi30k_transformer_fast.yaml`, 600 steps), the 1,000 lines of Multi30k's test of 2016, one in each "
        f"request, beam {options.beam_size}; medians of {options.rounds} rounds of {options.seconds} s in turn.\n\n"
        f"{IDLE:,} idle connections take {memory:.0f} MB.\n"
    )
    return text, {"batch": batch, "served": {f"{a}+{i}": figures for (a, i), figures in served.items()}, "idle_memory": memory}


def main():
    options = arguments()
    project.need_regard()
    WORK.mkdir(parents=True, exist_ok=True)
    if options.measure:
        text, figures = measured(options)
        print(text, json.dumps(figures), sep="\n")
        if options.write:
            pages.put(PAGE, {"load": text})
    model = options.model or ROOT / "runs" / "quickstart"
    if not options.measure and not model.exists():
        raise Failure(ENVIRONMENT_ERROR, f"{model} is missing; run scripts/quickstart.sh, or give a model with -m")
    runs = {}
    if options.abuse is not None:
        runs["abuse"] = lambda: abuse.run(model, ROOT / "data" / "test.en", WORK, options.requests, options.abuse)
    if options.proxy:
        runs["proxy"] = lambda: abuse.run_behind_proxy(model, ROOT / "data" / "test.en", WORK, options.requests)
    for name, measured_run in runs.items():
        figures = measured_run()
        text = abuse.describe(figures) + f"\n{machine()}; the model of scripts/quickstart.sh, greedy search.\n"
        print(text, json.dumps(figures), sep="\n")
        if options.write:
            pages.put(PAGE, {name: text})


if __name__ == "__main__":
    project.run(main)
