"""Code that defaults.py and beside.py share: reading data, training by other programs, and evaluation."""

import csv
import json
import math
import statistics
import subprocess
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

import catboost
import lightgbm
import numpy as np
import pandas
import xgboost

MEASURE = "ndcg@10"
PATIENCE = 100  # trees without improvement on validation data, for all programs


@dataclass
class Case:
    """Training and test data: a set, or one fold of it."""

    name: str
    train: list[Path]
    test: Path
    about: dict

    @property
    def categorical(self):
        """Numbers of the categorical features, from 1."""
        return self.about.get("categorical", [])


def cases(sets: Path, names: list[str]):
    """The folds of a set are cases of their own, which train on all queries that are not test data."""
    for folder in sorted(sets.iterdir()):
        if not (folder / "set.json").exists() or names and folder.name not in names:
            continue
        about = json.loads((folder / "set.json").read_text())
        if (folder / "Fold1").exists():
            for fold in sorted(folder.glob("Fold*")):
                yield Case(f"{folder.name}/{fold.name}", [fold / "train.txt", fold / "vali.txt"], fold / "test.txt", about)
        else:
            yield Case(folder.name, [folder / "train.txt"], folder / "test.txt", about)


@dataclass
class Data:
    """Judged documents; those of a query stand together."""

    x: np.ndarray
    grades: np.ndarray
    sizes: np.ndarray
    categorical: list[int] = field(default_factory=list)

    def queries(self):
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def of(self, chosen: np.ndarray):
        """The chosen queries, a boolean for each."""
        rows = np.repeat(chosen, self.sizes)
        return replace(self, x=self.x[rows], grades=self.grades[rows], sizes=self.sizes[chosen])

    def whole(self):
        return bool(np.all(self.grades == np.round(self.grades)))


def lines(path: Path):
    """The query and the text of each line."""
    for line in path.read_text().splitlines():
        yield line.split(None, 2)[1], line


def read(paths: list[Path], categorical: list[int], features: int = 0) -> Data:
    grades, sizes, last = [], [], None
    at, columns, values = [], [], []
    for path in paths:
        for query, line in lines(path):
            cells = line.split("#", 1)[0].split()
            grades.append(float(cells[0]))
            if query != last:
                sizes.append(0)
                last = query
            sizes[-1] += 1
            pairs = np.array(" ".join(cells[2:]).replace(":", " ").split(), float)
            at.append(np.full(len(pairs) // 2, len(grades) - 1))
            columns.append(pairs[0::2].astype(int) - 1)
            values.append(pairs[1::2].astype(np.float32))
    columns = np.concatenate(columns)
    x = np.zeros((len(grades), max(features, columns.max() + 1)), np.float32)
    x[np.concatenate(at), columns] = np.concatenate(values)
    return Data(x[:, :features] if features else x, np.array(grades), np.array(sizes), categorical)


def cached(folder: Path, case: Case):
    """The data of a case, from a file after the first time."""
    file = folder / "data" / f"{case.name.replace('/', '-')}.npz"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        train = read(case.train, case.categorical)
        test = read([case.test], case.categorical, train.x.shape[1])
        np.savez(file, **{f"{part}_{k}": getattr(d, k) for part, d in [("train", train), ("test", test)] for k in ["x", "grades", "sizes"]})
    with np.load(file) as f:
        return tuple(Data(f[f"{part}_x"], f[f"{part}_grades"], f[f"{part}_sizes"], case.categorical) for part in ["train", "test"])


def division(queries: int, parts: int, seed: int) -> np.ndarray:
    """The part of each query, drawn by the seed. All programs get the same parts; auto in beside.py divides by itself."""
    return np.random.default_rng(seed).permutation(queries) % parts


def split(case: Case, part: np.ndarray, number: int, into: Path):
    """Writes train.txt, and the queries of one part as valid.txt."""
    into.mkdir(parents=True, exist_ok=True)
    query, last = -1, None
    with open(into / "train.txt", "w") as train, open(into / "valid.txt", "w") as valid:
        for path in case.train:
            for name, line in lines(path):
                if name != last:
                    query, last = query + 1, name
                (valid if part[query] == number else train).write(line + "\n")


# The programs' own rules for grades differ. LightGBM takes whole grades with a table of gains. XGBoost's
# exponential gain truncates grades, so it gets the gains themselves. Shares of clicks are graded in thousandths.
def whole_grades(d: Data):
    return (d.grades, None) if d.whole() else (np.round(1000 * d.grades), [2 ** (i / 1000) - 1 for i in range(1001)])


def lightgbm_fit(settings: dict, trees: int, train: Data, valid, seed: int, threads: int):
    grades, gains = whole_grades(train)
    params = {"objective": "lambdarank", "metric": "ndcg", "eval_at": [10], "verbosity": -1, "num_threads": threads, "seed": seed, "deterministic": True, **settings}
    if params["objective"] == "rank_xendcg" and gains:
        # It truncates grades and exponentiates them: ten steps are as fine as it can learn from.
        grades, gains = np.round(10 * train.grades), None
    if gains:
        params["label_gain"] = gains
    columns = [j - 1 for j in train.categorical] or "auto"
    data = lightgbm.Dataset(train.x, grades, group=train.sizes, categorical_feature=columns, params={"verbosity": -1})
    if valid is None:
        model = lightgbm.train(params, data, trees)
    else:
        judged = whole_grades(valid)[0] if params["objective"] == "lambdarank" else (valid.grades if not gains and train.whole() else np.round(10 * valid.grades))
        check = lightgbm.Dataset(valid.x, judged, group=valid.sizes, reference=data)
        model = lightgbm.train(params, data, trees, valid_sets=[check], callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)])
    return model.predict


def xgboost_matrix(d: Data, graded=True):
    types = ["c" if j + 1 in d.categorical else "q" for j in range(d.x.shape[1])]
    more = dict(label=d.grades if d.whole() else 2**d.grades - 1, qid=d.queries()) if graded else {}
    return xgboost.DMatrix(d.x, feature_types=types, enable_categorical=True, **more)


def xgboost_fit(settings: dict, trees: int, train: Data, valid, seed: int, threads: int):
    params = {"objective": "rank:ndcg", "eval_metric": "ndcg@10", "verbosity": 0, "nthread": threads, "seed": seed, "ndcg_exp_gain": train.whole(), **settings}
    if valid is None:
        model = xgboost.train(params, xgboost_matrix(train), trees)
        last = trees
    else:
        model = xgboost.train(params, xgboost_matrix(train), trees, evals=[(xgboost_matrix(valid), "valid")], early_stopping_rounds=PATIENCE, verbose_eval=False)
        last = model.best_iteration + 1
    return lambda x: model.predict(xgboost_matrix(Data(x, None, None, train.categorical), graded=False), iteration_range=(0, last))


def catboost_table(d: Data, x):
    if not d.categorical:
        return x
    frame = pandas.DataFrame(x)
    for j in d.categorical:
        frame[j - 1] = frame[j - 1].astype(int)
    return frame


def catboost_pool(d: Data):
    return catboost.Pool(catboost_table(d, d.x), d.grades, group_id=d.queries(), cat_features=[j - 1 for j in d.categorical])


def catboost_fit(settings: dict, trees: int, train: Data, valid, seed: int, threads: int):
    params = {"loss_function": "YetiRank", "eval_metric": "NDCG:top=10;type=Exp", "verbose": False, "thread_count": threads, "random_seed": seed,
              "allow_writing_files": False, "iterations": trees, **settings}
    model = catboost.CatBoost(params)
    pool = catboost_pool(train)
    if valid is None:
        model.fit(pool)
    else:
        model.fit(pool, eval_set=catboost_pool(valid), early_stopping_rounds=PATIENCE, use_best_model=True)
    return lambda x: model.predict(catboost_table(train, x), thread_count=threads)


FIT = {"lightgbm": lightgbm_fit, "xgboost": xgboost_fit, "catboost": catboost_fit}


def measure(listwise: str, test: Path, scores=None, model: Path = None) -> list[float]:
    """NDCG@10 of each query with exponential gains, averaged over the orders of equal scores."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scores"
        by = ["--model", model] if model else ["--scores", file]
        if not model:
            file.write_text("".join(f"{float(s)!r}\n" for s in scores))
        table = Path(folder) / "queries.csv"
        subprocess.run([listwise, "eval", "--quiet", "--no-record", "--data", test, *by, "--measures", MEASURE, "--convention", "standard", "--ties", "average",
                        "--per-query", table], check=True, stdout=subprocess.DEVNULL)
        with open(table) as f:
            return [float(row[MEASURE]) for row in csv.DictReader(f)]


def difference(a: list[float], b: list[float]):
    """The mean of a − b over queries, half of its 95 % interval, and the two-sided p, by the normal distribution."""
    d = np.array(a) - np.array(b)
    error = d.std(ddof=1) / math.sqrt(len(d))
    p = math.erfc(abs(d.mean()) / error / math.sqrt(2)) if error else 1.0
    return d.mean(), 1.959964 * error, p


def holm(ps: list[float]) -> list[float]:
    adjusted, highest = [0.0] * len(ps), 0.0
    for rank, i in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[i]))
        adjusted[i] = highest
    return adjusted


def results(out: Path, system: str, names: list[str], seeds: list[int]):
    """The values by query of a system's finished runs, averaged over seeds, of the folds in turn; None if one is not there."""
    values = []
    for name in names:
        files = [out / name / system / f"{seed}.json" for seed in seeds]
        if not all(f.exists() for f in files):
            return None
        values += np.mean([json.loads(f.read_text())["values"] for f in files], axis=0).tolist()
    return values


def sets_of(names: list[str]) -> dict[str, list[str]]:
    """The cases of each set."""
    sets = {}
    for name in names:
        sets.setdefault(name.split("/")[0], []).append(name)
    return sets


def save(file: Path, run: dict):
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(".new")
    new.write_text(json.dumps(run) + "\n")
    new.replace(file)


def mean(values):
    return statistics.fmean(values)
