"""What the tests share: data, and the program listwise to compare with."""

import os
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]

# A shell ignores SIGINT for its background jobs, which inherit that. The tests of Ctrl-C would wait forever.
signal.signal(signal.SIGINT, signal.default_int_handler)


def judged(queries=30, documents=12, features=5, seed=0, levels=3):
    """Random judged documents whose grades depend on the features."""
    rng = np.random.default_rng(seed)
    n = queries * documents
    X = rng.normal(size=(n, features)).astype(np.float32)
    relevance = X[:, 0] + 0.5 * X[:, 1] + rng.normal(scale=0.7, size=n)
    y = np.digitize(relevance, np.quantile(relevance, np.linspace(0.6, 0.95, levels - 1))).astype(float)
    return X, y, np.repeat(np.arange(queries) + 1, documents)


def letor(path, X, y, qid, missing=None):
    """Writes documents as LETOR text, whose numbers are read as the same float32."""
    with open(path, "w") as file:
        for row, grade, query in zip(X, y, qid, strict=True):
            values = " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row.tolist()))
            file.write(f"{grade:g} qid:{query} {values}\n")


@pytest.fixture(scope="session")
def listwise_program(tmp_path_factory):
    """The program, LISTWISE if that is set."""
    if os.environ.get("LISTWISE"):
        return os.environ["LISTWISE"]
    path = tmp_path_factory.mktemp("program") / "listwise"
    subprocess.run(["go", "build", "-o", path, "./cmd/listwise"], cwd=ROOT, check=True)
    return str(path)


@pytest.fixture
def command(listwise_program, tmp_path):
    """Runs the program, which must succeed, and returns what it prints."""

    def run(*args):
        done = subprocess.run([listwise_program, *map(str, args)], cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "LISTWISE_RUNS": "off"})
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def data():
    return judged()
