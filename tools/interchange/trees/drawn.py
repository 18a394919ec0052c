"""Random data and models in listwise's format, and calls of the program, for the checks in this folder."""

import json
import subprocess
from pathlib import Path

import numpy as np

MOST = np.finfo(np.float32).max
EXTREMES = np.array([0, -0.0, 1, -1, MOST, -MOST, 1e-45, -1e-45, 1e-35, -1e-35, 0.1, 0.3, 2**24], dtype=np.float32)
CATEGORIES = 70


class Program:
    """The program under test, and a folder for its files."""

    def __init__(self, binary, folder):
        self.binary, self.folder = str(Path(binary).resolve()), Path(folder)

    def run(self, *args):
        done = subprocess.run([self.binary, *map(str, args), "--quiet"], cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"listwise {' '.join(map(str, args))}: {done.stderr.strip()}")
        return done.stdout

    def score(self, model, x):
        """The scores of rows of x by a model file of any format."""
        write_letor(self.folder / "data.txt", x)
        return np.array([float(v) for v in self.run("score", "--model", model, "--data", "data.txt").split()])


def write_letor(path, x, grades=None):
    with open(path, "w") as out:
        for i, row in enumerate(x):
            grade = 0 if grades is None else grades[i]
            out.write(f"{grade} qid:{i // 50 + 1} " + " ".join(f"{j + 1}:{float(v)!r}" for j, v in enumerate(row)) + "\n")


def draw_value(rng):
    return rng.choice(EXTREMES) if rng.random() < 0.3 else np.float32(rng.normal())


def draw_tree(rng, features, categorical, missing):
    """A tree as model files have it; features before `categorical` have categories."""
    feature, threshold, left, right, missing_left, categories = [], [], [], [], [], []
    for node in range(rng.integers(0, 12)):
        f = int(rng.integers(features))
        feature.append(f + 1)
        if f < categorical:
            threshold.append(None)
            some = np.sort(rng.choice(CATEGORIES, rng.integers(1, 12), replace=False))
            categories.append({"node": node, "left": [float(c) for c in some]})
        else:
            threshold.append(float(draw_value(rng)))
            if missing and rng.random() < 0.5:
                missing_left.append(node)
        if node > 0:  # a random leaf becomes the node
            leaf = -1 - int(rng.integers(node + 1))
            for side in (left, right):
                side[:] = [node if c == leaf else c for c in side]
            left.append(leaf)
            right.append(-1 - (node + 1))
        else:
            left.append(-1)
            right.append(-2)
    values = [float(np.float32(v)) for v in rng.normal(size=len(feature) + 1)]
    tree = {"feature": feature, "threshold": threshold, "left": left, "right": right, "missing_left": missing_left, "values": values}
    if categories:
        tree["categories"] = categories
    return tree


def draw_model(rng, path, categorical=0, missing=True):
    """Writes a model of random trees, and returns it."""
    features = int(rng.integers(max(2, categorical), 7))
    trees = [draw_tree(rng, features, categorical, missing) for _ in range(rng.integers(1, 6))]
    model = {
        "format": "listwise-model", "version": 1, "method": "drawn", "hyperparameters": {}, "seed": 0,
        "features": {"count": features}, "normalization": "none", "training": {},
        "scorer": {"type": "trees", "features": features, "trees": trees},
    }
    if missing:
        model["missing"] = "keep"
    if rng.random() < 0.5:
        model["features"]["names"] = [f"name{j}" for j in range(features)]
    path.write_text(json.dumps(model))
    return model


def draw_documents(rng, model, rows=100, categorical=0, missing=True):
    """Rows of values at the thresholds, beside them, and anywhere; whole numbers for categories."""
    features = model["features"]["count"]
    x = np.array([[draw_value(rng) for _ in range(features)] for _ in range(rows)], dtype=np.float32)
    for j in range(features):
        if j < categorical:
            x[:, j] = rng.integers(0, CATEGORIES + 5, rows)
            continue
        at = [t for tree in model["scorer"]["trees"] for f, t in zip(tree["feature"], tree["threshold"]) if f == j + 1]
        if at:
            at = np.array(at, dtype=np.float32)
            with np.errstate(over="ignore"):
                at = np.concatenate([at, np.nextafter(at, np.float32(np.inf)), np.nextafter(at, np.float32(-np.inf))])
            at = at[np.isfinite(at)]
            some = rng.random(rows) < 0.6
            x[some, j] = rng.choice(at, some.sum())
    if missing:
        x[rng.random(x.shape) < 0.15] = np.nan
    return x


def draw_training(rng, rows=400, features=5, categorical=0, missing=0.1, coarse=False):
    """Features and grades from 0 to 2 that depend on them, in lists of 50."""
    x = rng.normal(size=(rows, features)).astype(np.float32)
    if coarse:  # ties at thresholds
        x = np.round(x * 4).astype(np.float32) / 4
    for j in range(categorical):
        x[:, j] = rng.integers(0, 12, rows)
    signal = x[:, -1] + np.sin(3 * x[:, 0]) + 0.3 * rng.normal(size=rows)
    x[rng.random(x.shape) < missing] = np.nan
    return x, np.digitize(signal, [-0.5, 0.8])
