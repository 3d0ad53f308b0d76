"""batches.py FOLDER: checks that the graphs of an ONNX export compute the same in a batch of sentences as for each alone."""

import pathlib
import sys

import numpy
import onnxruntime

LENGTHS = (9, 4, 7, 1)
STEPS = 3


def steps(encoder, decoder, sources):
    """Returns log P of the steps of a search that always goes on with the same tokens [sentences, STEPS, V]."""
    lengths = [len(source) for source in sources]
    padded = [source + [0] * (max(lengths) - len(source)) for source in sources]
    names = [each.name for each in encoder.get_outputs()]
    tensors = dict(zip(names, encoder.run(None, {"source": padded, "lengths": lengths})))
    inputs, outputs = ({each.name for each in decoder.get_inputs()}, [each.name for each in decoder.get_outputs()])
    found = []
    for position in range(STEPS):
        given = {"tokens": numpy.full(len(sources), 2 + 2 * position), "position": numpy.array(position)}
        step = dict(zip(outputs, decoder.run(None, tensors | {key: x for key, x in given.items() if key in inputs})))
        found.append(step.pop("log_p"))
        tensors |= {name.replace("next", "state"): tensor for name, tensor in step.items()}
    return numpy.stack(found, 1)


def main():
    folder = pathlib.Path(sys.argv[1])
    encoder, decoder = (onnxruntime.InferenceSession(folder / f"{name}.onnx") for name in ("encoder", "decoder"))
    random = numpy.random.default_rng(1)
    sources = [[*random.integers(4, 20, length - 1).tolist(), 3] for length in LENGTHS]
    together = steps(encoder, decoder, sources)
    for row, source in zip(together, sources):
        alone = steps(encoder, decoder, [source])[0]
        if not numpy.allclose(row, alone, atol=1e-4):
            sys.exit(f"a sentence of {len(source)} tokens: log P differs by {numpy.abs(row - alone).max()} in a batch")


main()
