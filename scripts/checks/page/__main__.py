"""Uses the page of `regard serve` in Chromium, as a reader would: with the mouse, with the keyboard alone, on a phone, in
the dark, with a screen reader's view of it. Fails if something that docs/serving.md promises is not seen. Screenshots are
kept in build/page/. Needs the model of scripts/quickstart.sh, or models.
"""

import json
import pathlib

import pages
import project
from chromium import Page
from project import BUILD, CHECK_FAILED, ENVIRONMENT_ERROR, ROOT, Failure, regard
from server import Server

WORK = BUILD / "page"
CTRL = 2
SENTENCES = ["The cat sees the dog .", "A small bird sleeps here ."]
CONTRAST = """
(() => {
  const rgb = text => text.match(/[\\d.]+/g).map(Number);
  const light = c => { const [r, g, b] = c.slice(0, 3).map(x => (x /= 255) <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
                       return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = node => { for (; node; node = node.parentElement) { const c = rgb(getComputedStyle(node).backgroundColor);
                           if (c.length < 4 || c[3] > 0.99) return c; } return [255, 255, 255]; };
  let worst = [99, ""];
  for (const node of document.querySelectorAll("main *, header *")) {
    const text = [...node.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    if (!text || !node.offsetParent || node.disabled || node.closest(".visually-hidden")) continue;
    const [a, b] = [light(rgb(getComputedStyle(node).color)), light(ground(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < worst[0]) worst = [ratio, node.outerHTML.slice(0, 120)];
  }
  return worst;
})()
"""


def expect(holds, what):
    if not holds:
        raise Failure(CHECK_FAILED, what)


class Reader:
    """Someone who uses the page."""

    def __init__(self, page, server):
        self.page, self.server = page, server

    def open(self, **options):
        self.page.open(self.server.url + "/", **options)
        self.page.wait("document.querySelector('#model').options.length > 0", "the list of models")

    def write(self, text):
        self.page.eval("document.querySelector('#text').value = ''; document.querySelector('#text').focus()")
        self.page.type(text)

    def translate(self, text):
        self.write(text)
        self.page.press("Enter", CTRL)
        self.wait_for_end()

    def wait_for_end(self, columns=1):
        self.page.wait(
            f"document.querySelectorAll('#results article').length === {columns} && "
            "!document.querySelector('#results .busy') && document.querySelector('#stop').disabled",
            "the end of the translation",
        )

    def translations(self):
        return self.page.eval("[...document.querySelectorAll('#results .text')].map(n => n.innerText.trim())")

    def alert(self):
        return self.page.eval("document.querySelector('#alert').textContent")


def plain(server, model, sentences):
    _, answer = server.ask(server.connect(), {"text": sentences, "model": model})
    return " ".join(t["text"] for t in answer["translations"])


def check_translation(reader):
    page = reader.page
    reader.open()
    reader.translate(" ".join(SENTENCES))
    expect(reader.translations() == [plain(reader.server, "model", SENTENCES)], f"translation: {reader.translations()}")
    status = page.eval("document.querySelector('#status').textContent")
    expect(reader.translations()[0].split()[0] in status, "the finished translation is announced")
    # Paragraphs stay apart.
    reader.translate(SENTENCES[0] + "\n\n" + SENTENCES[1])
    expect(page.eval("document.querySelectorAll('#results .text p').length") == 3, "paragraphs")


def check_details(reader):
    page = reader.page
    reader.translate(SENTENCES[0])
    page.eval("document.querySelector('#results .word').click()")
    page.wait("document.querySelector('#results .tree')", "the details of a word")
    words = page.eval("[...document.querySelectorAll('#results .source span')].map(n => n.textContent)")
    expect(words == SENTENCES[0].split(), f"source words: {words}")
    shades = page.eval("[...document.querySelectorAll('#results .source span')].map(n => Number(getComputedStyle(n).backgroundColor.split(',')[3]?.replace(')', '') ?? 1))")
    expect(max(shades) > 0.8 and min(shades) < 0.5, f"shades of the attention: {shades}")
    weights = page.eval("[...document.querySelectorAll('#results .detail details')][0].querySelectorAll('tbody tr').length")
    expect(weights == len(words), "a table of the weights")
    page.eval("document.querySelector('#results .mapped').open = true")
    page.wait("document.querySelector('#results .map td')", "the map of all weights")
    others = page.eval("[...document.querySelectorAll('#results .detail details')].map(n => n.querySelector('summary').textContent)")
    expect({"Other translations", "Tree of the beam search", "Tokens and their probabilities"} <= set(others), f"{others}")
    expect(page.eval("document.querySelectorAll('#results .tree .end').length") >= 2, "complete hypotheses in the tree")
    expect(page.eval("document.querySelector('#results .word').getAttribute('aria-pressed')") == "true", "the word is marked")
    # Of a paragraph, the sentence of the word.
    reader.translate(" ".join(SENTENCES))
    page.eval("[...document.querySelectorAll('#results .word')].at(-1).click()")
    page.wait("document.querySelector('#results .tree')", "the details of a word")
    words = page.eval("[...document.querySelectorAll('#results .source span')].map(n => n.textContent)")
    expect(words == SENTENCES[1].split(), f"source words of the second sentence: {words}")
    shown = page.eval("[...document.querySelectorAll('#results .word')].at(-1).textContent")
    title = page.eval("document.querySelector('#results .detail h3').textContent")
    expect(f"“{shown}”" in title, f"the word {shown}: {title}")


def check_keyboard(reader):
    page = reader.page
    reader.open()
    expect(page.eval("document.activeElement.id") == "text", "the text has the focus")
    page.type(SENTENCES[0])
    page.press("Enter", CTRL)
    reader.wait_for_end()
    for _ in range(40):
        page.press("Tab")
        if page.eval("document.activeElement.className").startswith("word"):
            break
    expect(page.eval("document.activeElement.className").startswith("word"), "Tab reaches the words")
    outline = page.eval("getComputedStyle(document.activeElement).outlineStyle")
    expect(outline != "none", "the focus is seen")
    page.press("Enter")
    page.wait("document.querySelector('#results .source')", "Enter on a word")
    expect(page.eval("document.activeElement.className").startswith("word"), "the focus stays on the word")


def check_names(page):
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    controls = {"button", "textbox", "combobox", "checkbox", "spinbutton", "link"}
    for node in nodes:
        role = node.get("role", {}).get("value")
        if role in controls and not node.get("ignored"):
            expect(node.get("name", {}).get("value"), f"a control without a name: {json.dumps(node)[:300]}")


def check_views(reader):
    page = reader.page
    for width in (1280, 390):
        for dark in (False, True):
            reader.open(width=width, dark=dark)
            reader.translate(" ".join(SENTENCES) + "\n" + "Donaudampfschifffahrtsgesellschaft" * 4)
            page.eval("document.querySelector('#results .word').click(); document.querySelector('#options').open = true")
            page.wait("document.querySelector('#results .tree')", "the details of a word")
            page.eval("for (const d of document.querySelectorAll('#results details')) d.open = true")
            page.wait("document.querySelector('#results .map td')", "the map")
            wide = page.eval("document.documentElement.scrollWidth")
            expect(wide <= width, f"the page is {wide} wide in a window of {width}")
            ratio, node = page.eval(CONTRAST)
            expect(ratio >= 4.5, f"contrast {ratio:.2f} of {node} ({'dark' if dark else 'light'})")
            check_names(page)
            page.picture(WORK / f"{width}_{'dark' if dark else 'light'}.png")


def check_comparison(reader):
    page = reader.page
    reader.open()
    reader.write(SENTENCES[0])
    page.eval("document.querySelector('#other').selectedIndex = 2; document.querySelector('#other').dispatchEvent(new Event('change'))")
    reader.wait_for_end(columns=2)
    expected = [plain(reader.server, name, SENTENCES[:1]) for name in ("model", "other")]
    expect(reader.translations() == expected, f"two models: {reader.translations()}, expected {expected}")


def check_errors(reader):
    page = reader.page
    reader.open()
    page.eval("document.querySelector('#auto').checked = false; document.querySelector('#options').open = true;"
              "document.querySelector('#search-beam_size').value = 999")
    reader.write(SENTENCES[0])
    page.press("Enter", CTRL)
    page.wait("document.querySelector('#alert').textContent", "an error of the request")
    expect("beam_size: found 999, expected at most" in reader.alert(), reader.alert())
    page.eval("document.querySelector('#reset').click()")
    # Text is shown as text.
    reader.translate("<img src=x onerror=window.hacked=1> <b>cat</b>")
    page.eval("document.querySelector('#results .word')?.click()")
    expect(not page.eval("window.hacked") and not page.eval("document.querySelector('#results img, #results b')"), "markup of a text")
    reader.write("The cat sees the dog . " * 400)
    page.eval("document.querySelector('#go').click()")
    page.wait("!document.querySelector('#stop').disabled", "the button Stop")
    page.eval("document.querySelector('#stop').click()")
    reader.wait_for_end()
    state = page.eval("document.querySelector('#results .head .note').textContent")
    expect(state in ("stopped", ""), f"stopping: {state}")


def tagged_model():
    """Returns a small model that translates with the target tag <2fr> and copies with <2en>."""
    folder = WORK / "tagged"
    english = ROOT / "data" / "train.en"
    regard(
        "train", "-c", ROOT / "configs" / "quickstart.yaml", "--fresh", "--quiet", f"training.model_dir={folder}",
        "training.max_steps=400", "training.warmup_steps=40", "training.validation_every=400",
        "training.validation_unit=steps", "data.tokenizer.joint=true",
        "data.tokenizer.user_symbols=[<2fr>, <2en>]", "data.train.0.trg_tag=<2fr>", "data.dev.trg_tag=<2fr>",
        f"data.train.1.src={english}", f"data.train.1.trg={english}", "data.train.1.trg_tag=<2en>",
    )  # fmt: skip
    return folder


def check_tags(page):
    with Server(tagged_model(), "--trg-tag", "<2fr>") as server:
        reader = Reader(page, server)
        reader.open()
        symbols = page.eval("[...document.querySelectorAll('#trg_tag option')].map(n => n.textContent)")
        expect(symbols == ["none", "<2fr>", "<2en>"], f"the tags: {symbols}")
        expect(page.eval("document.querySelector('#trg_tag').value") == "<2fr>", "the tag of the server")
        shown = []
        for tag in ("<2fr>", "<2en>"):
            page.eval(f"document.querySelector('#trg_tag').value = '{tag}'")
            reader.translate(SENTENCES[0])
            shown += reader.translations()
            _, answer = server.ask(server.connect(), {"text": SENTENCES[0], "trg_tag": tag})
            expect(shown[-1] == answer["translations"][0]["text"], f"{tag}: {shown[-1]}, expected {answer}")
        expect(shown[0] != shown[1], f"both tags: {shown}")
        check_names(page)


def check_automatic(reader):
    reader.open()
    reader.write(SENTENCES[0])
    reader.wait_for_end()
    expect(reader.translations()[0], "a translation while typing")


def check_token(page, model):
    WORK.joinpath("token").write_text("secret\n", encoding="utf-8")
    with Server(model, "--token-file", WORK / "token") as server:
        page.open(server.url + "/")
        for token in ("wrong", "secret"):
            page.wait("document.querySelector('#login').open", "the question for the token")
            page.eval(f"document.querySelector('#token').value = '{token}'; document.querySelector('#login button').click()")
            page.wait("!document.querySelector('#login').open || document.querySelector('#token').value === ''", "the answer")
        page.wait("document.querySelector('#model').options.length > 0", "the models, with the token")


def check_busy(page, model):
    """A refused request is tried again after the time that the server names."""
    with Server(model, "--max-waiting", 1, "--max-lines", 5) as server:
        reader = Reader(page, server)
        reader.open()
        page.eval("window.real = window.fetch; window.tries = 0; window.fetch = (path, options) => path === 'translate' && window.tries++ === 0"
                  " ? Promise.resolve(new Response(JSON.stringify({error: {kind: 'busy', message: 'busy.'}}), {status: 429, headers: {'Retry-After': '1'}}))"
                  " : window.real(path, options)")
        reader.write(SENTENCES[0])
        page.press("Enter", CTRL)
        page.wait("/busy.*again in/.test(document.querySelector('#alert').textContent)", "the countdown")
        reader.wait_for_end()
        expect(reader.alert() == "" and reader.translations()[0], "the second try")


def arguments():
    parser = project.parser_of("scripts/check.sh page", __doc__)
    parser.add_argument("model", nargs="?", type=pathlib.Path, help="run or model folder (default: runs/quickstart)")
    parser.add_argument("other", nargs="?", type=pathlib.Path, help="a second one (default: the first)")
    parser.add_argument("--chromium", default="chromium", help="the Chromium program")
    parser.add_argument("--write", action="store_true", help="note the run in docs/reliability.md")
    return parser.parse_args()


def main():
    options = arguments()
    project.need_regard()
    model = options.model or ROOT / "runs" / "quickstart"
    if not model.exists():
        raise Failure(ENVIRONMENT_ERROR, f"{model} is missing; run scripts/quickstart.sh, or name a model")
    WORK.mkdir(parents=True, exist_ok=True)
    page = Page(options.chromium)
    try:
        with Server(model, "-m", f"other={options.other or model}") as server:
            reader = Reader(page, server)
            for check in (check_translation, check_details, check_keyboard, check_views, check_comparison, check_errors, check_automatic):
                check(reader)
                print(f"{check.__name__.removeprefix('check_')}: as promised", flush=True)
            elsewhere = [url for url in page.requests if not url.startswith((server.url, "about:", "data:"))]
            expect(not elsewhere, f"requests to elsewhere: {elsewhere}")
        check_token(page, model)
        print("token: as promised", flush=True)
        check_busy(page, model)
        print("busy: as promised", flush=True)
        check_tags(page)
        print("tags: as promised", flush=True)
        ignored = ("status of 400", "status of 401", "status of 404", "favicon")
        messages = [text for text in page.messages if not any(part in text for part in ignored)]
        expect(not messages, f"the console says: {messages}")
    finally:
        page.close()
    print(f"The page does what docs/serving.md says. Screenshots: {WORK.relative_to(ROOT)}/")
    print(regard("--version").splitlines()[0])
    if options.write:
        pages.record_check("page", "passed")


if __name__ == "__main__":
    project.run(main)
