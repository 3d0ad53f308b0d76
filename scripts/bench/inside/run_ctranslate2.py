"""run_ctranslate2.py TASK.json, run by the Python of CTranslate2. Loads a model, translates a file in
sub-words with each beam size, and prints the seconds and the number of lines of each as JSON. The
translations of the file itself, in sub-words, go into the output of each beam size."""

import json
import sys
import time

import ctranslate2

with open(sys.argv[1], encoding="utf-8") as file:
    task = json.load(file)
with open(task["source"], encoding="utf-8", newline="\n") as file:
    sentences = [line.split() for line in file]
translator = ctranslate2.Translator(
    task["model"],
    compute_type=task["compute_type"],
    inter_threads=task["threads"],
    intra_threads=1,
)
many = sentences * task["copies"]
found = {}
for beam, output in task["outputs"].items():
    options = {**task["options"], "beam_size": int(beam)}
    results = translator.translate_batch(sentences, **options)  # warms up
    began = time.perf_counter()
    translator.translate_batch(many, **options)
    found[beam] = {"seconds": time.perf_counter() - began, "lines": len(many)}
    with open(output, "w", encoding="utf-8") as file:
        file.writelines(" ".join(result.hypotheses[0]) + "\n" for result in results)
print(json.dumps(found))
