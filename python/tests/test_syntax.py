"""What the wheel promises of Python: the sources are of the oldest version that it names."""

import ast
import re
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]


def test_sources_are_of_the_oldest_python():
    promised = {re.search(r"(?i)requires-python\W+>=3\.(\d+)", (HERE / name).read_text()).group(1) for name in ("pyproject.toml", "build.py")}
    assert len(promised) == 1
    minor = int(promised.pop())
    for path in sorted((HERE / "src" / "listwise").glob("*.py")):
        ast.parse(path.read_text(), str(path), feature_version=(3, minor))
