"""Stores the figures of long experiments in a JSON file of the repository. A table can be filled in several
sessions, on machines that do not share their runs."""

import hashlib
import json
import os
import re
import threading

from pages import commit, today
from project import ROOT


def recipe(config, settings):
    """Returns a hash of a recipe: the text of a configuration file without its comments, and its overrides.
    Figures with another hash are out of date."""
    text = (ROOT / config).read_text(encoding="utf-8")
    lines = [re.sub(r"\s*#.*", "", line) for line in text.splitlines()]
    recipe_text = "\n".join([line for line in lines if line] + list(settings))
    return hashlib.sha256(recipe_text.encode("utf-8")).hexdigest()[:12]


class Figures:
    """Maps each key to a JSON object. A key has several parts, which the file joins by /."""

    def __init__(self, file):
        self.file = file
        self.lock = threading.Lock()  # experiments may end at the same time
        self.rows = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}

    def get(self, *keys):
        return self.rows.get("/".join(keys))

    def of(self, recipe_hash, *keys):
        """Returns the figures if they were measured with the recipe of this hash, else None."""
        found = self.get(*keys)
        return found if found and found["recipe"] == recipe_hash else None

    def put(self, figures, *keys):
        """Stores figures with the commit and the date."""
        with self.lock:
            self.rows["/".join(keys)] = {**figures, "commit": commit(), "date": today()}
            text = json.dumps(self.rows, indent=1, sort_keys=True) + "\n"
            self.file.parent.mkdir(parents=True, exist_ok=True)
            part = self.file.with_suffix(".part")
            part.write_text(text, encoding="utf-8")
            os.replace(part, self.file)
