"""build.py, which makes the wheels."""

import importlib.util
import platform
import shutil
import sys
from pathlib import Path

import pytest


@pytest.fixture
def build(monkeypatch):
    spec = importlib.util.spec_from_file_location("build", Path(__file__).resolve().parents[1] / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = []
    monkeypatch.setattr(module, "wheel", lambda out, arch, asked: made.append((arch, module.compiler(arch, asked))))
    monkeypatch.setattr(module, "check", lambda path: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)  # no zig
    monkeypatch.setattr(shutil, "which", lambda program: program if program in ("gcc", "cc") else None)
    module.made = made
    return module


def test_wheels_without_a_compiler_are_skipped(build, monkeypatch, capsys):
    """Without a compiler for other machines there is a wheel for this one, and a line that says what is missing."""
    here = platform.machine()
    (other,) = set(build.SYSTEMS) - {here}
    monkeypatch.setattr(sys, "argv", ["build.py", "wheel"])
    for cc in ("", "cc"):
        monkeypatch.setenv("CC", cc)
        build.made.clear()
        assert not build.main()
        assert build.made == [(here, cc or "gcc")]
        assert capsys.readouterr().out.startswith(f"skipped the wheel for {other}: found no C compiler {other}-linux-gnu-gcc")


def test_a_wheel_that_is_asked_for_is_not_skipped(build, monkeypatch):
    (other,) = set(build.SYSTEMS) - {platform.machine()}
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(sys, "argv", ["build.py", "wheel", "--arch", other])
    with pytest.raises(SystemExit, match="found no C compiler"):
        build.main()
    monkeypatch.setenv("CC", "cc")
    build.main()
    assert build.made == [(other, "cc")]
