"""Inputs that once never ended, were read wrongly, or stopped a training halfway."""

import hashlib
import json
import random
import struct

from workplace import (
    AS_TRANSFORMER,
    CHECKPOINT,
    INPUT,
    OK,
    USAGE,
    Row,
    Wrong,
    expect,
    expect_same_run,
    last_line,
)

QUICK = 5.0  # seconds within which a call must end


def with_empty_tensors(place, count):
    """Makes a model folder whose weights have `count` additional empty tensors."""
    folder = place.copy_of_model(f"model{count}")
    weights = folder / "model.safetensors"
    content = weights.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    for i in range(count):
        header[f"empty.{i}"] = {"dtype": "F32", "shape": [0], "data_offsets": [len(data), len(data)]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    weights.write_bytes(struct.pack("<Q", len(text)) + text + data)
    manifest = folder / "manifest.json"
    stamps = json.loads(manifest.read_text(encoding="utf-8"))
    stamps["files"][weights.name] = {
        "size": weights.stat().st_size,
        "sha256": hashlib.sha256(weights.read_bytes()).hexdigest(),
    }
    stamps["sha256"] = "0" * 64  # the hash of the manifest itself, with zeros in the place of the hash
    text = json.dumps(stamps, indent=2) + "\n"
    own_hash = hashlib.sha256(text.encode()).hexdigest()
    manifest.write_text(own_hash.join(text.rsplit("0" * 64, 1)), encoding="utf-8")
    return folder


def many_tensors(place):
    slowest = 0.0
    for count in (40_000, 170_000):
        folder = with_empty_tensors(place, count)
        for command in (["info", folder], ["translate", "-m", folder, "-i", place.text("dev.en")]):
            done = place.call_for([OK, CHECKPOINT], *command, seconds=30)
            expect(done.seconds < QUICK, f"{command[0]}, {count:,} tensors: {done.seconds:.1f} s")
            slowest = max(slowest, done.seconds)
    return Row("40,000 and 170,000 empty tensors in a safetensors header", "5, or 0", f"less than {QUICK:.0f} s")


def tiny_weights(place):
    both = [f"data.train.1.src={place.text('dev.en')}", f"data.train.1.trg={place.text('dev.fr')}"]
    faults, calls = [], 0
    for weight in ("1e-300", "5e-324", "1e-12"):
        for name, more in (
            ("alone", [f"data.train.0.weight={weight}"]),
            ("beside another", [*both, f"data.train.1.weight={weight}"]),
        ):
            for option in (["--dry-run"], ["training.max_steps=5"]):
                calls += 1
                try:
                    place.call_for([OK, USAGE], *place.training(f"run{calls}", *more, *option), seconds=10)
                except Wrong as fault:
                    faults.append(f"{weight} {name}, {option[0]}: {fault}")
    expect(not faults, f"{len(faults)} of {calls} calls; {faults[0] if faults else ''}")
    return Row("a corpus with `weight: 1e-300`, `5e-324`, `1e-12`", "0, or 2", "within ten seconds")


def sampled_too_long(place):
    sub_words = [
        "data.tokenizer.kind=bpe",
        "data.tokenizer.vocabulary_size=60",
        "data.tokenizer.sampling=0.5",
        "data.max_length=8",
        "search.max_output_length=8",
    ]
    learned = [
        f"model.{side}.{option}" for side in ("encoder", "decoder") for option in ("position=learned", "max_positions=9")
    ]
    kinds = {
        "transformer": [*AS_TRANSFORMER, *learned],
        "location": ["model.attention.kind=location", "model.attention.size=512", "model.attention.max_positions=9"],
    }
    faults = []
    for name, more in kinds.items():
        done = place.call(*place.training(name, *sub_words, *more))
        refused = done.code == USAGE and "max_positions" in done.err and not place.steps(place.folder / name)
        if done.code != OK and not refused:
            faults.append(f"{name}: exit code {done.code}: {last_line(done.err)}")
    expect(not faults, "; ".join(faults))
    return Row("sub-word sampling that makes sentences longer than `max_positions`", "0, or 2 at the start", "no run stops halfway")


def long_numbers(place):
    """Numbers written with thousands of digits are the same numbers; a line of many numbers is refused or read."""
    numbers = random.Random(3)

    def lines(count, digits):
        rows = [[round(numbers.random(), 4) for _ in range(4)] for _ in range(count)]
        source = [" ".join(f"{x:.4f}" + "0" * digits for x in row) for row in rows]
        order = [" ".join(map(str, sorted(range(4), key=row.__getitem__))) for row in rows]
        return source, order

    def write(name, source, order):
        for side, rows in (("en", source), ("fr", order)):
            (place.folder / f"{name}.{side}").write_text("\n".join(rows) + "\n", encoding="utf-8")

    source, order = lines(100, 0)
    write("short", source, order)
    longer = [" ".join(x + "0" * 3000 for x in line.split()) for line in source]
    write("long", longer, order)
    write("valid", source[:10], order[:10])
    write("long-valid", longer[:10], order[:10])

    def pointer(name, train, dev):
        data = [f"data.{key}.{side}={place.folder}/{file}.{kind}" for key, file in (("train.0", train), ("dev", dev))
                for side, kind in (("src", "en"), ("trg", "fr"))]
        more = ["model.encoder.numbers=1", "model.output.kind=pointer", "training.validation_every=60"]
        return place.call(*place.training(name, *data, *more))

    def is_refusal(done):
        return done.code == INPUT and ".en:" in done.err

    faults = []
    done = pointer("plain", "short", "valid")
    expect(done.code == OK, f"an undisturbed pointer: {last_line(done.err)}")
    for name, train, dev in (("train", "long", "valid"), ("validation", "short", "long-valid")):
        done = pointer(name, train, dev)
        if is_refusal(done):
            continue
        if done.code != OK:
            faults.append(f"{name}: exit code {done.code}: {last_line(done.err)}")
        else:
            expect_same_run(place.folder / name, place.folder / "plain", f"long lines in {name}")
    model = ["translate", "-m", place.folder / "plain", "-i"]
    short = place.call_for([OK], *model, place.folder / "valid.en").out
    done = place.call(*model, place.folder / "long-valid.en")
    if not is_refusal(done) and (done.code != OK or done.out != short or "are read" in done.err):
        faults.append(f"translate: exit code {done.code}: {last_line(done.err)}")
    many = place.folder / "many.en"
    many.write_text("0.1234567 " * 1500 + "\n", encoding="utf-8")
    done = place.call(*model, many)
    if not is_refusal(done) and (done.code != OK or "are read" in done.err):
        faults.append(f"1,500 numbers: exit code {done.code}: {last_line(done.err)}")
    expect(not faults, f"{len(faults)} faults; {faults[0] if faults else ''}")
    return Row("lines of numbers beyond 8,192 bytes, in training, validation, translation", "0, or 3 with file:line", "no number is cut")


ACCIDENTS = {
    "many-tensors": many_tensors,
    "tiny-weights": tiny_weights,
    "sampled-too-long": sampled_too_long,
    "long-numbers": long_numbers,
}
