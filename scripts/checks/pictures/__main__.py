"""Checks the pages and pictures of regard in Chromium.

A small model is trained for some seconds (or RUN is used). Its pages and pictures are opened 1200 and 390
pixels wide, light and dark, in DejaVu Sans, the widest font that they request. Fails if a label leaves its
picture, if a table or a text leaves the page, if the switch between the scales of attention draws
something else than regard does, or if a glyph is wider than src/report/xml.cpp assumes. Screenshots are
kept in build/pictures/.
"""

import html
import json
import pathlib
import re
import shutil
import subprocess
import unicodedata

import project
from project import BUILD, CHECK_FAILED, ENVIRONMENT_ERROR, ROOT, Failure, count_of, regard, warn

HERE = pathlib.Path(__file__).resolve().parent
WORK = BUILD / "pictures"
WIDTHS = (1200, 390)
SCHEMES = ("light", "dark")  # colour schemes
BLINK_SCHEME = {"dark": 0, "light": 1}  # the numbers of Chromium's preferredColorScheme
FONT = "'DejaVu Sans'"
WAIT_MS = 3000  # virtual time in which a page is loaded and measured

# Few steps, so that the attention is spread and the pictures are dark; small, so that it takes seconds.
TRAINING = [
    "--config=configs/quickstart.yaml",
    "data.tokenizer.vocabulary_size=500",
    "model.encoder.embedding_dim=32",
    "model.encoder.hidden_size=32",
    "model.decoder.embedding_dim=32",
    "model.decoder.hidden_size=32",
    "model.decoder.readout_size=32",
    "model.attention.kind=multi_head",
    "model.attention.size=32",
    "model.encoder.self_attention_layers=1",
    "model.encoder.heads=2",
    "model.encoder.feed_forward_size=32",
    "training.learning_rate=0.004",
    "training.max_steps=120",
    "training.validation_unit=steps",
    "training.validation_every=40",
    "training.logging_every=5",
    "search.max_output_length=20",
]
# Wide letters, long words, words of other scripts.
SENTENCES = [
    "The women swam with my grandmother , who remembered WWWWWWWW .",
    "MMMMMMMMMMMMMM",
    "Donaudampfschifffahrtsgesellschaft Щжюдомашний 中文 @@@ 100% .",
    "I .",
]


def arguments():
    parser = project.parser_of("scripts/check.sh pictures", __doc__)
    parser.add_argument("run", nargs="?", help="a run folder to use instead of the small model")
    parser.add_argument("--chromium", default="chromium", help="the Chromium program")
    return parser.parse_args()


class Browser:
    def __init__(self, program):
        self.program = shutil.which(program)
        if not self.program:
            raise Failure(ENVIRONMENT_ERROR, f"found no program {program}; run apt-get install chromium fonts-dejavu")
        fonts = subprocess.run(["fc-list", ":family=DejaVu Sans"], capture_output=True, check=False)
        if not fonts.stdout:
            raise Failure(ENVIRONMENT_ERROR, "found no font DejaVu Sans; run apt-get install fonts-dejavu")

    def call(self, page, scheme, size, *options):
        """Opens a page in a window of this (width, height); returns what Chromium prints."""
        done = subprocess.run(
            [
                self.program,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                f"--blink-settings=preferredColorScheme={BLINK_SCHEME[scheme]}",
                f"--virtual-time-budget={WAIT_MS}",
                "--window-size={},{}".format(*size),
                *options,
                page.as_uri(),
            ],
            capture_output=True,
            timeout=120,
            check=False,
        )
        if done.returncode != 0:
            raise Failure(ENVIRONMENT_ERROR, f"{self.program} ended with {done.returncode}")
        return done.stdout.decode("utf-8")

    def look(self, page, width, scheme, picture):
        """Returns the measurements of the page in a frame of this width; writes a screenshot."""
        frame = page.with_name(f"{page.stem}-{width}.html")
        # A browser window is at least 500 pixels wide; a frame in it can be narrower.
        frame.write_text(
            f"<!DOCTYPE html><body style='margin:0'><iframe src='{page.name}' style='border:0' "
            f"width={width} height=2000></iframe><pre id=found></pre><script>addEventListener("
            "'message', event => { document.querySelector('iframe').height = event.data.height;"
            "found.textContent = JSON.stringify(event.data); found.hidden = true; })</script>",
            encoding="utf-8",
        )
        text = self.call(frame, scheme, (max(500, width), 2000), "--dump-dom")
        found = re.search(r"<pre id=\"found\"[^>]*>(.*?)</pre>", text, re.S)
        if not found or not found[1]:
            raise Failure(CHECK_FAILED, f"{page}: the page sent no measurements")
        found = json.loads(html.unescape(found[1]))
        height = min(found["height"], 6000)
        self.call(frame, scheme, (max(500, width), height), f"--screenshot={picture}")
        return found


def glyph_faults(browser):
    """Returns a sentence for each glyph that the browser measures wider than src/report/xml.cpp assumes.
    The tables there have a character for each glyph, from U+0020 on: its code minus that of 0 is the width in
    units of 1/32 em."""
    source = (ROOT / "src" / "report" / "xml.cpp").read_text(encoding="utf-8")
    found = []
    for name, weight in (("regular", 400), ("bold", 700)):
        table = re.search(rf"{name}_widths =(.*?);\n", source, re.S)[1]
        assumed = [(ord(code) - ord("0")) / 32 for code in "".join(re.findall(r'R"\((.*?)\)"', table))]
        page = WORK / f"glyphs-{name}.html"
        page.write_text(
            "<!DOCTYPE html><meta charset='utf-8'><svg><text id='text' font-size='1000' "
            f"font-family={FONT} font-weight={weight}></text></svg><pre id='found'></pre><script>"
            f"const widths = []; for (let code = 32; code < {32 + len(assumed)}; ++code) {{"
            "text.textContent = String.fromCharCode(code);"
            "widths.push(text.getComputedTextLength() / 1000); }"
            "found.textContent = JSON.stringify(widths);</script>",
            encoding="utf-8",
        )
        text = browser.call(page, "light", (500, 500), "--dump-dom")
        measured = json.loads(re.search(r'<pre id="found">(.*?)</pre>', text, re.S)[1])
        for code, (width, room) in enumerate(zip(measured, assumed), 32):
            if width > room + 0.001 and not unicodedata.category(chr(code)).startswith(("C", "M", "Z")):
                found.append(f"{name} U+{code:04X} is {width:.3f} wide, assumed {room:.3f}")
    return found


def with_probe(source, target):
    """Writes a page with the contents of `source`, a page or picture, that sets the font and runs
    measure.js."""
    text = source.read_text(encoding="utf-8")
    if source.suffix == ".svg":
        text = f"<!DOCTYPE html><meta charset='utf-8'><body>{text}</body>"
    font = f"<style>* {{ font-family: {FONT} !important }}</style>"
    script = (HERE / "measure.js").read_text(encoding="utf-8")
    target.write_text(f"{text}{font}<script>{script}</script>", encoding="utf-8")


def make_pages(run):
    """Makes the pages and pictures of a run; returns their paths by name."""
    sentences = WORK / "sentences"
    sentences.write_text("\n".join(SENTENCES) + "\n", encoding="utf-8")
    pages = {name: WORK / "pages" / f"{name}.{kind}" for name, kind in PAGES.items()}
    for path in pages.values():
        path.parent.mkdir(parents=True, exist_ok=True)
    translate = ["translate", "-m", run, "-i", sentences, "-o", WORK / "translations", "--quiet"]
    regard("report", run, "-o", pages["run"])
    regard(*translate, "--report", pages["translations"])
    regard(*translate, "--report", pages["translations-relative"], "--attention-scale", "picture")
    regard(*translate, "--picture", pages["sentence"])
    regard(
        *["evaluate", "-m", run, "-s", "data/test.en", "-r", "data/test.fr", "--by-length", "5,10,15"],
        *["--by-length-svg", pages["lengths"], "--force", "--quiet"],
    )
    return pages


PAGES = {
    "run": "html",
    "translations": "html",
    "translations-relative": "html",
    "sentence": "svg",
    "lengths": "svg",
}


def main():
    options = arguments()
    browser = Browser(options.chromium)
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    run = options.run or WORK / "run"
    if not options.run:
        regard("train", *TRAINING, f"training.model_dir={run}", "--quiet")
    rows, faults = [], glyph_faults(browser)
    for name, path in make_pages(run).items():
        probe = WORK / f"{name}.html"
        with_probe(path, probe)
        for width in WIDTHS if path.suffix == ".html" else WIDTHS[:1]:  # a picture has a fixed size
            for scheme in SCHEMES:
                found = browser.look(probe, width, scheme, WORK / f"{name}-{width}-{scheme}.png")
                rows.append((name, width, scheme, found["labels"], len(found["faults"])))
                faults += [f"{name}, {width} px, {scheme}: {fault}" for fault in found["faults"]]
    print("| page | width | colours | labels | faults |\n|---|---:|---|---:|---:|")
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print(json.dumps({"pages": len(rows), "faults": faults}))
    if faults:
        for fault in dict.fromkeys(faults):
            warn(fault)
        raise Failure(CHECK_FAILED, f"{count_of(len(faults), 'fault')} found")


project.run(main)
