"""Trains by several processes and writes the figures of docs/scaling.md.

    same   W processes of one thread beside one process of W threads: the losses of 200 steps
    kills  kills a random process at random moments: all must end within a minute, and the run must resume
    speed  steps of one process and of two, on this machine and over a limited link; the cost model
"""

import json
import pathlib
import random
import signal
import statistics
import tempfile
import time

import pages
import processes
import project
from project import CHECK_FAILED, ENVIRONMENT_ERROR, ROOT, Failure, machine, need_multi30k, warn

PAGE = ROOT / "docs" / "scaling.md"

# Everything that has a random stream or a state, in fp32 so that only the order of sums differs.
SAME = (
    "-c", "configs/quickstart.yaml", "training.precision=fp32", "training.max_steps=200", "training.epochs=0",
    "training.logging_every=1", "training.validation_unit=steps", "training.validation_every=100",
    "training.moving_average=0.99", "training.gradient_accumulation=2", "data.tokenizer.sampling=0.1",
)  # fmt: skip
KILLS = (
    "-c", "configs/quickstart.yaml", "threads=1", "training.epochs=0", "training.validation_unit=steps",
    "training.validation_every=50", "training.save_every=10", "training.batch_size=256", "training.max_steps=100000",
    "training.logging_every=5", "search.max_output_length=20",
)  # fmt: skip
SPEED = ("-c", "configs/bench.yaml", "training.max_steps=16", "training.logging_every=2", "data.dev.src=", "data.dev.trg=")
BATCH = 80  # sentences in a batch of configs/bench.yaml
RATES = (1000, 300)  # Mbit/s
ROUNDS = 3


def arguments():
    parser = project.parser_of("scripts/study.sh scaling", __doc__)
    parser.add_argument("verbs", nargs="+", choices=["same", "kills", "speed"], metavar="VERB")
    parser.add_argument("--kills", type=int, default=20, help="number of kills; default: 20")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random moments")
    parser.add_argument("--write", action="store_true", help="also write the figures into docs/scaling.md")
    return parser.parse_args()


def losses(run):
    lines = project.read(run / "train.jsonl").splitlines()
    return [json.loads(line)["loss"] for line in lines]


def same(options, work):
    """Compares the losses of several processes with those of one."""
    rows = []
    with processes.namespaces() as linked:
        for size in (2, 4):
            alone = work / f"alone{size}"
            processes.train(1, [*SAME, f"threads={size}", f"training.model_dir={alone}"], work / "log")
            expected = losses(alone)
            for link in (False, True) if linked and size == 2 else (False,):
                run = work / f"together{size}{link}"
                processes.train(size, [*SAME, "threads=1", f"training.model_dir={run}"], work / "log", link)
                found = losses(run)
                if len(found) != len(expected):
                    raise Failure(CHECK_FAILED, f"found {len(found)} losses, expected {len(expected)}")
                difference = max(abs(a - b) / b for a, b in zip(found, expected))
                between = "two network namespaces" if link else "loopback"
                rows.append([size, between, len(found), f"{difference:.1e}"])
                if difference > 1e-4:
                    raise Failure(CHECK_FAILED, f"{size} processes: the losses differ by {difference:.1e}")
    text = pages.table(["processes", "connected by", "steps", "largest relative difference of the losses"], rows)
    return text + ("" if linked else "\nThis user cannot create network namespaces.\n")


def wait_for(condition, seconds, what):
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > seconds:
            raise Failure(CHECK_FAILED, f"waited {seconds} seconds for {what}")
        time.sleep(0.002)
    return time.monotonic() - began


def kills(options, work):
    """Kills random processes at random moments."""
    moments = random.Random(options.seed)
    run = work / "killed"
    ends, steps, sizes = [], [], []
    for _ in range(options.kills):
        size = moments.choice((2, 3))
        started = processes.start(size, [*KILLS, f"training.model_dir={run}"], work / "log")
        before = project.read(run / "last" / "training.json")
        if moments.random() < 0.8:  # else: at any moment of the start
            moved_on = lambda: project.read(run / "last" / "training.json") != before  # noqa: E731
            ended = lambda: any(p.poll() is not None for p in started)  # noqa: E731
            wait_for(lambda: moved_on() or ended(), 120, "a checkpoint")
        time.sleep(moments.uniform(0, 3))
        victim = moments.randrange(size)
        if any(process.poll() is not None for process in started):
            raise Failure(CHECK_FAILED, f"a process ended by itself; see {work}/log")
        started[victim].send_signal(signal.SIGKILL)
        others = [process for process in started if process is not started[victim]]
        ends.append(wait_for(lambda: all(p.poll() is not None for p in others), 90, "the other processes"))
        for rank, process in enumerate(started):
            text = project.read(f"{work}/log.{rank}")
            if rank != victim and (process.returncode != ENVIRONMENT_ERROR or "process" not in text):
                raise Failure(CHECK_FAILED, f"process {rank} ended with {process.returncode}:\n{text[-500:]}")
        sizes.append(size)
        if state := project.read(run / "last" / "training.json"):
            steps.append(json.loads(state)["step"])
    if steps != sorted(steps):
        raise Failure(CHECK_FAILED, f"a checkpoint was lost: steps {steps}")
    last = work / "last"
    for size in (3, 1):
        arguments = [*KILLS, f"training.max_steps={steps[-1] + 20 * (4 - size)}", f"training.model_dir={run}"]
        processes.train(size, arguments, last)
    return (
        f"{options.kills} times, one of {min(sizes)} or {max(sizes)} processes was killed (SIGKILL) at a random moment; "
        f"the training came to step {steps[-1]}. The others ended after {statistics.median(ends):.1f} seconds (median), "
        f"{max(ends):.1f} at most, with a message and exit code {ENVIRONMENT_ERROR}. Each time the run resumed from its "
        "last checkpoint, with another number of processes when chance wanted it; in the end it went on with three "
        "processes, and then with one.\n"
    )


def seconds_of_step(run):
    """Returns the median seconds of a training step, without the first steps."""
    records = [json.loads(line) for line in project.read(run / "train.jsonl").splitlines()]
    pairs = list(zip(records[2:], records[3:]))
    return statistics.median((b["seconds"] - a["seconds"]) / (b["step"] - a["step"]) for a, b in pairs)


def megabytes_of_gradient(run):
    """Returns the size of the gradient, which is that of the weights in fp32."""
    return (run / "last" / "model.safetensors").stat().st_size / 1e6


def measure_steps(work):
    """Returns the seconds of a step by a name for each way to train, in turn over the rounds."""
    cases = {
        "1 × 1, half a batch": (1, ["threads=1", f"training.batch_size={BATCH // 2}"], None),
        "1 × 1": (1, ["threads=1"], None),
        "1 × 2": (1, ["threads=2"], None),
        "2 × 1": (2, ["threads=1"], None),
    }
    seconds = {}
    with processes.namespaces() as linked:
        if linked:
            cases |= {name_of(rate): (2, ["threads=1"], rate) for rate in (0, *RATES)}
        for round_number in range(ROUNDS):
            for name, (size, settings, rate) in cases.items():
                if rate is not None:
                    processes.limit(rate)
                run = work / f"speed{round_number}{len(seconds.get(name, []))}{size}{rate}{settings[0]}{len(settings)}"
                processes.train(size, [*SPEED, *settings, f"training.model_dir={run}"], work / "log", rate is not None)
                seconds.setdefault(name, []).append(seconds_of_step(run))
        megabytes = megabytes_of_gradient(run)
    return {name: statistics.median(values) for name, values in seconds.items()}, megabytes


def name_of(rate):
    return f"2 × 1, {f'{rate} Mbit/s' if rate else 'two network namespaces'}"


class CostModel:
    """The seconds of a step of W processes: fixed + sentences · each + V · work + max(0, R − hidden).

    V = 2 (W − 1) / W · bytes is what a process sends in a ring, R = V / bandwidth + 2 (W − 1) · latency. What the
    backward pass hides is at most `backward` of the time for the sentences."""

    backward = 0.5

    def __init__(self, seconds, megabytes):
        half, whole = seconds["1 × 1, half a batch"], seconds["1 × 1"]
        self.each = min(whole - half, whole / 2) / (BATCH / 2)
        self.fixed = whole - BATCH * self.each
        self.megabytes = megabytes
        self.work = max(0.0, seconds["2 × 1"] - self.fixed - self.each * BATCH / 2) / megabytes

    def seconds(self, size, sentences, megabits, latency=50e-6):
        compute = sentences * self.each
        sent = 2 * (size - 1) / size * self.megabytes
        transfer = sent * 8 / megabits + 2 * (size - 1) * latency
        return self.fixed + compute + sent * self.work + max(0.0, transfer - self.backward * compute)


def speed(options, work):
    """Measures steps and fits the cost model."""
    need_multi30k("train.en", "train.de")
    seconds, megabytes = measure_steps(work)
    alone = seconds["1 × 1"]
    model = CostModel(seconds, megabytes)
    rows = []
    for name, value in seconds.items():
        rate = next((rate for rate in RATES if name == name_of(rate)), None)
        predicted = f"{1000 * (model.seconds(2, BATCH / 2, rate)):.0f}" if rate else "–"
        rows.append([name, f"{1000 * value:.0f}", predicted, "–" if "half" in name else f"{alone / value:.2f}"])
    head = ["processes × threads", "step, ms", "by the model, ms", "faster than 1 × 1"]
    text = (
        f"The bench model, {megabytes:.0f} MB of gradient, {BATCH} sentences in a step, medians of {ROUNDS} rounds:\n\n"
        + pages.table(head, rows)
        + f"\nFrom the first two rows: a step costs {1000 * model.fixed:.0f} ms and {1000 * model.each:.2f} ms for each "
        "sentence, on one thread.\n\n"
        "The model's prediction for more processes of one thread, as the share of perfect scaling (tokens/s ÷ (W × tokens/s "
        "of one process)), with the batch of one process in each:\n\n"
    )
    head = ["W", *(f"{rate:,} Mbit/s" for rate in (100, 1000, 10_000, 100_000))]
    rows = [
        [size, *(f"{model.seconds(1, BATCH, 1e9) / model.seconds(size, BATCH, rate):.2f}" for rate in (100, 1000, 10_000, 100_000))]
        for size in (2, 4, 16, 64)
    ]
    return text + pages.table(head, rows)


def main():
    options = arguments()
    parts = {}
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        work = pathlib.Path(folder)
        for verb in dict.fromkeys(options.verbs):
            warn(verb)
            parts[verb] = {"same": same, "kills": kills, "speed": speed}[verb](options, work)
            parts[verb] = f"{parts[verb]}\nMachine: {machine()}.\n"
            print(parts[verb])
    if options.write:
        pages.put(PAGE, parts)


project.run(main)
