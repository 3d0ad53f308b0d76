"""The package: in one process with PyTorch and SentencePiece, and its version of PyTorch."""

import itertools
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap

import pytest
import torch

import regard


@pytest.fixture(scope="module")
def pieces_folder(train):
    return train("pieces", ["data.tokenizer.kind=bpe", "data.tokenizer.vocabulary_size=60"])


def run_python(program, **more):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, encoding="utf-8", timeout=120, **more
    )


@pytest.mark.parametrize("order", list(itertools.permutations(["regard", "torch", "sentencepiece"])), ids=" ".join)
def test_torch_and_sentencepiece_work_in_the_same_process(order, pieces_folder):
    program = f"""
        import {order[0]}
        import {order[1]}
        import {order[2]}

        def use_torch():
            weight = torch.arange(6.0).reshape(2, 3).requires_grad_()
            (weight @ weight.T).sum().backward()
            assert weight.grad.tolist() == [[6, 10, 14], [6, 10, 14]]
            layer = torch.nn.LSTM(4, 4)
            assert layer(torch.zeros(2, 1, 4))[0].shape == (2, 1, 4)

        def use_sentencepiece():
            pieces = sentencepiece.SentencePieceProcessor(model_file={str(pieces_folder / "best/source.model")!r})
            tokens = pieces.encode("the cat sees a dog", out_type=str)
            assert pieces.decode(tokens) == "the cat sees a dog"
            return tokens

        def use_regard():
            model = regard.Model({str(pieces_folder)!r}, threads=2)
            translation = model.translate(["the cat sees a dog"], return_attention=True)[0]
            assert translation.text
            return translation.source_tokens

        use = dict(torch=use_torch, sentencepiece=use_sentencepiece, regard=use_regard)
        for name in {[*order, *reversed(order)]!r}:
            use[name]()
        assert use_regard() == use_sentencepiece() + ["</s>"]
        use_torch()
        print("done")
        """
    finished = run_python(program)
    assert (finished.stdout, finished.stderr, finished.returncode) == ("done\n", "", 0)


def test_tensors_of_torch_do_not_change_translations(run_folder, sources, model):
    program = f"""
        import torch
        torch.set_num_threads(2)
        torch.randn(400, 400) @ torch.randn(400, 400)
        import regard
        model = regard.Model({str(run_folder)!r}, device="cpu", threads=1)
        print(torch.get_num_threads())
        torch.set_num_threads(2)
        torch.set_default_dtype(torch.float64)
        torch.use_deterministic_algorithms(True)
        print(*model.translate({sources!r}), sep="\\n")
        print(torch.get_num_threads(), torch.get_default_dtype(), torch.is_grad_enabled())
        """
    finished = run_python(program)
    assert finished.stderr == ""
    assert finished.stdout.splitlines() == ["1", *model.translate(sources), "2 torch.float64 True"]


def test_another_version_of_torch_is_refused(tmp_path):
    copy = tmp_path / "regard"
    shutil.copytree(pathlib.Path(regard.__file__).parent, copy)
    build = copy / "_build.py"
    build.write_text(build.read_text().replace(torch.__version__, "1.0.0"), encoding="utf-8")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import regard"
    finished = run_python(program)
    assert finished.returncode == 1
    assert f"regard was built with PyTorch 1.0.0, but found PyTorch {torch.__version__}" in finished.stderr


def test_the_version_is_that_of_the_program(regard_program):
    assert f"regard {regard.__version__}" in regard_program("--version")


def test_the_stub_names_the_functions_of_the_extension_module():
    from regard import _native

    stub = (pathlib.Path(_native.__file__).parent / "_native.pyi").read_text(encoding="utf-8")
    for name in [name for name in dir(_native) if not name.startswith("_")]:
        assert f"class {name}:" in stub or f"def {name}(" in stub
    for name in [name for name in dir(_native.Model) if not name.startswith("_")]:
        assert f"    def {name}(" in stub
    assert (pathlib.Path(_native.__file__).parent / "py.typed").exists()


def test_the_examples_of_the_documentation_run(repository, transformer_folder, tagged_folder, tmp_path):
    page = (repository / "docs/python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page.split("\n## Examples\n")[1].split("\n## ")[0], re.M | re.S)
    program = "".join(blocks)
    assert program.count('regard.Model("runs/mine")') == 1
    folders = {"runs/many": tagged_folder} | dict.fromkeys(("runs/mine", "runs/a", "runs/b"), transformer_folder)
    for name, folder in folders.items():
        program = program.replace(name, str(folder))
    (tmp_path / "terms.tsv").write_text("dog\tchien\n", encoding="utf-8")
    finished = run_python(program, cwd=tmp_path)
    assert (finished.stderr, finished.returncode) == ("", 0)
    assert "BLEU = " in finished.stdout
    assert (tmp_path / "attention.svg").exists()


def test_a_pytorch_module_translates_as_the_library(run_folder, sources):
    model = regard.to_torch(run_folder)
    assert isinstance(model, torch.nn.Module)
    assert model.translate(sources) == regard.Model(run_folder, precision="fp32").translate(sources)


def test_errors_form_a_hierarchy():
    for error in (regard.ConfigError, regard.InputError, regard.CheckpointError, regard.EnvironmentError):
        assert issubclass(error, regard.Error)
    assert issubclass(regard.Error, RuntimeError)
    assert issubclass(regard.ConfigError, ValueError)
    assert issubclass(regard.InputError, ValueError)
