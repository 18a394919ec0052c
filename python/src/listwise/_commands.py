"""compare, tune, fuse and report: the commands of these names, for data in memory."""

from __future__ import annotations

import html
import math
import os
import re
import tempfile
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _jobs
from ._arguments import flag, items, number, whole, word, words
from ._arguments import path as file_path
from ._data import Data, judged
from ._errors import Error, FileError, shown
from ._evaluate import USUAL, defined, measure_list
from ._model import Model
from ._queries import one_query, queries, texts
from ._ranker import Ranker
from ._read import Qrels, Run, read_run
from ._results import Results
from ._settings import seed_of, text
from ._tables import Features, numbers, vector


Settings = dict[str, Any]  # flags of a command, by name: a text, or a list of several values


class _Files:
    """The files of a call in a temporary folder. Messages name their content."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._holds: dict[str, str] = {}
        self.arguments: dict[str, str] = {}  # of flags, where their names are other ones

    def path(self, file: str, holds: str) -> str:
        """The path of a file. Messages name its content."""
        path = os.path.join(self.folder, file)
        self._holds[path] = holds
        return path

    def worded(self, text: str) -> str:
        for path, holds in self._holds.items():
            text = text.replace(path, holds)
        return text.replace(self.folder + os.sep, "")

    def write(self, request: _jobs.Request, data: dict[str, Any], path: str, flag: str) -> str:
        """Write documents to a cache, which a flag names. Returns its path."""
        self.arguments[flag] = self._holds[path] = data["name"]
        with _jobs.run("write", {"data": data, "path": path}, request):
            return path

    def call(self, function: str, settings: Settings, systems: Sequence[str] = (), progress: _jobs.Progress | None = None) -> dict[str, Any]:
        """Call a function of the library that reads files. Its warnings are DataWarnings."""
        given = {name: value if isinstance(value, list) else [value] for name, value in settings.items()}
        try:
            with _jobs.run(function, {"settings": given, "systems": list(systems)}, None, progress) as answer:
                fields = answer.fields
        except Error as error:
            message = str(error)
            for name in given:
                argument = self.arguments.get(name, name.replace("-", "_"))
                message = re.sub(rf"--{name}\b|^{name}(?=:)", argument, message)
            raise type(error)(self.worded(message)) from None
        _jobs.tell([self.worded(note).removeprefix("--") for note in fields["warned"] or ()])
        return fields


@contextmanager
def _files() -> Iterator[_Files]:
    with tempfile.TemporaryDirectory(prefix="listwise-") as folder:
        yield _Files(folder)


def _data(files: _Files, X: Any, y: Any, qid: Any, group: Any, doc: Any) -> tuple[Settings, int | None]:
    """Write documents or judgements. Returns the settings that name them, and the number of documents."""
    if isinstance(y, (Qrels, Mapping, str, os.PathLike)):
        for name, value in {"X": X, "qid": qid, "group": group, "doc": doc}.items():
            if value is not None:
                raise Error(f"{name}: expected none where y has the judgements of runs")
        return _judgements(files, y, "y"), None
    request = _jobs.Request()
    if X is None:  # then the documents have one feature, which is 0
        grades = numbers(y, "y")
        if not len(grades):
            raise Error("y: found no documents, expected one at least")
        of = queries(qid, group, len(grades))
        if of is None:
            raise Error("expected qid (a query id for each document) or group (the numbers of documents of the queries)")
        data = Data.of(request, Features(np.zeros((len(grades), 1), np.float32), None, None), grades, of, "y")
    else:
        data = judged(request, X, y, qid, group, None, None, "X")
    if doc is not None:
        data.fields["docs"] = texts(doc, data.documents, "doc")
    return {"data": files.write(request, data.fields, os.path.join(files.folder, "data.lwd"), "data")}, data.documents


def _judgements(files: _Files, given: Any, name: str) -> Settings:
    """Write judgements to a file, unless they are in one. Returns the settings that name it."""
    files.arguments["data"] = name
    if isinstance(given, (str, os.PathLike)):
        return {"data": _existing(name, given)}
    path = files.path("qrels", name)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{query} 0 {doc} {value!r}\n" for query, doc, value in _rows(given, name, retrieved=False))
    return {"data": path, "input": "qrels"}


def _run(files: _Files, file: str, given: Any, name: str) -> str:
    """Write a run to a file, unless it is in one. Returns the path."""
    if isinstance(given, (str, os.PathLike)):
        return _existing(name, given)
    path = files.path(file, name)
    with open(path, "w", encoding="utf-8") as out:
        out.writelines(f"{query} Q0 {doc} 0 {value!r} run\n" for query, doc, value in _rows(given, name) if value != -math.inf)
    return path


def _existing(name: str, given: Any) -> str:
    """The path of an existing file."""
    path = file_path(name, given)
    if not os.path.exists(path):
        raise FileError(f"{name}: {path}: no such file")
    return path


def _rows(given: Any, name: str, *, retrieved: bool = True) -> list[tuple[str, str, float]]:
    """Rows (query, document, value) of judgements or a run. In a run, -inf is for documents that were not retrieved."""
    rows: Iterable[tuple[Any, Any, Any]]
    if isinstance(given, (Run, Qrels)):
        columns = [given.qid, given.doc, given.scores if isinstance(given, Run) else given.y]
        lists = [vector(c, name).tolist() for c in columns]
        if len({len(c) for c in lists}) > 1:
            raise Error(f"{name}: found columns of {', '.join(str(len(c)) for c in lists)} rows, expected the same number")
        rows = zip(*lists, strict=True)
    elif isinstance(given, Mapping):
        for query, documents in given.items():
            if not isinstance(documents, Mapping):
                raise Error(f"{name}: found {shown(documents)} for the query {shown(query)}, expected a dict of documents")
        rows = ((query, doc, value) for query, documents in given.items() for doc, value in documents.items())
    else:
        raise Error(f"{name}: found {shown(given)}, expected the path of a file, a dict {{query: {{document: number}}}}, or what read_run or read_qrels returns")
    known: dict[Any, str] = {}  # ids repeat
    found = []
    for query, doc, value in rows:
        if isinstance(value, (bool, np.bool_)):
            value = int(value)
        if not (retrieved and isinstance(value, (float, np.floating)) and value == -math.inf):
            value = number(f"{name}: query {shown(query)}, document {shown(doc)}", value)
        pair = []
        for key in (query, doc):
            if not isinstance(key, Hashable) or (identifier := known.get(key)) is None:
                identifier = known[key] = _identifier(key, name)
            pair.append(identifier)
        found.append((pair[0], pair[1], float(value)))
    if not found:
        raise Error(f"{name}: found no documents, expected one at least")
    return found


def _identifier(key: Any, name: str) -> str:
    """An id of a query or a document in a file of TREC."""
    if isinstance(key, (str, int, np.integer)) and not isinstance(key, bool):
        try:
            text = word(name, str(key))
        except ValueError:  # lone surrogates, or more than 4300 digits
            text = ""
        if text.split() == [text]:
            return text
    raise Error(f"{name}: found the id {shown(key)}, expected a text without blanks, or a whole number")


System = Any  # a Ranker, a Model, scores, a run, or the path of a file


def _systems(systems: Any, files: _Files, documents: int | None, doc: Any) -> list[str]:
    """Write systems to files. Returns arguments NAME=FILE. documents is None for judgements, which only runs have."""
    if not isinstance(systems, Mapping):
        raise Error("systems: expected a dict of names and rankers, models, scores, runs or paths of files")
    arguments = []
    for i, (name, system) in enumerate(systems.items()):
        if not isinstance(name, str) or not name or not name.isprintable() or any(c in name for c in "=/\\"):
            raise Error(f"systems: found the name {shown(name)}, expected a text without = and /")
        runs = _runs(system)
        paths = [_file(run, files, f"{i}-{k}" if len(runs) > 1 else f"{i}", f"systems: {name}", documents, doc) for k, run in enumerate(runs)]
        if len(paths) > 1 and any("," in path for path in paths):
            raise Error(f"systems: {name}: found a path of several runs with a comma, expected none")
        arguments.append(f"{name}={','.join(paths)}")
    return arguments


def _runs(system: System) -> Sequence[System]:
    """The runs of a system: a list of anything but numbers, or one run."""
    several = isinstance(system, (list, tuple)) and len(system) > 0
    if several and all(isinstance(run, (str, os.PathLike, Ranker, Model, Run, Mapping, np.ndarray, list, tuple)) for run in system):
        return system  # type: ignore[no-any-return]
    return [system]


def _file(system: System, files: _Files, stem: str, holds: str, documents: int | None, doc: Any) -> str:
    """The path of a run's model or scores, written there unless they are in a file."""
    if isinstance(system, (Ranker, Model)):
        path = files.path(f"{stem}.json", holds)
        (system if isinstance(system, Model) else system._fitted()).save(path)
        return path
    if isinstance(system, (Run, Mapping, str, os.PathLike)):
        if documents is not None and doc is None and isinstance(system, (Run, Mapping)):
            raise Error(f"{holds}: found a run, expected doc, the ids of the documents, to find its documents by")
        return _run(files, f"{stem}.run", system, holds)
    path = files.path(f"{stem}.scores", holds)
    scores = numbers(system, holds, documents)
    if np.isnan(scores).any() or (scores == np.inf).any():
        raise Error(f"{holds}: found a score that is not finite, expected finite scores, or -inf for a document that was not retrieved")
    Path(path).write_text("".join(f"{s!r}\n" for s in scores.tolist()))
    return path


class Comparison:
    """The outcome of :func:`compare`.

    Attributes:
        data: all results, as ``listwise compare --format json`` prints them.
        means: the mean of the first measure for each system; NaN if no query counts.
        pairs: a dict for each pair of systems, with the difference of their means by the first
            measure, its interval and the p values of tests, also with Holm's correction; NaN for
            undefined values.
        results: the :class:`Results` of all measures, with the values of each query.
    """

    def __init__(self, data: dict[str, Any], table: str, details: dict[str, Any]) -> None:
        self.data = data
        self.results = Results(details, data.get("baseline"))
        self.means = {s["name"]: defined(s["mean"]) for s in data["systems"]}
        self.pairs: list[dict[str, Any]] = _defined(data["pairs"])
        self._table = table

    def to_pandas(self) -> Any:
        """A DataFrame with one row per query, system and measure: ``results.to_pandas()``."""
        return self.results.to_pandas()

    def __str__(self) -> str:
        return self._table

    def __repr__(self) -> str:
        return f"Comparison({self.data['measure']}: {self.means})"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._table)}</pre>"


def _defined(value: Any) -> Any:
    """Replace null by NaN in parsed JSON."""
    if isinstance(value, dict):
        return {k: _defined(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_defined(v) for v in value]
    return math.nan if value is None else value


def compare(
    systems: Mapping[str, System],
    y: Any,
    *,
    X: Any = None,
    qid: Any = None,
    group: Any = None,
    doc: Any = None,
    measure: str | list[str] = "map",
    baseline: str | None = None,
    convention: str | None = None,
    threshold: float | str = "auto",
    ties: str | None = None,
    permutations: int = 100_000,
    resamples: int = 10_000,
    seed: int = 1,
) -> Comparison:
    """Compare systems on the same queries, with tests and intervals.

    Args:
        systems: a dict from names to rankers, models, arrays of scores (documents,), runs as for
            :func:`evaluate_run`, or paths of files of models, scores or runs. The score -inf means
            that a document was not retrieved. A list holds runs of one method with different
            random seeds; the tests then compare methods ("claim" of a pair).
        y: grades, (documents,); or judgements as for :func:`evaluate_run`, to compare runs.
        X: features, (documents, features), which rankers and models need.
        qid, group: the queries, as for ``Ranker.fit``.
        doc: identifiers of documents, (documents,), which join runs with the data.
        measure: the measure to compare, or several, as for :func:`evaluate`.
        baseline: the system to compare the others with; None: every pair.
        convention, ties: None: the defaults of the command line, those of trec_eval for judgements.
        permutations, resamples: numbers of sign flips and of bootstrap samples.
        seed: random seed of both.
    """
    with _files() as files:
        settings, documents = _data(files, X, y, qid, group, doc)
        settings |= {"measures": measure_list(measure, "measure"), "seed": str(seed_of(seed))}
        files.arguments["measures"] = "measure"
        settings |= {"permutations": str(whole("permutations", permutations, 1, _MOST)), "resamples": str(whole("resamples", resamples, 1, _MOST))}
        settings |= _judging(convention, threshold, ties, baseline)
        fields = files.call("compare", settings, _systems(systems, files, documents, doc))
        return Comparison(fields["data"], files.worded(fields["table"]), fields["details"])


_MOST = 2**31 - 1


def _judging(convention: Any, threshold: Any, ties: Any = None, baseline: Any = None) -> Settings:
    """Settings for measuring systems."""
    given = {"convention": convention, "ties": ties, "baseline": baseline}
    return {"threshold": text("threshold", threshold)} | {name: word(name, value) for name, value in given.items() if value is not None}


class Report:
    """An HTML page on systems, in one file without links to the network.

    Notebooks show it in a frame of its own. Attributes:
        html: the page.
    """

    def __init__(self, page: str) -> None:
        self.html = page

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file."""
        path = file_path("path", path)
        try:
            Path(path).write_text(self.html, encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError) as error:
            raise FileError(f"{path}: {error.strerror}") from error
        except (IsADirectoryError, PermissionError) as error:
            raise Error(f"{path}: {error.strerror}") from error

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
    doc: Any = None,
    measures: str | list[str] = USUAL,
    title: str = "",
    baseline: str | None = None,
    convention: str | None = None,
    threshold: float | str = "auto",
    seed: int = 1,
) -> Report:
    """An HTML page that compares systems: means with tests, curves, single queries, models.

    Arguments are those of :func:`compare`. The first measure sorts the queries."""
    with _files() as files:
        out = files.path("report.html", "the page")
        settings, documents = _data(files, X, y, qid, group, doc)
        settings |= {"out": out, "measures": measure_list(measures), "seed": str(seed_of(seed)), "title": word("title", title) or "Comparison"}
        settings |= _judging(convention, threshold, None, baseline)
        files.call("report", settings, _systems(systems, files, documents, doc))
        return Report(files.worded(Path(out).read_text(encoding="utf-8")))


class Tuning:
    """The outcome of :func:`tune`.

    Attributes:
        data: all results, as ``listwise tune --format json`` prints them.
        ranker: the best method and setting over all folds, trained on all data. With seeds there is
            none, and reading it raises Error.
        measures: for each method, the mean of each measure on held-out queries; NaN if no query
            counts. It is the mean over folds, and over seeds.
        results: the :class:`Results` of all measures on the held-out queries, with the values of
            each query and fold. Their means are over all queries. The settings were chosen by the
            same queries, so the values are slightly too good, and small differences between
            methods with many settings and few are in doubt.
    """

    def __init__(self, data: dict[str, Any], ranker: Ranker | None, details: dict[str, Any]) -> None:
        self.data, self._ranker, self.results = data, ranker, Results(details)
        self.measures = {m["method"]: {k: defined(v["mean"]) for k, v in m["measures"].items()} for m in data["methods"]}

    @property
    def ranker(self) -> Ranker:
        if self._ranker is None:
            raise Error("ranker: found results of several seeds, expected those of one: tune with seed trains a ranker")
        return self._ranker

    def to_pandas(self) -> Any:
        """A DataFrame with one row per query, method, seed and measure: ``results.to_pandas()``."""
        return self.results.to_pandas()

    def __repr__(self) -> str:
        seeds = self.data.get("seeds")
        return f"Tuning({self._ranker!r}: {self.measures})" if seeds is None else f"Tuning(seeds {seeds}: {self.measures})"


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
    scorer: str | Mapping[str, str] | None = None,
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
    seeds: Sequence[int] | None = None,
) -> Tuning:
    """Try settings of methods on folds of the queries, and train the best on all data.

    Args:
        method: the name of a method, or several.
        X, y, qid, group: the documents, as for ``Ranker.fit``.
        grid: values to try for hyperparameters; others have the method's own grid.
        folds: the number of folds; each serves once for validation.
        measure: the measure to optimise; None: the method's own.
        select: the measure on validation queries that selects a setting.
        measures: the measures to report.
        scorer: the scorer of all methods, or a dict from methods to scorers.
        budget: a number of settings of each method, or a time such as ``"30m"``; None: all.
        search: ``"grid"`` or ``"random"``.
        halving: try settings on a part of the training queries first.
        jobs: the number of parallel trainings; None: one per core.
        seed: random seed.
        seeds: random seeds; everything but the division into folds is repeated with each. The
            means are over seeds, and the tests include their variance. No ranker is trained.
    """
    if not isinstance(grid, (Mapping, type(None))):
        raise Error(f"grid: found {shown(grid)}, expected a dict of lists of values")
    with _files() as files:
        out = os.path.join(files.folder, "out")
        settings = _data(files, X, y, qid, group, None)[0] | {"no-record": "true", "out": out}
        settings |= {"method": ",".join(words("method", method)), "folds": str(whole("folds", folds, 2, _MOST)), "measures": measure_list(measures)}
        texts_of = {"select": select, "normalize": normalize, "views": views, "missing": missing, "search": search, "convention": convention}
        kinds = scorer
        if isinstance(scorer, Mapping):
            kinds = ",".join(f"{word('scorer', m)}={word('scorer', kind)}" for m, kind in scorer.items()) or None
        settings |= {name: word(name, value) for name, value in (texts_of | {"measure": measure, "scorer": kinds}).items() if value is not None or name in texts_of}
        settings |= _judging(None, threshold)
        if seeds is None:
            settings |= {"seed": str(seed_of(seed)), "refit": "true"}
        elif seed_of(seed) != 1:
            raise Error(f"seed {seed} and seeds: found both, expected one of them")
        else:
            settings["seeds"] = ",".join(str(whole("seeds", s, 0, 2**64 - 1)) for s in items("seeds", seeds))
        settings["grid"] = [
            f"{word('grid', name)}=" + ",".join(_grid_value(f"grid: {name}", v) for v in items(f"grid: {name}", values)) for name, values in (grid or {}).items()
        ]
        if budget is not None:
            settings["budget"] = word("budget", budget) if isinstance(budget, str) else str(whole("budget", budget, 1, _MOST))
        if jobs is not None:
            settings["jobs"] = str(whole("jobs", jobs, 1, _MOST))
        if flag("halving", halving):
            settings["halving"] = "true"
        fields = files.call("tune", settings)
        data = fields["data"]
        if seeds is not None:
            return Tuning(data, None, fields["details"])
        ranker = Ranker.load(os.path.join(out, "model.json"))
        ranker.set_params(scorer=scorer.get(data["refit"]["method"]) if isinstance(scorer, Mapping) else scorer, threshold=threshold)
        return Tuning(data, ranker, fields["details"])


def _grid_value(name: str, value: Any) -> str:
    found = text(name, value)
    if "," in found:
        raise Error(f"{name}: found {shown(value)}, expected values without commas")
    return found


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
    """Fuse several rankings into one.

    Args:
        systems: rankers or models; arrays of scores, (documents,), with -inf for a document that
            was not retrieved; or runs, as for :func:`evaluate_run`.
        qid, group: the queries of scores, as for :func:`evaluate`.
        rule: ``"rrf"``, ``"combsum"``, ``"combmnz"`` or ``"borda"``.
        scale: rescaling of scores within a query for combsum and combmnz: ``"minmax"``,
            ``"zscore"`` …
        k: the constant of rrf.
        weights: a weight per system; None: equal weights that add up to 1.

    Returns: a Ranker whose model is the fusion; the fused scores, (documents,); or the fused Run,
    with the documents of a query best first.
    """
    systems = items("systems", systems)
    if len(systems) < 2:
        raise Error(f"systems: found {len(systems)}, expected two at least")
    given = None if weights is None else [number("weights", w) for w in numbers(weights, "weights")]
    fields: dict[str, Any] = {"rule": word("rule", rule), "scale": word("scale", scale), "k": number("k", k), "weights": given}
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
    runs = [isinstance(s, (Run, Mapping, str, os.PathLike)) for s in systems]
    if all(runs):
        if qid is not None or group is not None:
            raise Error("qid and group: expected neither with runs, which name their queries")
        return _fuse_runs(systems, {**fields, "runs": True})
    if any(runs):
        raise Error("systems: found runs and scores, expected one of them")
    return _fuse_scores(systems, qid, group, fields)


def _fuse_runs(systems: list[Any], fields: dict[str, Any]) -> Run:
    """Fuse runs. The fusion has every document of every run, and queries in order of appearance."""
    found: dict[str, dict[str, list[float]]] = {}
    for i, system in enumerate(systems):
        name = f"systems: number {i + 1}"
        run = read_run(file_path(name, system)) if isinstance(system, (str, os.PathLike)) else system
        if isinstance(run, Qrels):
            raise Error(f"{name}: found judgements, expected a run")
        for query, doc, score in _rows(run, name):
            scores = found.setdefault(query, {}).setdefault(doc, [-math.inf] * len(systems))
            scores[i] = score
    qid = np.asarray([query for query, docs in found.items() for _ in docs], object)
    retrieved = np.asarray([doc for docs in found.values() for doc in docs], object)
    matrix = np.asarray([scores for docs in found.values() for scores in docs.values()])
    fused = _fuse_scores(list(matrix.T), qid, None, fields)
    order = np.lexsort((-fused, np.repeat(np.arange(len(found)), [len(docs) for docs in found.values()])))
    return Run(qid[order], retrieved[order], fused[order])


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
    ties: str = "trec",
    negative_grades: str = "error",
) -> dict[str, float]:
    """Measure a TREC run by judgements, as trec_eval does.

    Args:
        run: the path of a file, a dict {query: {document: score}}, or a result of :func:`read_run`.
        qrels: the path of a file, a dict {query: {document: grade}}, or a result of
            :func:`read_qrels`. Grades may be fractions.
        ties: the order of documents with equal scores: ``"trec"`` (descending ids), ``"input"``
            (the order of the run), ``"average"``, ``"optimistic"`` or ``"pessimistic"``.
        negative_grades: how to treat grades below 0: ``"error"``, ``"zero"`` or ``"drop"``.

    Returns: the mean of each measure; NaN if no query counts.
    """
    with _files() as files:
        settings = _judgements(files, qrels, "qrels") | {"no-record": "true", "scores": _run(files, "run", run, "run")}
        settings |= {"negative-grades": word("negative_grades", negative_grades), "measures": measure_list(measures)}
        settings |= _judging(word("convention", convention), threshold, word("ties", ties))
        means = files.call("evaluate files", settings)["data"]["measures"]
    return {m: defined(v) for m, v in means.items()}
