"""The examples of docs/python.md and README.md: they run, and print what the page says."""

import contextlib
import io
import os
import re
import shutil

import pytest
from conftest import ROOT

# With UPDATE_DOCS=1 the page is made to say what the examples print; times are left as they are.
UPDATE = os.environ.get("UPDATE_DOCS") == "1"


def blocks(text):
    """Python blocks with the text block that follows each, if any: its place, and what it says."""
    for code in re.finditer(r"```python\n(.*?)```\n", text, re.S):
        after = re.compile(r"\s*```text\n(.*?)```\n", re.S).match(text, code.end())
        yield code.group(1), after


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("train.txt", "test.txt"):
        shutil.copy(ROOT / "testdata" / name, tmp_path)
    monkeypatch.chdir(tmp_path)


def test_page(folder):
    pytest.importorskip("sklearn")
    pytest.importorskip("pandas")
    path = ROOT / "docs" / "python.md"
    text = path.read_text()
    names, replaced = {}, text
    examples = list(blocks(text))
    assert len(examples) >= 6
    for code, said in examples:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, str(path), "exec"), names)
        if said is None:
            assert out.getvalue() == "", code
        elif UPDATE:
            replaced = replaced.replace(said.group(0), f"\n```text\n{out.getvalue()}```\n")
        else:
            assert out.getvalue() == said.group(1), code
    if UPDATE:
        path.write_text(replaced)


@pytest.mark.parametrize("page", ["README.md", "python/README.md"])
def test_readmes(page, folder):
    examples = list(blocks((ROOT / page).read_text()))
    assert len(examples) == 1
    exec(compile(examples[0][0], page, "exec"), {"print": lambda *_: None})


def test_every_public_name_is_documented():
    import listwise

    for name in listwise.__all__:
        assert name == "__version__" or (getattr(listwise, name).__doc__ or "").strip(), name
