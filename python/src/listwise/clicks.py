"""Click models, judgments, propensities, training data, estimates and simulations from logs of pages.

A log is a table with one row for each document of a page: a DataFrame of pandas or polars, a Table of
pyarrow, or a dict of columns. It may also be the path of a file of pages, or a list of paths. The
columns are those of ``listwise clicks --help``: ``page``, ``query``, ``doc`` and ``clicks``, and
optionally ``user``, ``slot``, ``swapped`` and others. The rows of a page are together, from top to
bottom. The functions give the numbers of the commands of the same names.
"""

from __future__ import annotations

import csv
import datetime
import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _jobs
from ._arguments import flag, items, number, whole, word
from ._commands import _MOST, Settings, _data, _existing, _Files, _files
from ._errors import Error, shown
from ._model import Model, read_file, write_file
from ._ranker import Ranker
from ._read import Documents, read
from ._settings import seed_of
from ._tables import QID, frame, library_of, vector

__all__ = ["ClickModel", "Propensities", "evaluate", "fit", "judge", "propensities", "simulate", "weigh"]

# Columns of pages whose cells are not texts.
_WHOLE = ("rank", "clicks", "team", "pairs", "shuffled")
_REAL = ("propensity", "propensities", "weight")
_JSON = ("order", "softmax", "balanced", "swapped", "swap", "exchanged", "candidates", "orders")


class ClickModel:
    """A click model with its parameters. It is immutable and pickles as its file.

    Attributes:
        file: the bytes of the model file, those that ``listwise clicks fit --out`` writes.
        name: the name of the model, such as ``"pbm"``.
        parameters: the parameters that documents share, by name; for a model by slot in the order of
            ``slots``.
        slots: the names of the slots of a model with parameters by slot, else empty.
        measures: for a model with held-out pages (``valid``), a dict from measures to dicts with
            ``value`` and its 95 % interval, ``low`` and ``high``; else empty. NaN is unknown.
    """

    def __init__(self, file: bytes, measures: Mapping[str, Mapping[str, float]] | None = None) -> None:
        if not isinstance(file, (bytes, bytearray, memoryview)):
            raise Error(f"file: found {shown(file)}, expected the bytes of a model file")
        self.file = bytes(file)
        self.measures = {name: dict(values) for name, values in (measures or {}).items()}
        self._probabilities([], True)  # which checks the file
        self._content = json.loads(self.file)
        self.name: str = self._content["model"]
        self.slots: list[str] = self._content.get("slots", [])
        shared = ("examination", "continuation", "click_rate")
        self.parameters = {name: np.asarray(self._content[name], float) for name in shared if name in self._content}

    @property
    def attraction(self) -> Any:
        """A DataFrame of the attraction, and the satisfaction if the model has one, of each query and document."""
        columns: dict[str, list[Any]] = {"query": [], "doc": [], "attraction": [], "satisfaction": []}
        for own in self._content.get("queries", []):
            columns["query"] += [own["query"]] * len(own["docs"])
            columns["doc"] += own["docs"]
            columns["attraction"] += own["attraction"]
            columns["satisfaction"] += own.get("satisfaction", [])
        if not columns["satisfaction"]:
            del columns["satisfaction"]
        return frame(columns)

    @property
    def log_likelihood(self) -> float:
        """The log-likelihood of the held-out pages; NaN without them."""
        return self._measure("log-likelihood")

    @property
    def perplexity(self) -> float:
        """The perplexity of the held-out pages; NaN without them."""
        return self._measure("perplexity")

    @property
    def conditional_perplexity(self) -> float:
        """The perplexity of the held-out pages given the clicks above; NaN without them."""
        return self._measure("conditional perplexity")

    def _measure(self, name: str) -> float:
        return self.measures[name]["value"] if name in self.measures else math.nan

    def predict(self, pages: Any, *, conditional: bool = True) -> npt.NDArray[np.float64]:
        """Probabilities of a click on each document, in the order of the rows.

        With conditional they are given the clicks above on the page. Else they are of a page whose
        clicks are not known, which needs no column of clicks."""
        with _reading() as files:
            return self._probabilities(_pages(files, pages, "pages"), not flag("conditional", conditional))

    def _probabilities(self, paths: list[str], full: bool) -> npt.NDArray[np.float64]:
        request = _jobs.Request()
        request.add(np.frombuffer(self.file or b"\n", np.uint8))
        with _jobs.run("clicks predict", {"pages": paths, "full": full}, request) as answer:
            return answer.array(0, np.float64)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, whole or not at all."""
        write_file(path, self.file)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ClickModel:
        """Read a file that ``save`` or ``listwise clicks fit --out`` wrote."""
        return cls(read_file(path))

    def __reduce__(self) -> tuple[Any, ...]:
        return ClickModel, (self.file, self.measures)

    def __repr__(self) -> str:
        return f"ClickModel({self.name!r}, {self._content['pages']} pages)"


def fit(
    pages: Any,
    model: str = "pbm",
    *,
    prior: str = "mean:3",
    exact: bool = False,
    iterations: int | None = None,
    valid: Any = None,
    resamples: int = 1000,
    seed: int = 1,
) -> ClickModel:
    """Fit a click model to a log of pages.

    Args:
        pages: the log.
        model: the name of the model: ``"gctr"``, ``"rctr"``, ``"dctr"``, ``"pbm"``, ``"cm"``, ``"ubm"``,
            ``"dcm"``, ``"sdbn"``, ``"dbn"`` or ``"ccm"``.
        prior: the prior of documents: ``"mean:STRENGTH"`` or ``"laplace"``.
        exact: fit dcm and sdbn by expectation maximization, not in closed form.
        iterations: the largest number of iterations; None: the default of the command.
        valid: a log of held-out pages, which measure the model.
        resamples: bootstrap samples for the intervals of the measures.
        seed: random seed of the samples.
    """
    with _reading() as files:
        out = os.path.join(files.folder, "model.json")
        settings: Settings = {"model": _name(model), "out": out} | _fitting(prior, exact, iterations, False)
        if valid is not None:
            settings |= {"valid": _pages(files, valid, "valid"), "resamples": str(whole("resamples", resamples, 0, _MOST))}
            if resamples > 0:
                settings["seed"] = str(seed_of(seed))
        fields = files.call("clicks fit", settings, _pages(files, pages, "pages"))
        measured = fields["data"]["models"][0].get("measures", [])
        return ClickModel(read_file(out), {m["measure"]: {k: _known(m[k]) for k in ("value", "low", "high")} for m in measured})


def judge(
    pages: Any,
    model: str = "dcm",
    *,
    levels: int | Sequence[float] | None = None,
    relevance: str = "model",
    prior: str = "mean:3",
    exact: bool = True,
    iterations: int | None = None,
    bootstrap: int = 0,
    min_examinations: float | None = None,
    keep_unsure: bool = False,
    seed: int = 1,
) -> Any:
    """Make judgments of documents from clicks, by a click model.

    Args:
        pages: the log.
        model: the name of the model, as for :func:`fit`.
        levels: the number of whole grades, or the lowest means of levels 1, 2 and so on; None: grades
            are means. Documents whose interval spans three levels are left out.
        relevance: ``"model"``, or ``"attraction"``, which leaves out satisfaction.
        prior, exact, iterations: as for :func:`fit`.
        bootstrap: number of fits to samples of users, which widen the intervals.
        min_examinations: least expected examinations of documents that divide a number of levels; None: 5.
        keep_unsure: keep documents whose interval spans three levels.
        seed: random seed of the bootstrap.

    Returns: a DataFrame with the columns ``query``, ``doc``, ``grade``, ``mean`` (with levels), ``low``,
    ``high``, ``impressions``, ``examinations``, ``clicks`` and ``document_weight``; a list of dicts
    without pandas. Ids have the types of those of the log.
    """
    settings: Settings = {"model": _name(model), "relevance": word("relevance", relevance)} | _fitting(prior, exact, iterations, True)
    if isinstance(levels, (int, np.integer)):
        settings["levels"] = str(whole("levels", levels, 2, 100))
    elif levels is not None:
        settings["at"] = ",".join(repr(number("levels", cut)) for cut in items("levels", levels))
    if levels is None and keep_unsure:
        raise Error("keep_unsure: found no levels, expected them")
    if min_examinations is not None and "levels" not in settings:
        raise Error("min_examinations: found no number of levels, expected one")
    if min_examinations is not None:
        settings["min-examinations"] = repr(number("min_examinations", min_examinations))
    if flag("keep_unsure", keep_unsure):
        settings["keep-unsure"] = "true"
    if whole("bootstrap", bootstrap, 0, _MOST) > 0:
        settings |= {"bootstrap": str(bootstrap), "seed": str(seed_of(seed))}
    with _reading() as files:
        files.arguments["at"] = "levels"
        rows = files.call("clicks judge", settings, _pages(files, pages, "pages"))["data"]
    names = ["query", "doc", "grade", "mean", "low", "high", "impressions", "examinations", "clicks", "document_weight"]
    columns = {name: [row[name] for row in rows] for name in names if name in rows[0]}
    if not _is_path(pages):
        for name, values in _given(pages, "pages"):
            if (id := {"docs": "doc"}.get(name, name)) in ("query", "doc"):
                columns[id] = _as_given(columns[id], values, f"pages: column {name!r}")
    return frame(columns)


class Propensities:
    """How often users look at each slot, relative to the first: the outcome of :func:`propensities`.

    Attributes:
        table: a DataFrame with the columns ``slot``, ``propensity``, its standard error ``se`` and 95 %
            interval (``low``, ``high``), ``impressions``, ``clicks`` and ``interventions``. The method
            trust adds ``alpha`` and ``beta``. With ``by``, the first column has the value, and the rows
            with ``"(all)"`` are of the whole log. Unknown numbers are NaN. It is a list of dicts without
            pandas.
        method: the method, and ``reason``, why it was chosen.
        data: all results, as ``listwise clicks propensities --format json`` prints them.
    """

    def __init__(self, file: bytes, data: dict[str, Any]) -> None:
        self.file, self.data = file, data
        self.method: str = data["method"]
        self.reason: str = data.get("reason", "")
        parts = [("(all)", data["slots"]), *((part["value"], part["slots"]) for part in data.get("parts", []))]
        slots = [slot for _, part in parts for slot in part]
        columns: dict[str, list[Any]] = {data["by"]: [value for value, part in parts for _ in part]} if "by" in data else {}
        columns |= {"slot": [s["slot"] for s in slots], "propensity": [s["theta"] for s in slots]}
        columns |= {name: [_known(s[name]) for s in slots] for name in ("se", "low", "high", "impressions", "clicks", "interventions")}
        columns |= {name: [s[name]["value"] if name in s else math.nan for s in slots] for name in ("alpha", "beta") if name in slots[0]}
        self.table = frame(columns)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file that ``listwise clicks propensities --out`` writes."""
        write_file(path, self.file)

    def __reduce__(self) -> tuple[Any, ...]:
        return Propensities, (self.file, self.data)

    def __repr__(self) -> str:
        return f"Propensities({self.method!r}: {dict((s['slot'], round(s['theta'], 4)) for s in self.data['slots'])})"


def propensities(
    pages: Any,
    method: str | None = None,
    *,
    X: Any = None,
    y: Any = None,
    qid: Any = None,
    group: Any = None,
    doc: Any = None,
    by: str | None = None,
    top: int | None = None,
    iterations: int | None = None,
    bootstrap: int = 100,
    seed: int = 1,
) -> Propensities:
    """Estimate how often users look at each slot.

    Args:
        pages: the log.
        method: ``"shuffle"``, ``"swap"``, ``"harvest"``, ``"regression"``, ``"em"``, ``"dual"`` or
            ``"trust"``; None: the first of the first four that the log supports. A method that the log
            does not support is an error, which says why.
        X, qid, group, doc: features, queries and ids of documents, for regression and dual.
        y: grades of these documents, for trust.
        by: the column by which propensities may differ: ``"arm"``, ``"experiment"`` or ``"version"``.
        top: estimate the first slots only; None: all.
        iterations: number of iterations of em, regression or dual; None: the default of the method.
        bootstrap: number of resamples for standard errors of methods other than shuffle and swap.
        seed: random seed of the resamples.
    """
    settings: Settings = {}
    if whole("bootstrap", bootstrap, 0, _MOST) != 100:
        settings["bootstrap"] = str(bootstrap)
    if seed_of(seed) != 1:
        settings["seed"] = str(seed_of(seed))
    for name, text in {"method": method, "by": by}.items():
        if text is not None:
            settings[name] = word(name, text)
    for name, value in {"top": top, "iterations": iterations}.items():
        if value is not None:
            settings[name] = str(whole(name, value, 1, _MOST))
    with _reading() as files:
        settings["out"] = out = os.path.join(files.folder, "propensities.json")
        if X is not None or y is not None:
            if doc is None:
                raise Error("doc: found none, expected the ids of the documents, to find them on pages by")
            grades = np.zeros(np.shape(X)[0]) if y is None else y
            given = _data(files, X, grades, qid, group, doc)[0]["data"]
            settings["judged" if method == "trust" else "data"] = given
            files.arguments["judged"] = files.arguments["data"]
        data = files.call("clicks propensities", settings, _pages(files, pages, "pages"))["data"]
        return Propensities(read_file(out), data)


def weigh(
    pages: Any,
    X: Any,
    *,
    qid: Any = None,
    group: Any = None,
    doc: Any = None,
    propensities: Propensities | str | os.PathLike[str] | None = None,
    debias: str = "examinations",
    uncorrected: bool = False,
    weigh_queries: str = "sqrt",
    shrink: float = 5,
    clip: float = 0.01,
    regression: str = "mart",
    max_missing: float = 0.2,
) -> Documents:
    """Make training data from clicks: a row for each document of a query, with a grade and weights.

    ``Ranker.fit`` takes them: ``fit(t.X, t.y, qid=t.qid, sample_weight=t.sample_weight,
    query_weight=t.query_weight)``. The grades of examinations are for squared error, so for
    ``"mart"`` and ``"regression"``. Those of robust are for methods that take fractions, such as
    ``Ranker("lambdamart", convention="trec")``.

    Args:
        pages: the log.
        X, qid, group, doc: features, queries and ids of the documents. Ids match those of the log.
        propensities: how often users look at each slot, or the path of a file of propensities; none for
            ``debias="none"``.
        debias: ``"none"``, ``"examinations"``, ``"robust"``, ``"ips"`` or ``"affine"``.
        uncorrected: take all propensities for 1, to see what the correction is worth.
        weigh_queries: how query weights grow with pages: ``"pages"``, ``"sqrt"`` or ``"one"``.
        shrink: for robust, examinations that the regression is worth.
        clip: for ips, the least propensity.
        regression: for robust, ``"mart"`` or ``"logistic"``.
        max_missing: largest share of impressions without features or propensities.

    Returns: documents in the order of X, without those that no page shows.
    """
    settings: Settings = {"debias": word("debias", debias), "weigh-queries": word("weigh_queries", weigh_queries)}
    if flag("uncorrected", uncorrected):
        settings["uncorrected"] = "true"
    standard: dict[str, tuple[Any, Any]] = {"shrink": (shrink, 5), "clip": (clip, 0.01), "max-missing": (max_missing, 0.2)}
    for name, (value, usual) in standard.items():
        if value != usual:
            settings[name] = repr(number(name.replace("-", "_"), value))
    if regression != "mart":
        settings["regression"] = word("regression", regression)
    with _reading() as files:
        settings |= _documents(files, X, qid, group, doc) | _thetas(files, propensities)
        settings["out"] = out = os.path.join(files.folder, "weighed.lwd")
        files.call("clicks weigh", settings, _pages(files, pages, "pages"))
        return read(out)


def evaluate(
    pages: Any,
    models: Any,
    X: Any,
    *,
    qid: Any = None,
    group: Any = None,
    doc: Any = None,
    propensities: Propensities | str | os.PathLike[str] | None = None,
    baseline: Any = None,
    estimator: str = "pbm",
    value: str = "clicks",
    candidates: str = "auto",
    self_normalize: bool = False,
    clip: float = 0,
    bound: float = 0,
    max_unsupported: float = 0.05,
    ignore_weights: bool = False,
    max_missing: float = 0.2,
) -> dict[str, Any]:
    """Estimate how many clicks per page models would get, from a log that they were not trained on.

    Args:
        pages: the log.
        models: a ranker, a model or the path of a model file; a dict from names to several.
        X, qid, group, doc: features, queries and ids of the documents. Ids match those of the log.
        propensities: how often users look at each slot, for the estimators pbm, dr and model.
        baseline: a model that differences are from; None: the log itself.
        estimator: ``"pbm"``, ``"dr"``, ``"model"``, ``"slate"``, ``"item"``, ``"cascade"`` or ``"pseudo"``.
        value: ``"clicks"``, or ``"dcg"`` of relevance.
        candidates: documents to rank: ``"auto"``, ``"page"``, ``"table"`` or ``"shown"``.
        self_normalize: divide by the sum of weights (SNIPS), for pbm and slate.
        clip: largest weight; 0: none.
        bound: largest possible clicks times weight, for guaranteed intervals; 0: none.
        max_unsupported: largest share of a model's value without support in the log.
        ignore_weights: accept weights whose mean is not 1.
        max_missing: largest share of shown documents without features.

    Returns: the results, as ``listwise clicks evaluate --format json`` prints them: ``checks``, ``log``,
    ``models`` with ``estimate`` and ``interval`` (None without one, with the ``reason``), and
    ``differences``. A model without support in the log, or with wrong weights, is an error.
    """
    settings: Settings = {name: word(name, text) for name, text in {"estimator": estimator, "value": value, "candidates": candidates}.items()}
    for name, on in {"self_normalize": self_normalize, "ignore_weights": ignore_weights}.items():
        if flag(name, on):
            settings[name.replace("_", "-")] = "true"
    for name, (given, usual) in {"clip": (clip, 0), "bound": (bound, 0), "max_unsupported": (max_unsupported, 0.05), "max_missing": (max_missing, 0.2)}.items():
        if given != usual:
            settings[name.replace("_", "-")] = repr(number(name, given))
    named = models if isinstance(models, Mapping) else {"": models}
    with _reading() as files:
        settings |= _documents(files, X, qid, group, doc) | _thetas(files, propensities)
        settings["pages"] = _pages(files, pages, "pages")
        names: dict[str, str] = {}
        for i, (name, given) in enumerate(named.items()):
            names[_ranker(files, i, name, given, "models").partition("=")[2]] = name or "model"
        systems = list(names)
        if baseline is not None:
            settings["baseline"] = _ranker(files, len(named), "", baseline, "baseline").partition("=")[2]
            names.setdefault(settings["baseline"], "baseline")
        results: dict[str, Any] = files.call("clicks evaluate", settings, systems)["data"]
        return {key: _renamed(value, names) for key, value in results.items()}


def simulate(
    model: Any,
    X: Any,
    y: Any,
    *,
    qid: Any = None,
    group: Any = None,
    doc: Any = None,
    pages: int = 10_000,
    click: str | ClickModel = "pbm:eta=1",
    order: str = "fixed",
    users: int = 0,
    top: int = 10,
    first: int = 0,
    seed: int = 1,
) -> Any:
    """Simulate a log of pages with clicks on rankings of judged documents.

    Args:
        model: the ranker, model or path of a model file that ranks; for ``order="arms:SHARES"`` a dict
            from names to several.
        X, y, qid, group, doc: the judged documents, as for ``Ranker.fit``, with ids of documents. Without
            doc, the ids are the places of the documents of each query.
        pages: the number of pages.
        click: the click model with its parameters, such as ``"pbm:eta=1,noise=0.1"``, or a fitted one.
        order: the order of documents: ``"fixed"``, ``"noise:T"``, ``"swap"``, ``"pairs"``, ``"shuffle:N"``
            or ``"arms:SHARES"``.
        users: the number of users; 0: pages are independent.
        top: the number of documents shown.
        first: the number of the first page. Parts of a log may be made separately.
        seed: random seed.

    Returns: a log, a DataFrame with the columns that the order needs; a list of dicts without pandas.
    """
    named = model if isinstance(model, Mapping) else {"": model}
    with _reading() as files:
        out = os.path.join(files.folder, "pages.csv")
        settings = _data(files, X, y, qid, group, doc)[0] | {"out": out, "order": word("order", order)}
        counts = {"pages": (pages, 1), "users": (users, 0), "top": (top, 1), "from": (first, 0)}
        files.arguments["from"] = "first"
        for name, (value, least) in counts.items():
            settings[name] = str(whole(files.arguments.get(name, name), value, least, _MOST))
        settings["seed"] = str(seed_of(seed))
        settings["click"] = _clicks(files, click)
        settings["model"] = [_ranker(files, i, name, m) for i, (name, m) in enumerate(named.items())]
        files.call("clicks simulate", settings)
        log = _read(out)
    if qid is None and group is None and hasattr(X, "columns"):
        qid = X[QID]
    log["query"], log["doc"] = _as_given(log["query"], qid, "qid"), _as_given(log["doc"], doc, "doc")
    return frame(log)


def _renamed(found: Any, names: Mapping[str, str]) -> Any:
    """Results with the names of models in place of their files."""
    if isinstance(found, dict):
        return {key: _renamed(value, names) for key, value in found.items()}
    if isinstance(found, list):
        return [_renamed(value, names) for value in found]
    return names.get(found, found) if isinstance(found, str) else found


def _documents(files: _Files, X: Any, qid: Any, group: Any, doc: Any) -> Settings:
    """Write documents with ids. Returns the setting that names them."""
    if doc is None:
        raise Error("doc: found none, expected the ids of the documents, to find them on pages by")
    settings, _ = _data(files, X, np.zeros(np.shape(X)[0]), qid, group, doc)
    return settings


def _thetas(files: _Files, given: Any) -> Settings:
    """The setting that names a file of propensities."""
    if given is None:
        return {}
    if isinstance(given, (str, os.PathLike)):
        return {"propensities": _existing("propensities", given)}
    if not isinstance(given, Propensities):
        raise Error(f"propensities: found {shown(given)}, expected those of clicks.propensities, or the path of their file")
    path = files.path("theta.json", "propensities")
    given.save(path)
    return {"propensities": path}


def _name(model: Any) -> str:
    """The name of one click model."""
    name = word("model", model)
    if re.search(r"[,./\\]", name) or name == "all":
        raise Error(f"model: found {shown(name)}, expected the name of one click model")
    return name


def _fitting(prior: Any, exact: Any, iterations: Any, usual: bool) -> Settings:
    """The settings of a fit that are not the usual ones: a command refuses those that do nothing for the model."""
    settings: Settings = {}
    if word("prior", prior) != "mean:3":
        settings["prior"] = prior
    if flag("exact", exact) != usual:
        settings["exact"] = str(exact).lower()
    if iterations is not None:
        settings["iterations"] = str(whole("iterations", iterations, 1, _MOST))
    return settings


def _known(value: float | None) -> float:
    return math.nan if value is None else value


def _clicks(files: _Files, click: Any) -> str:
    """A click model for a simulation."""
    if not isinstance(click, ClickModel):
        return word("click", click)
    path = files.path("click.json", "click")
    click.save(path)
    return path


def _ranker(files: _Files, i: int, name: Any, model: Any, argument: str = "model") -> str:
    """A ranker as an argument of a command."""
    if not isinstance(name, str) or "=" in name or not name.isprintable():
        raise Error(f"{argument}: found the name {shown(name)}, expected a text without =")
    if isinstance(model, (str, os.PathLike)):
        path = _existing(argument, model)
    elif isinstance(model, (Ranker, Model)):
        path = files.path(f"model{i}.json", argument)
        (model if isinstance(model, Model) else model._fitted()).save(path)
    else:
        raise Error(f"{argument}: found {shown(model)}, expected a ranker, a model, the path of a model file, or a dict of several")
    return f"{name or f'model{i}'}={path}"


@contextmanager
def _reading() -> Iterator[_Files]:
    """Files of a call that reads pages. Errors have the rows of tables, and arguments instead of flags."""
    with _files() as files:
        try:
            yield files
        except Error as error:
            message = files.worded(str(error))
            message = re.sub(r"--([a-z][a-z-]+)", lambda m: files.arguments.get(m[1], m[1].replace("-", "_")), message)
            message = re.sub(r"\b(pages|valid): \1\b", r"\1", message)
            for name in {"pages.csv", "valid.csv"} & set(os.listdir(files.folder)):
                stem = name.partition(".")[0]
                message = re.sub(rf"\b{stem}:(\d+):", lambda m: f"{stem}:" if m[1] == "1" else f"{stem}:{int(m[1]) - 1}:", message)
            raise type(error)(message) from None


def _is_path(given: Any) -> bool:
    """Whether a log is in a file, or in several."""
    parts = given if isinstance(given, (list, tuple)) else [given]
    return len(parts) > 0 and all(isinstance(part, (str, os.PathLike)) for part in parts)


def _pages(files: _Files, given: Any, name: str) -> list[str]:
    """The paths of a log, which is written to a file unless it is in files."""
    if _is_path(given):
        return [_existing(name, path) for path in (given if isinstance(given, (list, tuple)) else [given])]
    columns = _columns(given, name)
    path = files.path(f"{name}.csv", name)
    try:
        with open(path, "w", encoding="utf-8", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(columns)
            out.writerows(zip(*columns.values(), strict=True))
    except UnicodeEncodeError:
        raise Error(f"{name}: found a text with lone surrogates, expected Unicode text") from None
    return [path]


def _given(given: Any, name: str) -> list[tuple[Any, Any]]:
    """The columns of a log with their names."""
    kind = library_of(given)
    if isinstance(given, list) and given and all(isinstance(row, Mapping) for row in given):
        return [(column, [row.get(column) for row in given]) for column in dict.fromkeys(key for row in given for key in row)]
    if isinstance(given, Mapping):
        return list(given.items())
    if kind == "pandas" and hasattr(given, "columns"):
        return [(column, given.iloc[:, j]) for j, column in enumerate(given.columns)]
    if kind == "polars" and hasattr(given, "get_column"):
        return [(column, given.get_column(column)) for column in given.columns]
    if kind == "pyarrow" and hasattr(given, "column_names"):
        return [(column, given.column(j)) for j, column in enumerate(given.column_names)]
    raise Error(f"{name}: found {shown(given)}, expected a DataFrame, a dict of columns, or the path of a file of pages")


def _columns(given: Any, name: str) -> dict[str, list[str]]:
    """The columns of a log, as texts."""
    found: dict[str, list[str]] = {}
    for column, values in _given(given, name):
        if not isinstance(column, str) or "\t" in column or "\n" in column or column in found:
            raise Error(f"{name}: found the column {shown(column)}, expected different names, such as page, query, doc and clicks")
        found[column] = _cells(values, f"{name}: column {column!r}", column)
    if len(found) < 2:
        raise Error(f"{name}: found the columns {list(found)}, expected page, query, doc and clicks")
    lengths = {len(cells) for cells in found.values()}
    if len(lengths) > 1:
        raise Error(f"{name}: found columns of {', '.join(map(str, sorted(lengths)))} rows, expected the same number")
    return found


def _cells(values: Any, name: str, column: str) -> list[str]:
    """The cells of a column, as texts."""
    if not isinstance(values, (list, tuple)):
        array = vector(values, name)
        if array.dtype.kind == "M":
            return ["" if t == "NaT" else str(t) for t in np.datetime_as_string(array, timezone="UTC")]
        values = array.tolist()
    return [value if isinstance(value, str) else _cell(value, name, column) for value in values]


def _cell(value: Any, name: str, column: str) -> str:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower() if column == "swap" else str(int(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        value = float(value)
        if math.isnan(value):
            return ""
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, (list, tuple)) and column in _JSON:
        try:
            return json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError) as error:
            raise Error(f"{name}: found {shown(value)}: {error}") from error
    if isinstance(value, datetime.datetime):
        return value.isoformat() + ("" if value.tzinfo else "Z")
    raise Error(f"{name}: found {shown(value)}, expected a text or a number")


def _as_given(ids: list[str], values: Any, name: str) -> list[Any]:
    """Ids of queries or documents as the caller has them, such as whole numbers, so that tables can be joined."""
    if values is None:
        return ids
    known = values if isinstance(values, (list, tuple)) else vector(values, name).tolist()
    of = {_cell(value, name, ""): value for value in dict.fromkeys(known) if not isinstance(value, str)}
    return [of.get(i, i) for i in ids] if of else ids


def _read(path: str) -> dict[str, list[Any]]:
    """The columns of a table of pages that have values."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        names = next(rows)
        cells = list(zip(*rows, strict=True))
    columns: dict[str, list[Any]] = {}
    for name, column in zip(names, cells, strict=True):
        if not any(column):
            continue
        convert = int if name in _WHOLE else float if name in _REAL else json.loads if name in _JSON else str
        columns[{"docs": "doc", "slots": "slot"}.get(name, name)] = [convert(cell) if cell else None for cell in column]
    return columns
