"""Runs CTranslate2 on the Transformer of regard: `regard export` writes its weights in the format of
CTranslate2, so both compute the same translations. It supports no recurrent models.

One process loads the model and translates with each beam size, with as many translators of one thread as
there are threads. Its time is that of translate_batch() alone, after a warm-up: from sub-words to sub-words.
"""

import json

from cases import BEAM_ALPHA, DECODING_BATCH, MAX_LENGTH, Translated, join_pieces
from exports import Exporter
from project import ENVIRONMENT_ERROR, ROOT, Failure

TITLE = "CTranslate2 4.8.5"
PACKAGES = [["ctranslate2==4.8.5", "sentencepiece==0.2.0"]]
TYPES = ("int8", "float32")  # of its matrix products
INSIDE = ROOT / "scripts" / "bench" / "inside"


def convert(case, run):
    """Writes the best model of a run in the format of CTranslate2; returns its folder."""
    model = case.folder("ctranslate2")
    Exporter().export(run, model, "ctranslate2")
    return model


def translate(case, python, model, compute_type, beams, source, copies):
    """Translates the file `source`, which is in sub-words, `copies` times at once with each beam size."""
    outputs = {beam: case.work / f"ctranslate2.{compute_type}.{beam}" for beam in beams}
    task = {
        "model": str(model),
        "compute_type": compute_type,
        "threads": case.threads,
        "source": str(source),
        "copies": copies,
        "outputs": {beam: str(path) for beam, path in outputs.items()},
        "options": {
            "max_batch_size": DECODING_BATCH,
            "batch_type": "examples",
            "max_decoding_length": MAX_LENGTH,
            "length_penalty": BEAM_ALPHA,
        },
    }
    path = case.work / "ctranslate2.json"
    path.write_text(json.dumps(task), encoding="utf-8")
    answer = case.work / "ctranslate2.answer"
    command = [python, INSIDE / "run_ctranslate2.py", path]
    ran, log = case.run("ctranslate2", command, answer=answer)
    found = json.loads(answer.read_text(encoding="utf-8") or "{}")
    if len(found) != len(beams):
        raise Failure(ENVIRONMENT_ERROR, f"{TITLE} printed no times:\n{log[-500:]}")
    for file in outputs.values():
        join_pieces(file)
    return {
        beam: Translated(
            ran.peak_bytes, found[str(beam)]["seconds"], found[str(beam)]["lines"], outputs[beam]
        )
        for beam in beams
    }
