"""compare, tune, fuse and report: what the commands of these names do, for data in memory."""

from __future__ import annotations

import html
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _jobs
from ._data import Data, judged
from ._errors import Error
from ._evaluate import USUAL, measure_list
from ._model import Model
from ._queries import one_query, queries
from ._ranker import Ranker
from ._settings import settings, text
from ._tables import Features, numbers


def command(*args: str) -> str:
    """Run a command of the command line in this process and return what it prints; what it warns of
    is a DataWarning."""
    for before, arg in zip(("", *args), args, strict=False):
        if not isinstance(arg, str):
            raise Error(f"{before.removeprefix('--')}: found {arg!r}, expected a text")
    with _jobs.run("command", {"args": list(args)}) as answer:
        notes: list[str] = answer.fields["notes"]
        _jobs.tell([line.removeprefix("warning: ") for line in notes if line.startswith("warning: ")])
        out: str = answer.fields["out"]
        return out


@contextmanager
def _folder() -> Any:
    """A folder for the files of a command; messages name the files without it."""
    with tempfile.TemporaryDirectory(prefix="listwise-") as folder:
        try:
            yield Path(folder)
        except Error as error:
            raise type(error)(str(error).replace(folder + os.sep, "")) from None


def _write(path: Path, X: Any, y: Any, qid: Any, group: Any, name: str) -> None:
    """Write documents as a cache; without features they have one that is 0."""
    request = _jobs.Request()
    if X is None:
        grades = numbers(y, "y")
        of = queries(qid, group, len(grades))
        if of is None:
            raise Error("expected qid (a query id for each document) or group (the numbers of documents of the queries)")
        data = Data.of(request, Features(np.zeros((len(grades), 1), np.float32), None, None), grades, of, name)
    else:
        data = judged(request, X, y, qid, group, None, None, name)
    with _jobs.run("write", {"data": data.fields, "path": str(path)}, request):
        pass


System = Any  # a Ranker, a Model, scores, or the path of a file


def _systems(systems: Any, folder: Path) -> list[str]:
    """Arguments NAME=FILE of systems, whose models and scores are written to files."""
    if not isinstance(systems, Mapping):
        raise Error("systems: expected a dict of names and rankers, models, scores or paths of files")
    arguments = []
    for i, (name, system) in enumerate(systems.items()):
        if not isinstance(name, str) or not name or any(c in name for c in "=/\\\n"):
            raise Error(f"systems: found the name {name!r}, expected a text without = and /")
        path: str
        if isinstance(system, (str, os.PathLike)):
            path = os.fspath(system)
        elif isinstance(system, (Ranker, Model)):
            path = str(folder / f"{i}.json")
            (system if isinstance(system, Model) else system._fitted()).save(path)
        else:
            path = str(folder / f"{i}.scores")
            scores = numbers(system, f"systems: {name}")
            if not np.isfinite(scores).all():
                raise Error(f"systems: {name}: found a score that is not finite")
            Path(path).write_text("".join(f"{s!r}\n" for s in scores.tolist()))
        arguments.append(f"{name}={path}")
    return arguments


class Comparison:
    """The outcome of :func:`compare`.

    Attributes:
        data: all of it, as ``listwise compare --format json`` prints it.
        means: the mean of the measure for each system.
        pairs: a dict for each pair of systems, with the difference of their means, its interval and
            the p values of tests, also corrected for their number (Holm).
    """

    def __init__(self, data: dict[str, Any], table: str) -> None:
        self.data = data
        self.means = {s["name"]: s["mean"] for s in data["systems"]}
        self.pairs: list[dict[str, Any]] = data["pairs"]
        self._table = table

    def __str__(self) -> str:
        return self._table

    def __repr__(self) -> str:
        return f"Comparison({self.data['measure']}: {self.means})"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._table)}</pre>"


def compare(
    systems: Mapping[str, System],
    y: Any,
    *,
    X: Any = None,
    qid: Any = None,
    group: Any = None,
    measure: str = "map",
    baseline: str | None = None,
    convention: str = "standard",
    threshold: float | str = "auto",
    ties: str = "input",
    permutations: int = 100_000,
    resamples: int = 10_000,
    seed: int = 1,
) -> Comparison:
    """Compare systems on the same queries, with tests and intervals.

    Args:
        systems: names of systems, and what gives their scores: rankers, models, arrays of scores
            (documents,), or paths of files of models or scores.
        y: grades, (documents,).
        X: features, (documents, features), which rankers and models need.
        qid, group: the queries, as for ``Ranker.fit``.
        measure: to compare by.
        baseline: the system that the others are compared with; None: every pair.
        permutations, resamples: numbers of sign flips and of bootstrap samples.
        seed: of both.
    """
    with _folder() as folder:
        _write(folder / "data.lwd", X, y, qid, group, "y" if X is None else "X")
        args = ["compare", "--data", str(folder / "data.lwd"), "--measure", measure, "--seed", str(seed)]
        args += ["--permutations", str(permutations), "--resamples", str(resamples), *_judging(convention, threshold), "--ties", ties]
        if baseline is not None:
            args += ["--baseline", baseline]
        named = _systems(systems, folder)
        data = json.loads(command(*args, "--format", "json", *named))
        return Comparison(data, command(*args, "--quiet", *named))


def _judging(convention: str, threshold: float | str) -> list[str]:
    return ["--convention", convention, "--threshold", text("threshold", threshold)]


class Report:
    """A page on systems, in one file without anything from the network.

    Notebooks show it in a frame of its own. Attributes:
        html: the page.
    """

    def __init__(self, page: str) -> None:
        self.html = page

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        return f"Report({len(self.html)} characters of HTML)"

    def _repr_html_(self) -> str:
        # The frame keeps the page's scripts and styles apart from the notebook's.
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" sandbox="allow-scripts allow-downloads allow-popups" '
            'style="width:100%;height:800px;border:1px solid #ccc" title="listwise report"></iframe>'
        )


def report(
    systems: Mapping[str, System],
    y: Any,
    *,
    X: Any = None,
    qid: Any = None,
    group: Any = None,
    measures: str | list[str] = USUAL,
    title: str = "",
    baseline: str | None = None,
    convention: str = "standard",
    threshold: float | str = "auto",
    seed: int = 1,
) -> Report:
    """A page that compares systems: means with tests, curves, single queries, what models do.

    Arguments are those of :func:`compare`; the first measure sorts the queries."""
    with _folder() as folder:
        _write(folder / "data.lwd", X, y, qid, group, "y" if X is None else "X")
        out = folder / "report.html"
        args = ["report", "--data", str(folder / "data.lwd"), "--out", str(out), "--measures", measure_list(measures)]
        args += ["--seed", str(seed), "--title", title or "Comparison", *_judging(convention, threshold)]
        if baseline is not None:
            args += ["--baseline", baseline]
        command(*args, *_systems(systems, folder))
        return Report(out.read_text(encoding="utf-8").replace(str(folder) + os.sep, ""))


class Tuning:
    """The outcome of :func:`tune`.

    Attributes:
        data: all of it, as ``listwise tune --format json`` prints it.
        ranker: the method and setting that are best over all folds, trained on all data.
        measures: for each method, the mean of each measure on queries that its settings were not
            trained on.
    """

    def __init__(self, data: dict[str, Any], ranker: Ranker) -> None:
        self.data, self.ranker = data, ranker
        self.measures = {m["method"]: {k: v["mean"] for k, v in m["measures"].items()} for m in data["methods"]}

    def __repr__(self) -> str:
        return f"Tuning({self.ranker!r}: {self.measures})"


def tune(
    method: str | Sequence[str],
    X: Any,
    y: Any,
    *,
    qid: Any = None,
    group: Any = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    folds: int = 5,
    measure: str | None = None,
    select: str = "map",
    measures: str | list[str] = USUAL,
    scorer: str | None = None,
    budget: int | str | None = None,
    search: str = "grid",
    halving: bool = False,
    jobs: int | None = None,
    convention: str = "standard",
    threshold: float | str = "auto",
    normalize: str = "none",
    views: str = "raw",
    missing: str = "error",
    seed: int = 1,
) -> Tuning:
    """Try settings of methods on folds of the queries, and train the best on all data.

    Args:
        method: a method or several.
        X, y, qid, group: the documents, as for ``Ranker.fit``.
        grid: values to try of hyperparameters; of others, the method's own grid.
        folds: parts that the queries are divided into, each for validation once.
        measure: that methods optimise; None: their own.
        select: the measure on validation queries that settings are chosen by.
        measures: to report.
        budget: a number of settings of each method, or a time such as ``"30m"``; None: all.
        search: ``"grid"`` or ``"random"``.
        halving: try settings on a part of the training queries first.
        jobs: trainings side by side; None: one a core.
    """
    methods = [method] if isinstance(method, str) else list(method)
    with _folder() as folder:
        _write(folder / "data.lwd", X, y, qid, group, "X")
        args = ["tune", "--no-record", "--refit", "--data", str(folder / "data.lwd"), "--out", str(folder / "out"), "--format", "json"]
        args += ["--method", ",".join(methods), "--folds", str(folds), "--select", select, "--measures", measure_list(measures)]
        args += ["--normalize", normalize, "--views", views, "--missing", missing, "--seed", str(seed), "--search", search]
        args += _judging(convention, threshold)
        for name, values in (grid or {}).items():
            if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
                raise Error(f"grid: {name}: found {values!r}, expected a list of values")
            args += ["--grid", f"{name}=" + ",".join(text(name, v) for v in values)]
        for flag, value in {"--measure": measure, "--scorer": scorer, "--budget": budget, "--jobs": jobs}.items():
            if value is not None:
                args += [flag, str(value)]
        if halving:
            args.append("--halving")
        data = json.loads(command(*args))
        ranker = Ranker.load(folder / "out" / "model.json")
        ranker.set_params(scorer=scorer, threshold=threshold)
        return Tuning(data, ranker)


def fuse(
    systems: Sequence[Any],
    *,
    qid: Any = None,
    group: Any = None,
    rule: str = "combsum",
    scale: str = "minmax",
    k: float = 60,
    weights: Sequence[float] | None = None,
) -> Any:
    """Make one ranking of several.

    Args:
        systems: rankers or models, or arrays of scores, (documents,); -inf for a document that a
            system did not retrieve.
        qid, group: the queries of scores, as for :func:`evaluate`.
        rule: ``"rrf"``, ``"combsum"``, ``"combmnz"`` or ``"borda"``.
        scale: of combsum and combmnz: ``"minmax"``, ``"zscore"`` … within a query.
        k: of rrf.
        weights: one a system; None: equal, and 1 together.

    Returns: a Ranker whose model is the fusion, or the fused scores, (documents,).
    """
    systems = list(systems)
    if len(systems) < 2:
        raise Error(f"systems: found {len(systems)}, expected two at least")
    for name, value in {"rule": rule, "scale": scale}.items():
        if not isinstance(value, str):
            raise Error(f"{name}: found {value!r}, expected a text")
    given = None if weights is None else [float(w) for w in numbers(weights, "weights")]
    fields: dict[str, Any] = {"rule": rule, "scale": scale, "k": float(numbers([k], "k")[0]), "weights": given}
    models = [isinstance(s, (Ranker, Model)) for s in systems]
    if all(models):
        if qid is not None or group is not None:
            raise Error("qid and group: expected neither with rankers, only with scores")
        kept = [s._fitted() if isinstance(s, Ranker) else s for s in systems]
        fields["models"] = [m.number for m in kept]
        with _jobs.run("fuse", fields) as answer:
            model = Model(answer.array(0, np.uint8).tobytes(), answer.fields["model"])
        fusion = Ranker()
        fusion._adopt(model)
        return fusion
    if any(models):
        raise Error("systems: found rankers and scores, expected one of them")
    return _fuse_scores(systems, qid, group, fields)


def _fuse_scores(systems: list[Any], qid: Any, group: Any, fields: dict[str, Any]) -> npt.NDArray[np.float64]:
    request = _jobs.Request()
    lists = [numbers(s, f"systems: number {i + 1}") for i, s in enumerate(systems)]
    n = len(lists[0])
    for i, scores in enumerate(lists):
        if len(scores) != n:
            raise Error(f"systems: found {len(scores)} scores of system {i + 1}, expected {n} as of system 1")
    of = queries(qid, group, n) or one_query(n)
    data = Data.of(request, Features(np.empty((n, 0), np.float32), None, None), None, of, "scores")
    fields["data"] = data.fields
    fields["scores"] = [request.add(scores) for scores in lists]
    with _jobs.run("fuse", fields, request) as answer:
        return answer.array(0, np.float64)


def evaluate_run(
    run: Any,
    qrels: Any,
    *,
    measures: str | list[str] = USUAL,
    convention: str = "trec",
    threshold: float | str = "auto",
) -> dict[str, float]:
    """Measure a run of TREC by judgements, as trec_eval does.

    Args:
        run: the path of a file, or a dict {query: {document: score}}.
        qrels: the path of a file, or a dict {query: {document: grade}}.

    Returns: the mean of each measure.
    """
    with _folder() as folder:
        paths = []
        for name, given in (("qrels", qrels), ("run", run)):
            if isinstance(given, Mapping):
                _write_dict(folder / name, given, name)
                given = folder / name
            paths.append(os.fspath(given))
        out = command(
            "eval", "--no-record", "--data", paths[0], "--scores", paths[1], "--measures", measure_list(measures),
            *_judging(convention, threshold), "--format", "json",
        )
    means: dict[str, float] = json.loads(out)["measures"]
    return means


def _write_dict(path: Path, given: Mapping[str, Mapping[str, float]], name: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        for query, documents in given.items():
            for doc, value in documents.items():
                if any(c.isspace() for c in f"{query}{doc}") or not str(query) or not str(doc):
                    raise Error(f"{name}: found the query {query!r} and the document {doc!r}, expected ids without blanks")
                file.write(f"{query} 0 {doc} {int(value)}\n" if name == "qrels" else f"{query} Q0 {doc} 0 {float(value)!r} run\n")


__all__ = ["Comparison", "Report", "Tuning", "compare", "evaluate_run", "fuse", "report", "settings", "tune"]
