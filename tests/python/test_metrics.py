"""evaluate(): the figures of `regard evaluate`, and errors of bad input."""

import json

import pytest

import regard

HYPOTHESES = ["Le chat voit un chien .", "Un oiseau, vieux et petit, entend", "ici", "les chats voient"]
REFERENCES = ["Le chat voit le chien .", "Un vieil oiseau entend", "Ici .", "les chats voient"]
OTHER_REFERENCES = ["Un chat voit un chien .", "Un oiseau petit et vieux entend .", "ici", "les chats regardent"]
ALL = ["bleu", "chrf", "chrf++", "ter", "wer", "cer", "per", "exact"]


@pytest.fixture
def evaluate_by_program(regard_program, tmp_path):
    def evaluate(references, *arguments):
        for name, lines in (("hypotheses", HYPOTHESES), *references.items()):
            (tmp_path / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        files = [tmp_path / name for name in references]
        return json.loads(
            regard_program(
                "evaluate", "--hypotheses", tmp_path / "hypotheses", "-r", *files, "--json", "--force", *arguments
            )
        )

    return evaluate


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({}, []),
        ({"lowercase": True, "tokenize": "intl"}, ["--lowercase", "--tokenize", "intl"]),
        ({"smooth_method": "add-k", "smooth_value": 2}, ["--smooth-method", "add-k", "--smooth-value", 2]),
        (
            {"chrf_char_order": 4, "chrf_word_order": 1, "chrf_beta": 3},
            ["--chrf-char-order", 4, "--chrf-word-order", 1, "--chrf-beta", 3],
        ),
        (
            {"ter_normalized": True, "ter_no_punct": True, "ter_asian_support": True, "ter_case_sensitive": True},
            ["--ter-normalized", "--ter-no-punct", "--ter-asian-support", "--ter-case-sensitive"],
        ),
    ],
)
def test_scores_are_those_of_the_program(evaluate_by_program, options, arguments):
    printed = evaluate_by_program({"a": REFERENCES}, "--metrics", ",".join(ALL), *arguments)
    scores = regard.evaluate(HYPOTHESES, REFERENCES, ALL, **options)
    assert list(scores) == ALL
    for metric, score in scores.items():
        assert score.score == printed[metric]["score"], metric
        assert score.signature == printed[metric]["signature"]
        assert (score.sentence_scores, score.confidence) == (None, None)


def test_several_references(evaluate_by_program):
    printed = evaluate_by_program({"a": REFERENCES, "b": OTHER_REFERENCES}, "--metrics", "bleu,chrf,ter")
    scores = regard.evaluate(HYPOTHESES, [REFERENCES, OTHER_REFERENCES], "bleu,chrf,ter")
    assert {metric: score.score for metric, score in scores.items()} == {
        metric: printed[metric]["score"] for metric in scores
    }
    assert "nrefs:2" in scores["bleu"].signature


def test_sentence_scores(evaluate_by_program):
    printed = evaluate_by_program({"a": REFERENCES}, "--sentence-level")
    scores = regard.evaluate(HYPOTHESES, REFERENCES, sentence_level=True)
    for metric in ("bleu", "chrf"):
        assert scores[metric].sentence_scores.tolist() == [line[metric] for line in printed]


def test_confidence(evaluate_by_program):
    printed = evaluate_by_program({"a": REFERENCES}, "--confidence", "--resamples", 50, "--resampling-seed", 3)
    score = regard.evaluate(HYPOTHESES, REFERENCES, confidence=True, resamples=50, resampling_seed=3)["chrf"]
    assert score.confidence == (printed["chrf"]["confidence"]["mean"], printed["chrf"]["confidence"]["half_width"])
    assert score.signature == printed["chrf"]["signature"]


def test_pieces_of_a_sentencepiece_model(train, evaluate_by_program):
    folder = train("pieces", ["data.tokenizer.kind=bpe", "data.tokenizer.vocabulary_size=60"])
    file = folder / "best" / "target.model"
    printed = evaluate_by_program({"a": REFERENCES}, "--tokenize", "spm", "--spm-model", file)
    assert regard.evaluate(HYPOTHESES, REFERENCES, tokenize="spm", spm_model=file)["bleu"].score == (
        printed["bleu"]["score"]
    )


def test_a_score_prints_as_the_program_prints_it():
    score = regard.evaluate(REFERENCES, REFERENCES, "BLEU")["bleu"]
    assert str(score) == "BLEU = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len = 15 ref_len = 15)"
    assert float(score) == pytest.approx(100)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((["a"], ["a", "b"]), regard.InputError, "reference 1 has 2 lines, but found 1 hypothesis"),
        ((["a"], [["a"], ["a", "b"]]), regard.InputError, "reference 2 has 2 lines"),
        (([], []), regard.InputError, "empty, so there is nothing to score"),
        ((["a"], [" "]), regard.InputError, "reference: empty"),
        ((["a"], ["a"], "blue"), regard.ConfigError, "unknown metric 'blue'.*did you mean 'bleu'"),
        ((["a", 1], ["a", "b"]), TypeError, "hypothesis:2: found int, expected str"),
        ((["a", "b"], ["a", b"b"]), TypeError, "reference:2: found bytes"),
        ((["a", "b"], [["a", "b"], ["a", None]]), TypeError, "reference 2:2: found NoneType"),
        ((["a", "b\ud800"], ["a", "b"]), regard.InputError, r"hypothesis:2: character 2 is the surrogate"),
        (("a", ["a"]), TypeError, "hypothesis: found one str"),
        ((["a"], "a"), TypeError, "reference: found one str"),
    ],
)
def test_bad_input_is_named(arguments, error, message):
    with pytest.raises(error, match=message):
        regard.evaluate(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokenise": "intl"}, "unknown evaluation option 'tokenise'.*did you mean 'tokenize'"),
        ({"tokenize": "moses"}, "moses"),
        ({"lowercase": "perhaps"}, "found `perhaps`, expected true or false"),
        ({"chrf_char_order": 0}, "found `0`, expected a whole number between 1 and 9"),
        ({"smooth_value": 1}, "found smooth_method exp, expected floor or add-k"),
        ({"tokenize": "spm"}, "spm_model: found none"),
        ({"spm_model": "a.model"}, "spm_model: found one with tokenize=13a"),
        ({"resamples": 10}, "set confidence"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(regard.ConfigError, match=message):
        regard.evaluate(["a"], ["a"], **options)
