"""The class Model: results, options, and errors of bad input."""

import collections
import copy
import itertools
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import regard
from regard.model import SearchOptions


def test_translates_like_the_program(model, run_folder, sources, regard_program):
    text = "\n".join(sources) + "\n"
    printed = regard_program("translate", "-m", run_folder, "--threads", 1, text=text)
    assert model.translate(sources) == printed.splitlines()
    printed = regard_program("translate", "-m", run_folder, "--threads", 1, "--beam-size", 1, text=text)
    assert model.translate(sources, beam_size=1) == printed.splitlines()
    printed = regard_program("translate", "-m", run_folder, "--threads", 1, "--n-best", 3, "--json", text=text)
    for line, translation in zip(printed.splitlines(), model.n_best(sources, 3), strict=True):
        for wanted, found in zip(json.loads(line)["hypotheses"], translation.hypotheses, strict=True):
            assert found.text == wanted["text"]
            assert (found.log_probability, found.score) == (wanted["log_probability"], wanted["score"])
            assert list(found.token_log_probability) == [word["log_probability"] for word in wanted["words"]]


def test_accepts_any_iterable_of_lines(model, sources):
    wanted = model.translate(sources)
    assert model.translate(tuple(sources)) == wanted
    assert model.translate(line for line in sources) == wanted
    assert model.translate(np.array(sources)) == wanted


def test_a_stream_reads_a_few_lines_ahead(model, sources):
    read = []
    lines = (read.append(line) or line + "\n" for line in sources)
    stream = model.stream(lines, at_once=3, beam_size=2)
    assert next(stream) == model.translate(sources, beam_size=2)[0]
    assert len(read) == 3
    assert list(stream) == model.translate(sources, beam_size=2)[1:]
    with pytest.raises(regard.ConfigError, match="at_once"):
        next(model.stream(lines, at_once=0))


def test_a_model_can_be_closed(run_folder, sources):
    with regard.Model(run_folder, device="cpu", threads=1) as model:
        other = model.with_tags()
        translations = model.translate(sources)
    for call in (lambda: model.translate(sources), lambda: model.with_tags(), lambda: model.score(["a"], ["b"])):
        with pytest.raises(regard.ConfigError, match="closed"):
            call()
    model.close()
    assert other.translate(sources) == translations


def test_blank_lines_and_empty_lists(model):
    assert model.translate([]) == []
    assert model.n_best([], 2) == []
    assert model.score([], []) == []
    assert model.self_attention([], []) == []
    assert model.translate(["", " ", "the cat"]) == ["", "", model.translate(["the cat"])[0]]
    blank = model.translate([""], return_attention=True)[0]
    assert (blank.text, blank.tokens, blank.source_tokens, blank.best, blank.attention) == ("", [], [], None, None)
    scored = model.score(["", "the cat"], ["le", ""])
    assert scored[0].hypotheses == []
    assert scored[1].best.tokens == ["</s>"]


def test_attention_is_a_distribution_over_the_source_tokens(model):
    translation = model.translate(["the cat sees a dog"], beam_size=3, return_attention=True)[0]
    assert translation.source_tokens == ["the", "cat", "sees", "a", "dog", "</s>"]
    assert translation.text == model.translate(["the cat sees a dog"])[0]
    assert translation.attention.dtype == np.float32
    assert translation.attention.shape == (len(translation.tokens), 6)
    np.testing.assert_allclose(translation.attention.sum(axis=1), 1, atol=1e-5)


def test_a_model_without_attention_has_none(train):
    folder = train("fixed_context", ["model.attention.kind=none", "model.attention.size=512"])
    translation = regard.Model(folder, threads=1).translate(["the cat"], return_attention=True)[0]
    assert translation.text
    assert translation.attention is None
    with pytest.raises(regard.InputError, match="no attention"):
        regard.plot_attention(translation)


def test_score_is_the_sum_of_its_tokens_and_equals_the_search(model):
    found = model.n_best(["the small cat"], 1)[0].best
    scored = model.score(["the small cat"], [found.text])[0].best
    assert scored.tokens == found.tokens
    assert scored.log_probability == pytest.approx(found.log_probability, abs=1e-4)
    assert scored.token_log_probability.dtype == np.float64
    assert scored.token_log_probability.sum() == pytest.approx(scored.log_probability)


def test_self_attention_has_a_matrix_for_each_head(transformer_folder):
    model = regard.Model(transformer_folder, device="cpu", threads=1)
    pair, blank = model.self_attention(["the cat", ""], ["le chat", ""])
    assert pair.source_tokens == ["the", "cat", "</s>"]
    assert pair.decoder_inputs == ["<s>", "le", "chat"]
    for weights in (pair.encoder, pair.decoder):
        assert (weights.shape, weights.dtype) == ((2, 2, 3, 3), np.float32)
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)
    assert not np.triu(pair.decoder, 1).any()
    assert (blank.encoder, blank.decoder) == (None, None)


def test_recurrent_models_have_no_self_attention(model):
    pair = model.self_attention(["the cat"], ["le chat"])[0]
    assert (pair.encoder, pair.decoder) == (None, None)


def test_models_with_other_tags_share_one_model(tagged_folder, sources):
    model = regard.Model(tagged_folder, threads=1)
    french, copies = (model.with_tags(trg_tag=tag) for tag in ("<2fr>", "<2de>"))
    del model
    wanted = [regard.Model(tagged_folder, threads=1, trg_tag=tag).translate(sources) for tag in ("<2fr>", "<2de>")]
    assert wanted[0] != wanted[1]
    assert [french.translate(sources), copies.translate(sources)] == wanted
    assert french.with_tags(trg_tag="<2de>").n_best(sources, 1)[0].text == wanted[1][0]
    with pytest.raises(regard.ConfigError, match="trg_tag: found <2es>"):
        french.with_tags(trg_tag="<2es>")
    with pytest.raises(regard.ConfigError, match=r'src_tag: found <2es>, expected one of .*"<2fr>", "<2de>"'):
        regard.Model(tagged_folder, src_tag="<2es>")


def test_search_options_are_those_of_the_documentation(repository):
    page = (repository / "docs/configuration.md").read_text(encoding="utf-8")
    section = page.split("\n## `search`\n")[1].split("\n## ")[0]
    documented = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert list(SearchOptions.__annotations__.keys() ^ set(documented)) == []


def test_search_options_accept_the_types_of_python_and_numpy(model):
    wanted = model.n_best(["the cat"], 2, beam_size=4, beam_alpha=0.5, length_penalty="power")
    given = model.n_best(
        ["the cat"], np.int64(2), beam_size=np.int32(4), beam_alpha=np.float32(0.5), length_penalty=np.str_("power")
    )
    assert [each.score for each in given[0].hypotheses] == [each.score for each in wanted[0].hypotheses]
    samples = model.n_best(["the cat"], 4, samples=4, seed=7)[0].hypotheses
    assert [each.text for each in model.n_best(["the cat"], 4, samples=4, seed=7)[0].hypotheses] == [
        each.text for each in samples
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beem_size": 3}, r"unknown search option 'beem_size'.*did you mean 'beam_size'\?"),
        ({"beam_size": True}, "found `true`, expected a whole number"),
        ({"beam_size": 2.5}, "found `2.5`, expected a whole number"),
        ({"beam_alpha": float("nan")}, "found `nan`, expected a number between 0 and 10"),
        ({"mbr": "meteor"}, "found `meteor`, expected one of none, chrf, bleu"),
    ],
)
def test_wrong_search_options_are_named(model, options, message):
    for call in (lambda: model.translate(["a"], **options), lambda: model.n_best(["a"], 1, **options)):
        with pytest.raises(regard.ConfigError, match=message):
            call()
    with pytest.raises(ValueError, match=message):
        model.translate([], **options)


def test_an_option_that_is_no_value_is_a_type_error(model):
    with pytest.raises(TypeError, match="beam_size: found NoneType, expected a number, a str, a bool or a list"):
        model.translate(["a"], beam_size=None)


@pytest.mark.parametrize(
    ("lines", "error", "message"),
    [
        ("the cat", TypeError, r"line: found one str, expected a list of str; write \[text\]"),
        (b"the cat", TypeError, "line: found one bytes"),
        (None, TypeError, "line: found NoneType, expected a list of str"),
        (["a", 3], TypeError, "line:2: found int, expected str"),
        (["a", None], TypeError, "line:2: found NoneType"),
        (["a", b"b"], TypeError, r"line:2: found bytes, expected str; decode it first: line.decode\('utf-8'\)"),
        (["a", "b", "the \udcff"], regard.InputError, r"line:3: character 5 is the surrogate U\+DCFF"),
    ],
)
def test_a_bad_line_is_named_by_its_number(model, lines, error, message):
    for call in (
        lambda: model.translate(lines),
        lambda: model.translate(lines, return_attention=True),
        lambda: model.n_best(lines, 1),
    ):
        with pytest.raises(error, match=message):
            call()
    with pytest.raises(error, match=message.replace("line:", "source:", 1)):
        model.score(lines, ["a"])
    with pytest.raises(error, match=message.replace("line:", "target:", 1)):
        model.self_attention(["a"], lines)


def test_a_line_that_the_model_cannot_read_is_named_by_its_number(train):
    folder = train("learned_positions", ["model.encoder.kind=transformer", "model.encoder.heads=2",
        "model.encoder.feed_forward_size=32", "model.encoder.position=learned", "model.encoder.max_positions=30",
        "data.max_length=20"])  # fmt: skip
    model = regard.Model(folder, threads=1)
    with pytest.raises(regard.InputError, match=r"source line 3: found 41 tokens.*takes 30"):
        model.translate(["the cat", "a", "the " * 40])


def test_lists_of_different_length_are_an_error(model):
    with pytest.raises(regard.InputError, match="score: found 1 source and 0 targets, expected as many of each"):
        model.score(["a"], [])
    with pytest.raises(regard.InputError, match="self_attention: found 0 sources and 2 targets"):
        model.self_attention([], ["a", "b"])


@pytest.mark.parametrize("n", [0, -1, 4])
def test_n_must_be_between_1_and_the_beam_size(model, n):
    with pytest.raises(regard.ConfigError, match=f"n_best: found {n}, expected"):
        model.n_best(["a"], n)


def test_a_folder_that_is_no_model_is_an_error(tmp_path, run_folder):
    with pytest.raises(regard.Error, match="/no/such/model"):
        regard.Model("/no/such/model")
    with pytest.raises(regard.Error, match=re.escape(str(tmp_path))):
        regard.Model(tmp_path)
    damaged = tmp_path / "damaged"
    shutil.copytree(run_folder / "best", damaged)
    weights = damaged / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(regard.CheckpointError, match=re.escape(str(damaged))):
        regard.Model(damaged)
    with pytest.raises(TypeError):
        regard.Model(None)


def test_a_model_folder_may_have_any_name(run_folder, tmp_path):
    name = os.fsencode(tmp_path) + b"/mod\xe8le \xff"
    shutil.copytree(os.fsencode(run_folder / "best"), name)
    assert regard.Model(os.fsdecode(name), threads=1).translate(["the cat"])[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"device": "gpu"}, "device: found `gpu`, expected auto, cpu, cuda or cuda:N"),
        ({"precision": "fp64"}, "precision: found `fp64`, expected auto, fp32, tf32, bf16 or int8"),
        ({"threads": -1}, "threads: found -1, expected 0"),
    ],
)
def test_wrong_arguments_of_a_model_are_named(run_folder, arguments, message):
    with pytest.raises(regard.ConfigError, match=message):
        regard.Model(run_folder, **arguments)


def test_a_missing_device_is_an_environment_error(run_folder):
    with pytest.raises(regard.EnvironmentError, match="cuda:99"):
        regard.Model(run_folder, device="cuda:99")


def test_a_model_is_not_pickled_or_copied(model):
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled or copied; load it from its folder"):
            attempt(model)


def test_results_are_pickled(model):
    translation = model.translate(["the cat"], return_attention=True)[0]
    again = pickle.loads(pickle.dumps(translation))
    np.testing.assert_array_equal(again.attention, translation.attention)


def in_fork(action):
    """Runs the action in a forked process and returns what it returns, as text."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = str(action())
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        os.write(writing, answer.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read().decode()
    os.waitpid(child, 0)
    return answer


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_must_load_its_own_model(run_folder):
    model = regard.Model(run_folder, device="cpu", threads=2)
    wanted = model.translate(["the cat"])
    refused = in_fork(lambda: model.translate(["the cat"]))
    assert refused.startswith("EnvironmentError: the model was loaded before this process was forked")
    assert in_fork(lambda: regard.Model(run_folder, device="cpu", threads=2).translate(["the cat"])) == str(wanted)
    assert model.translate(["the cat"]) == wanted


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_ends_though_it_has_a_model(run_folder):
    program = f"""
        import os
        import regard
        model = regard.Model({str(run_folder)!r}, threads=2)
        child = os.fork()
        if child != 0:
            raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=60)


@pytest.mark.parametrize("call", ["translate(lines)", "n_best(lines, 2)", "score(lines, lines)"])
def test_a_daemon_thread_inside_a_call_does_not_crash_the_exit(run_folder, call):
    program = f"""
        import threading
        import time
        import regard
        model = regard.Model({str(run_folder)!r}, threads=2)
        lines = ["the cat sees a dog and a bird hears the old cat here ."] * 20_000
        threading.Thread(target=lambda: model.{call}, daemon=True).start()
        time.sleep(0.3)
        """
    for _ in range(3):
        finished = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120
        )
        assert (finished.returncode, finished.stderr) == (0, "")


def test_several_threads_share_a_model(run_folder, sources):
    model = regard.Model(run_folder, device="cpu", threads=2)
    wanted = model.translate(sources)
    results = {}

    def translate(number):
        results[number] = [model.translate(sources) for _ in range(5)]

    threads = [threading.Thread(target=translate, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: [wanted] * 5 for number in range(4)}


def test_other_threads_run_during_a_translation(model, sources):
    ticks = itertools.count()
    ended = threading.Event()

    def tick():
        while not ended.wait(0.001):
            next(ticks)

    ticking = threading.Thread(target=tick)
    ticking.start()
    start = time.monotonic()
    model.translate(sources * 50)
    elapsed = time.monotonic() - start
    ended.set()
    ticking.join()
    assert next(ticks) > 0.05 * elapsed / 0.001


@pytest.mark.parametrize("call", ["translate(lines)", "score(lines, lines)", "self_attention(lines, lines)"])
def test_ctrl_c_ends_a_long_call_and_leaves_the_model_usable(run_folder, call):
    program = f"""
        import time
        import regard
        model = regard.Model({str(run_folder)!r}, threads=2)
        wanted = model.translate(["the cat"])
        lines = ["the cat sees a dog and a bird hears the old cat here ."] * 200_000
        print("begun", flush=True)
        try:
            model.{call}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        assert model.translate(["the cat"]) == wanted
        print("usable")
        """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
    )
    assert process.stdout.readline() == "begun\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    assert process.communicate(timeout=120)[0] == "interrupted\nusable\n"
    assert process.returncode == 0
    assert time.monotonic() - start < 30


def test_an_ensemble_is_that_of_the_program(run_folder, transformer_folder, sources, regard_program):
    both = regard.Model([run_folder, str(transformer_folder)], ensemble_mean="linear", ensemble_weights=[1, 2],
                        precision="fp32", threads=1)  # fmt: skip
    printed = regard_program("translate", "-m", run_folder, transformer_folder, "--ensemble-mean", "linear",
                             "--ensemble-weights", "1,2", "--precision", "fp32",
                             text="".join(line + "\n" for line in sources))  # fmt: skip
    assert both.translate(sources) == printed.splitlines()


def test_an_ensemble_of_a_model_with_itself_scores_the_same(model, run_folder, sources, references):
    both = regard.Model([run_folder, run_folder], ensemble_weights=[1, 3], threads=1)
    wanted, found = ([x.best.log_probability for x in each.score(sources, references)] for each in (model, both))
    assert found == pytest.approx(wanted, abs=1e-3)


def test_wrong_ensembles_are_refused(run_folder):
    with pytest.raises(regard.ConfigError, match="ensemble_weights: found 1, expected one for each of 2 models"):
        regard.Model([run_folder, run_folder], ensemble_weights=[1])
    with pytest.raises(regard.ConfigError, match="ensemble_mean: found `median`"):
        regard.Model(run_folder, ensemble_mean="median")
    with pytest.raises(regard.ConfigError, match="found no model"):
        regard.Model([])


def test_constraints_hold(model, sources):
    free = model.translate(sources)
    word = collections.Counter(" ".join(free).split()).most_common(1)[0][0]
    assert not any(word in line.split() for line in model.translate(sources, ban=[word]))
    assert all("oiseau" in line.split() for line in model.translate(sources, require=["oiseau"], beam_size=5))
    prefixes = ["un chat" if number % 2 else "" for number in range(len(sources))]
    found = model.translate(sources, prefix=prefixes)
    assert all(line.startswith(prefix) for line, prefix in zip(found, prefixes, strict=True))
    assert found[::2] == free[::2]
    each = [["oiseau"] if number == 3 else [] for number in range(len(sources))]
    found = model.n_best(sources, 1, require=each, beam_size=5)
    assert "oiseau" in found[3].text.split()
    assert [x.text for x in found[:3]] == model.translate(sources[:3], beam_size=5)


def test_wrong_constraints_are_refused(model):
    with pytest.raises(regard.InputError, match="require: `zebra` is not in the model's vocabulary"):
        model.translate(["the cat"], require=["zebra"])
    with pytest.raises(regard.InputError, match="prefix: found 3, expected one for each of 2 lines"):
        model.translate(["the cat", "a dog"], prefix=["un", "le", ""])
    with pytest.raises(TypeError, match="ban: found one str"):
        model.translate(["the cat"], ban="le")
    with pytest.raises(regard.ConfigError, match="split_length: found -1"):
        model.translate(["the cat"], split_length=-1)


def test_long_lines_are_split(model, regard_program, run_folder):
    line = " . ".join(["the cat sees a dog", "a small bird hears the old dog here", "the dog"]) + " ."
    options = {"split_length": 8, "beam_size": 1}
    printed = regard_program("translate", "-m", run_folder, "--split-length", 8, "--beam-size", 1, text=line + "\n")
    assert model.translate([line], **options) == printed.splitlines()
    [translation] = model.n_best([line], 1, **options)
    assert translation.text == printed.strip()
    assert translation.attention.shape == (len(translation.tokens), len(translation.source_tokens))
    assert translation.source_tokens[:-1] == line.split()


def test_sentences_are_translated_one_by_one(run_folder, regard_program):
    line = "the cat sees . a dog hears ."
    model = regard.Model(run_folder)
    for options, arguments in (({}, []), ({"whole_lines": True}, ["--whole-lines"]), ({"require": ["oiseau"]}, None)):
        whole = model.translate([line], whole_lines=True, **{k: v for k, v in options.items() if k == "require"})
        if arguments is None:
            assert model.translate([line], **options) == whole  # a phrase applies to a line
        else:
            printed = regard_program("translate", "-m", run_folder, *arguments, text=line + "\n")
            assert model.translate([line], **options) == printed.splitlines()
            [translation] = model.translate([line], return_attention=True, **options)
            assert translation.text == printed.strip()
            assert translation.source_tokens[:-1] == line.split()
    with pytest.raises(regard.ConfigError, match="found whole_lines and split_length"):
        model.translate([line], whole_lines=True, split_length=3)


def test_terms_are_translated_as_the_glossary_says(model, sources, tmp_path):
    free = model.translate(sources, beam_size=4)
    found = model.translate(sources, beam_size=4, glossary={"cat": "oiseau", "dog": ["vieux chien", "petit chien"]})
    for source, line, plain in zip(sources, found, free, strict=True):
        words = source.split()
        assert line.split().count("oiseau") >= words.count("cat")
        assert ("vieux chien" in line or "petit chien" in line) or "dog" not in words
        assert line == plain or {"cat", "dog"} & set(words)
    assert found != free
    path = tmp_path / "terms.tsv"
    path.write_text("cat\toiseau\n\ndog\tvieux chien|petit chien\ta note\n", encoding="utf-8")
    assert model.translate(sources, beam_size=4, glossary=path) == found
    assert model.translate(sources, beam_size=4, glossary=str(path)) == found
    [translation] = model.n_best(["the cat"], 1, beam_size=4, glossary={"cat": "oiseau"})
    assert "oiseau" in translation.text
    with pytest.raises(regard.InputError, match="glossary: `cat`: `zebra` is not in the model's vocabulary"):
        model.translate(["the cat"], glossary={"cat": "zebra"})
    with pytest.raises(regard.ConfigError, match="glossary: found samples 3, expected 0"):
        model.translate(["the cat"], glossary={"cat": "chat"}, samples=3)
    path.write_text("cat chat\n", encoding="utf-8")
    with pytest.raises(regard.InputError, match=r"terms.tsv:1: found 1 column in `cat chat`, expected a source term"):
        model.translate(["the cat"], glossary=path)
    with pytest.raises(TypeError, match="glossary: found list, expected the path of a file or a dict"):
        model.translate(["the cat"], glossary=["cat"])


def test_an_alignment_links_words(model, sources):
    for source, translation in zip(sources, model.translate(sources, return_attention=True), strict=True):
        words = translation.text.split()
        most = translation.attention[: len(words), : len(source.split())].argmax(1)
        assert sorted(translation.alignment) == sorted(zip(most.tolist(), range(len(words))))
