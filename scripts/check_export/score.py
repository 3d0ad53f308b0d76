"""score.py MODEL SOURCE TARGET COUNT: prints the log-probabilities of forward.py for the first COUNT pairs.

Runs in the environment of __main__.py and prints JSON. The model is loaded by the code block of
docs/python.md itself, so that the block is tested.
"""

import json
import pathlib
import re
import sys

import torch

import forward

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"
END = 3  # id of </s>


def load(folder):
    """Runs the Python block of the page about models without regard with this folder; returns the names that it
    defines."""
    section = PAGE.read_text(encoding="utf-8").split("## A model without regard")[1]
    block = re.search(r"```python\n(.*?)```", section, re.S)[1]
    code, places = re.subn(r'"runs/mine/best"', repr(str(folder)), block)
    if places != 1:
        sys.exit(f"{PAGE}: expected runs/mine/best in the Python block of `A model without regard`")
    names = {}
    exec(compile(code, str(PAGE), "exec"), names)  # a page of this project
    return names


def words(pieces, log_p):
    """Returns log P of each word and of </s>. The first piece of a word begins with its blank."""
    sums = []
    for piece, value in zip(pieces, log_p):
        if not sums or piece.startswith("▁"):
            sums.append(0.0)
        sums[-1] += value
    return [*sums, log_p[-1]]


def main():
    folder, source_path, target_path, count = sys.argv[1:]
    loaded = load(folder)
    tokenizers = loaded["source"], loaded["target"]
    texts = [
        pathlib.Path(path).read_text(encoding="utf-8").splitlines()[: int(count)]
        for path in (source_path, target_path)
    ]
    scores = []
    with torch.inference_mode():
        for pair in zip(*texts):
            ids = [[*t.encode(line), END] for t, line in zip(tokenizers, pair)]
            logits = forward.logits(loaded["options"], loaded["tensors"], *ids)
            log_p = torch.log_softmax(logits, -1).gather(1, torch.tensor(ids[1])[:, None])[:, 0]
            pieces = tokenizers[1].encode(pair[1], out_type=str)
            scores.append(words(pieces, log_p.double().tolist()))
    print(json.dumps(scores))


if __name__ == "__main__":
    try:
        main()
    except forward.Unsupported as error:
        sys.exit(str(error))
