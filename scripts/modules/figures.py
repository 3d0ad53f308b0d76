"""Figures that long experiments have found, in a JSON file of the repository: a table fills over
several sittings, on machines that need not have one another's runs."""

import hashlib
import json
import os
import threading

from project import ROOT


def recipe(config, settings):
    """Tells figures of one recipe, a configuration of the project and what is set over it, from those
    of another."""
    text = (ROOT / config).read_text(encoding="utf-8") + "\n".join(settings)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]


class Figures:
    """An object for each key; keys in parts are joined by /."""

    def __init__(self, file):
        self.file = file
        self.lock = threading.Lock()  # of experiments that end side by side
        self.rows = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}

    def get(self, *keys):
        return self.rows.get("/".join(keys))

    def of(self, wanted, *keys):
        """Those of the recipe that is wanted, or None."""
        found = self.get(*keys)
        return found if found and found["recipe"] == wanted else None

    def put(self, figures, *keys):
        with self.lock:
            self.rows["/".join(keys)] = figures
            text = json.dumps(self.rows, indent=1, sort_keys=True) + "\n"
            self.file.parent.mkdir(parents=True, exist_ok=True)
            part = self.file.with_suffix(".part")
            part.write_text(text, encoding="utf-8")
            os.replace(part, self.file)
