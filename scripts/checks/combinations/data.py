"""The tiny data of each world, and its configuration."""

import math
import random
import struct
import wave

WORDS = {
    "the": "le", "cat": "chat", "dog": "chien", "bird": "oiseau", "sees": "voit", "hears": "entend", "a": "un",
    "small": "petit", "old": "vieux", "and": "et", "here": "ici", ".": ".",
    "Anna Bo Cy": "Anna Bo Cy",  # a common substring, for data.hallucination
}  # fmt: skip
RATE = 8000
SIZES = {"train": 40, "dev": 9}

CONFIGURATION = """
name: combination
device: cpu
threads: 2
data:
  train: [{{src: {folder}/train.{source}, trg: {folder}/train.trg}}{second}]
  dev: {{src: {folder}/dev.{source}, trg: {folder}/dev.trg}}
  tokenizer: {{kind: word}}
model:
  encoder: {{embedding_dim: 8, hidden_size: 8}}
  decoder: {{embedding_dim: 8, hidden_size: 8}}
training: {{batch_type: sentence, batch_size: 8, learning_rate: 0.01, logging_every: 1, show_examples: 0}}
search: {{beam_size: 4, max_output_length: 12}}
"""


def write_data(world, folder, program):
    """Writes the texts of a world, and returns the path of its configuration."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(7)
    for name, size in SIZES.items():
        pairs = [draw.choices(list(WORDS.items()), k=draw.randint(2, 7)) for _ in range(size)]
        write(folder / f"{name}.trg", [" ".join(target for _, target in pair) for pair in pairs])
        if world == "text":
            sources = [" ".join(source for source, _ in pair) for pair in pairs]
        elif world == "numbers":
            sources = [" ".join(f"{ord(s[0]) % 7 / 7:.2f},{len(s) / 5:.1f}" for s, _ in pair) for pair in pairs]
        else:
            sources = [str(write_sound(folder / f"{name}-{i}.wav", pair)) for i, pair in enumerate(pairs)]
        write(folder / f"{name}.src", sources)
    if world == "sound":
        common = ["--rate", RATE, "--bins", 8, "--window", 25, "--hop", 20]
        for name in SIZES:
            features = folder / f"{name}.safetensors"
            program("features", "-i", folder / f"{name}.src", "-o", features, *common)
    config = folder / "base.yaml"
    source = "safetensors" if world == "sound" else "src"
    copied = f", {{src: {folder}/train.src, trg: {folder}/train.src}}" if world == "text" else ""  # for data.noise
    config.write_text(CONFIGURATION.format(folder=folder, source=source, second=copied), encoding="utf-8")
    return config


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_sound(path, pair):
    """Writes a tone for each word, between 30 and 90 ms long."""
    samples = []
    for word, _ in pair:
        for n in range(RATE * (30 + 10 * (len(word) % 7)) // 1000):
            samples.append(int(8000 * math.sin(n * 0.05 * (1 + ord(word[0]) % 13))))
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(RATE)
        sound.writeframes(struct.pack(f"<{len(samples)}h", *samples))
    return path
