"""score.py MODEL SOURCE TARGET COUNT: what forward.py makes of the first COUNT pairs, as JSON.

Runs in the environment that __main__.py makes. The model is loaded by the lines of docs/python.md
themselves, so that they cannot go stale.
"""

import json
import pathlib
import re
import sys

import torch

import forward

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"
END = 3


def load(folder):
    """The names that the page's first block of Python defines, with this folder in place of its own."""
    block = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)[1]
    code, places = re.subn(r'"runs/mine/best"', repr(str(folder)), block)
    if places != 1:
        sys.exit(f"{PAGE}: the first block of Python does not name runs/mine/best")
    names = {}
    exec(compile(code, str(PAGE), "exec"), names)  # our own page
    return names


def words(pieces, log_p):
    """Of each word and </s>: a word's pieces begin with its blank."""
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
