"""plot_attention()."""

import xml.etree.ElementTree

import numpy as np
import pytest

import regard


def texts_of(svg):
    return [element.text for element in xml.etree.ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_a_translation_is_drawn_with_its_tokens(model, tmp_path):
    translation = model.translate(["the cat"], return_attention=True)[0]
    plot = regard.plot_attention(translation, caption="a < b")
    texts = texts_of(plot.svg)
    assert {"the", "cat", "</s>", "a < b", *translation.tokens} <= set(texts)
    assert plot._repr_svg_() == plot.svg
    plot.save(tmp_path / "attention.svg")
    assert (tmp_path / "attention.svg").read_text(encoding="utf-8") == plot.svg


def test_another_ending_than_svg_is_refused(tmp_path):
    plot = regard.plot_attention([[1.0]], ["a"], ["b"])
    with pytest.raises(regard.ConfigError, match="a.png.*expected .svg"):
        plot.save(tmp_path / "a.png")
    assert not (tmp_path / "a.png").exists()


def test_the_picture_is_that_of_the_program(model, run_folder, regard_program, tmp_path):
    picture = tmp_path / "by_program.svg"
    regard_program("translate", "-m", run_folder, "--threads", 1, "--picture", picture, text="the cat\n")
    translation = model.translate(["the cat"], return_attention=True)[0]
    plot = regard.plot_attention(translation, caption="Line 1", text=["the cat", translation.text])
    assert plot.svg == picture.read_text(encoding="utf-8")


def test_a_matrix_of_any_type_is_drawn_with_the_given_tokens():
    weights = [[0.25, 0.75], [1, 0]]
    wanted = regard.plot_attention(weights, ["a", "b"], ["c", "d"], scale="row").svg
    assert {"a", "b", "c", "d"} <= set(texts_of(wanted))
    strided = np.asarray(weights, dtype=np.float64).T.copy().T
    assert regard.plot_attention(strided, ["a", "b"], ["c", "d"], scale="row").svg == wanted


def test_a_head_of_self_attention_is_drawn(transformer_folder):
    own = regard.Model(transformer_folder, threads=1).self_attention(["the cat"], ["le chat"])[0]
    svg = regard.plot_attention(own.encoder[0, 1], own.source_tokens, own.source_tokens).svg
    assert texts_of(svg).count("cat") == 2


def test_bad_input_is_named(model):
    with pytest.raises(regard.InputError, match=r"found the shape \[1, 2\], expected \[1, 3\]"):
        regard.plot_attention([[0.5, 0.5]], ["a", "b", "c"], ["d"])
    with pytest.raises(regard.InputError, match="the line is blank"):
        regard.plot_attention(model.translate([""], return_attention=True)[0])
    with pytest.raises(regard.ConfigError, match="scale: found `log`, expected one of absolute, picture, row"):
        regard.plot_attention([[1]], ["a"], ["b"], scale="log")
    with pytest.raises(TypeError, match="a matrix needs source_tokens and target_tokens"):
        regard.plot_attention([[1]])
    with pytest.raises(TypeError, match="found a Hypothesis"):
        regard.plot_attention(model.n_best(["the cat"], 1)[0].best)
