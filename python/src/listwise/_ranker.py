"""Ranker, the estimator."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _jobs
from ._arguments import whole, word
from ._categories import Categories
from ._data import Data, judged
from ._errors import Error, NotFittedError, shown
from ._evaluate import mean
from ._model import Model
from ._queries import Queries, one_query, queries
from ._settings import OWN, check_names, recipe_of, seed_of, settings_of, text_of
from ._tables import Features, features

if TYPE_CHECKING:
    from typing_extensions import Self

    class _Base:
        """Methods that scikit-learn generates, declared for type checkers."""

        def set_fit_request(
            self,
            *,
            callback: bool | str | None = ...,
            eval_set: bool | str | None = ...,
            group: bool | str | None = ...,
            qid: bool | str | None = ...,
            query_weight: bool | str | None = ...,
            sample_weight: bool | str | None = ...,
        ) -> Self: ...

        def set_predict_request(self, *, group: bool | str | None = ..., qid: bool | str | None = ...) -> Self: ...

        def set_score_request(self, *, group: bool | str | None = ..., qid: bool | str | None = ...) -> Self: ...

        def get_metadata_routing(self) -> Any: ...

else:
    try:
        from sklearn.base import BaseEstimator as _Base
    except ImportError:

        class _Base:
            pass


@dataclass(frozen=True)
class Explanation:
    """Contributions to scores: base_values + values.sum(axis=1) + remainder = scores.

    Attributes:
        values: contributions, (documents, terms).
        base_values: the scores without contributions, (documents,).
        scores: (documents,).
        remainder: numerical errors, (documents,).
        feature_names: names of the terms, which are features or members of a fusion.
        about: a description of the contributions.
    """

    values: npt.NDArray[np.float64]
    base_values: npt.NDArray[np.float64]
    scores: npt.NDArray[np.float64]
    remainder: npt.NDArray[np.float64]
    feature_names: list[str]
    about: str


class _Line:
    """The progress line of a training on standard error."""

    def __init__(self, method: str, callback: _jobs.Progress | None) -> None:
        self.method, self.callback, self.begun = method, callback, False

    def __call__(self, progress: dict[str, Any]) -> None:
        self.begun = True
        sys.stderr.write(f"\r{self.method}: {progress['text']}\x1b[K")
        sys.stderr.flush()
        if self.callback is not None:
            self.callback(progress)

    def end(self) -> None:
        """End the line, also after an exception."""
        if self.begun:
            sys.stderr.write("\n")


class Ranker(_Base):
    """Learns a function that ranks documents, by any method of ``listwise methods``.

    Args:
        method: the name of a method, such as ``"lambdarank"``, ``"lambdamart"`` or ``"convexloss"``.
        measure: the measure to optimise and, with ``eval_set``, to select by, such as
            ``"ndcg@10"``; None: the method's own.
        scorer: ``"linear"``, ``"fm"``, ``"net"``, ``"trees"`` or ``"pairnet"``; None: the method's own.
        convention: the convention of the measure, such as ``"standard"``.
        threshold: the lowest grade that counts as relevant, or ``"auto"``.
        normalize: normalization of features within a query: ``"none"``, ``"minmax"`` or ``"zscore"``.
        views: forms of features to learn from: ``"raw"``, ``"rank"``, ``"zscore"``.
        transforms: transforms of single features, such as ``["log1p:2,3"]``.
        missing: how to treat NaN: ``"error"``, ``"zero"``, ``"min"``, ``"mean"``, ``"median"``, or
            ``"keep"``, for trees.
        seed: random seed.
        verbose: 1 prints the progress of a training on standard error.
        settings: hyperparameters of the method that have the name of another argument, such as
            ``{"normalize": "gap"}`` of lambdamart.
        hyperparameters: the method's hyperparameters, as ``listwise methods NAME`` lists them; None
            is the default.

    Attributes:
        model_: the :class:`Model`.
        n_features_in_: the number of features.
        feature_names_in_: the names of the features, if the table has names.
        learning_curve_: after ``fit``, a dict of arrays with an element for each iteration, epoch or
            round: ``number``, ``start`` (the index of the random start), ``objective`` and
            ``validation`` (NaN without ``eval_set``). ``unit`` names what ``number`` counts.

    The same data, arguments and seed give the model file that ``listwise train`` writes, byte for
    byte, on any number of cores.
    """

    def __init__(
        self,
        method: str = "lambdarank",
        measure: str | None = None,
        *,
        scorer: str | None = None,
        convention: str = "standard",
        threshold: float | str = "auto",
        normalize: str = "none",
        views: str = "raw",
        transforms: Any = (),
        missing: str = "error",
        seed: int = 1,
        settings: Mapping[str, Any] | None = None,
        verbose: int = 0,
        **hyperparameters: Any,
    ) -> None:
        self.method = method
        self.measure = measure
        self.scorer = scorer
        self.convention = convention
        self.threshold = threshold
        self.normalize = normalize
        self.views = views
        self.transforms = transforms
        self.missing = missing
        self.seed = seed
        self.settings = settings
        self.verbose = verbose
        self.hyperparameters = hyperparameters

    # Parameters, as scikit-learn asks for them.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Arguments of the constructor, with hyperparameters. A subclass has the arguments of its own
        ``__init__``, and those of Ranker if that accepts ``**``."""
        names, others = _signature(type(self))
        if others:
            names = [*names, *(n for n in (*OWN, *self.hyperparameters) if n not in names)]
        values = {name: self._get(name) for name in names}
        if deep:
            for name, value in list(values.items()):
                if hasattr(value, "get_params") and not isinstance(value, type):
                    values.update({f"{name}__{inner}": v for inner, v in value.get_params().items()})
        return values

    def _get(self, name: str) -> Any:
        if name in vars(self):
            return vars(self)[name]
        if name in self.hyperparameters:
            return self.hyperparameters[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}, expected one for each argument of its __init__")

    def set_params(self, **params: Any) -> Ranker:
        """Set arguments of the constructor. A name that neither it nor any method has is refused."""
        names, others = _signature(type(self))
        known = self.get_params()
        unknown = [name for name in params if name not in known]
        if others:
            check_names(unknown)
        elif unknown:
            raise Error(f"found the argument {unknown[0]!r}, expected one of {type(self).__name__}: {', '.join(names)}")
        self._set(params)
        return self

    def _set(self, params: Mapping[str, Any]) -> None:
        for name, value in params.items():
            outer, _, inner = name.partition("__")
            if inner and name not in self.hyperparameters and hasattr(vars(self).get(outer), "set_params"):
                vars(self)[outer].set_params(**{inner: value})
                continue
            attribute = name in OWN or name in _signature(type(self))[0]
            if attribute and (name in vars(self) or name not in self.hyperparameters):
                setattr(self, name, value)
            if not attribute or name in self.hyperparameters:
                self.hyperparameters = {**self.hyperparameters, name: value}

    def __repr__(self, *_: Any, **__: Any) -> str:
        standard = {name: shown(p.default) for name, p in inspect.signature(type(self).__init__).parameters.items()}
        values = {name: shown(value, sys.maxsize) for name, value in self.get_params(deep=False).items()}
        given = [f"{name}={value}" for name, value in values.items() if name == "method" or standard.get(name) != value]
        return f"{type(self).__name__}({', '.join(given)})"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    # Training.

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        group: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        eval_set: Any = None,
        callback: _jobs.Progress | None = None,
    ) -> Ranker:
        """Learn from judged documents.

        Args:
            X: features, (documents, features): an array, a DataFrame of pandas or polars, a Table
                of pyarrow, or a sparse matrix of scipy. A column ``qid`` of a table is not a
                feature but the query ids. float32 in row-major order is not copied.
            y: grades, (documents,), from 0 on, higher is better.
            qid: query ids, (documents,), whole numbers or texts, in any order.
            group: instead of qid, the number of successive documents of each query.
            sample_weight: weights of documents, (documents,), if the method supports them.
            query_weight: weights of queries, (documents,), constant within a query.
            eval_set: validation data, ``(X, y, qid)``, or ``(X, y)`` with a column ``qid``. The
                best epoch or round on them is kept.
            callback: called from time to time with a dict of the training's progress. An
                exception that it raises ends the training.

        Returns: the ranker itself.
        """
        request = _jobs.Request()
        data = judged(request, X, y, qid, group, sample_weight, query_weight, "X")
        fields: dict[str, Any] = {"method": text_of(self, "method"), "recipe": recipe_of(self), "set": settings_of(self)}
        fields["data"] = data.fields
        if eval_set is not None:
            fields["valid"] = validation(request, eval_set, data)
        with self._progress(self.method, callback) as progress, _jobs.run("fit", fields, request, progress) as answer:
            model = Model(answer.array(0, np.uint8).tobytes(), answer.fields["model"])
            number, start, objective, validated = (answer.array(i, np.float64) for i in range(1, 5))
        self._adopt(model)
        unit = "iteration" if not answer.fields["epochs"] else "round" if model.about["scorer"] == "trees" else "epoch"
        self.learning_curve_ = {"number": number.astype(int), "start": start.astype(int), "objective": objective, "validation": validated, "unit": unit}
        return self

    @contextmanager
    def _progress(self, name: str, callback: _jobs.Progress | None) -> Iterator[_jobs.Progress | None]:
        """What a training calls with its progress."""
        if callback is not None and not callable(callback):
            raise Error(f"callback: found {shown(callback)}, expected a function")
        if not isinstance(self.verbose, (bool, int, np.bool_, np.integer)):
            raise Error(f"verbose: found {shown(self.verbose)}, expected 0 or 1")
        if not self.verbose:
            yield callback
            return
        line = _Line(name, callback)
        try:
            yield line
        finally:
            line.end()

    def _adopt(self, model: Model) -> None:
        self.model_ = model
        self.n_features_in_ = model.features
        if model.names is not None:
            self.feature_names_in_ = np.asarray(model.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if hasattr(self, "learning_curve_"):
            del self.learning_curve_  # of another model

    # Use.

    def _fitted(self) -> Model:
        model: Model | None = getattr(self, "model_", None)
        if model is None:
            raise _not_fitted(f"This {type(self).__name__} is not fitted yet: call fit, or load a model, first")
        return model

    def predict(self, X: Any, *, qid: Any = None, group: Any = None) -> npt.NDArray[np.float64]:
        """Scores of documents, (documents,), in the order of the rows; higher is better.

        Without qid and group, all documents are one query. This matters to a model that normalizes
        features within a query or has views of them. Named features are matched by name, in any
        order."""
        model = self._fitted()
        given = features(X, known=model.names or (), categories=self._categories())
        self._check_width(model, given)
        of = queries(given.qid if qid is None and group is None else qid, group, len(given.x))
        if (given.names is None or given.names == model.names) and (of is None or len(of.ids) == 1) and len(given.x) <= 4096:
            return model.score_query(given.x) if len(given.x) else np.empty(0)
        request = _jobs.Request()
        if of is None or model.about["pointwise"]:
            of = one_query(len(given.x)) if not model.about["pointwise"] else _pieces(len(given.x))
        data = Data.of(request, given, None, of, "X")
        with _jobs.run("score", {"model": model.number, "data": data.fields}, request) as answer:
            return answer.array(0, np.float64)

    def _categories(self) -> Categories | None:
        """The categories of the model's features; None without a model, or with one that has none."""
        model = getattr(self, "model_", None)
        return model.categories if model is not None else None

    def _check_width(self, model: Model, given: Features) -> None:
        n, width = given.x.shape
        if n == 0:
            raise Error("X: found no documents (0 sample(s)), expected a minimum of 1")
        if given.names is None and width != model.features:
            raise Error(f"X has {width} features, but {type(self).__name__} is expecting {model.features} features as input")

    def rank(self, X: Any, *, qid: Any = None, group: Any = None) -> npt.NDArray[np.intp]:
        """Row numbers of X, (documents,), query by query in order of first appearance, best first.
        Documents of equal scores keep their order."""
        given = features(X, known=(), categories=self._categories())
        of = queries(given.qid if qid is None and group is None else qid, group, len(given.x))
        scores = self.predict(X, qid=qid, group=group)
        if of is None:
            return np.argsort(-scores, kind="stable")
        return np.lexsort((-scores, of.numbers()))

    def queries_of(self, X: Any, qid: Any = None, group: Any = None) -> Queries:
        """The queries of documents. Without qid, group and a column ``qid``, there is one query."""
        given = features(X, known=(), categories=self._categories())
        of = queries(given.qid if qid is None and group is None else qid, group, len(given.x))
        return one_query(len(given.x)) if of is None else of

    def score(self, X: Any, y: Any, *, qid: Any = None, group: Any = None) -> float:
        """The mean over queries of the measure, or of the method's own, or map. It is the expected
        value over random orders of documents with equal scores."""
        model = self._fitted()
        of = self.queries_of(X, qid, group)
        scores = self.predict(X, qid=qid, group=group)
        return mean(scores, y, of, self._selects(), self.convention, self.threshold)

    def _selects(self) -> str:
        """The measure of the validation data: the ranker's, the method's own, or map."""
        return self.measure or self._fitted().about["measure"] or "map"

    def explain(
        self,
        X: Any,
        *,
        qid: Any = None,
        group: Any = None,
        background: Any = None,
        attribution: str = "auto",
        sample: int = 100,
        seed: int = 1,
    ) -> Explanation:
        """Contributions of features to scores; see docs/explain.md.

        Args:
            X: documents, (documents, features).
            qid, group: their queries, as for ``predict``.
            background: documents to measure contributions against; None: X.
            attribution: ``"auto"``, ``"path"``, ``"background"`` or ``"gradients"``.
            sample: the number of background documents to draw, if all would be too many.
            seed: random seed of that draw.
        """
        model = self._fitted()
        request = _jobs.Request()
        given = features(X, known=model.names or (), categories=self._categories())
        self._check_width(model, given)
        of = queries(given.qid if qid is None and group is None else qid, group, len(given.x)) or one_query(len(given.x))
        fields: dict[str, Any] = {"model": model.number, "attribution": word("attribution", attribution)}
        fields |= {"sample": whole("sample", sample, 1, 2**31 - 1), "seed": seed_of(seed)}
        fields["data"] = Data.of(request, given, None, of, "X").fields
        if background is not None:
            other = features(background, "background", model.names or (), self._categories())
            fields["background"] = Data.of(request, other, None, one_query(len(other.x)), "background").fields
        with _jobs.run("explain", fields, request) as answer:
            names = answer.fields["terms"]
            parts = answer.array(0, np.float64).reshape(len(given.x), len(names))
            base, scores, remainder = (answer.array(i, np.float64) for i in (1, 2, 3))
            return Explanation(parts, base, scores, remainder, names, answer.fields["about"])

    # Files.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file."""
        self._fitted().save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Ranker:
        """A ranker with the model of a file, of listwise or of another system."""
        model = Model.load(path)
        about = model.about
        known = about["settings"] or {}
        ranker = cls()
        Ranker.__init__(ranker, about["method"] or "lambdarank", about["measure"] or None, seed=about["seed"])
        own = {name: value for name, value in known.items() if name in OWN}
        ranker._set({name: value for name, value in known.items() if name not in OWN})
        ranker._set({"settings": own or None, **about["recipe"]})
        ranker._adopt(model)
        return ranker


def _signature(kind: type) -> tuple[list[str], bool]:
    """Names of the arguments of a class's ``__init__``, and whether it accepts ``**``."""
    parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]  # type: ignore[misc]
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY, p.POSITIONAL_ONLY)]
    return named, any(p.kind == p.VAR_KEYWORD for p in parameters)


def _pieces(documents: int, size: int = 1024) -> Any:
    """Documents whose queries do not matter, in pieces that are scored side by side."""
    counts = np.full((documents + size - 1) // size, size, np.int64)
    counts[-1] = documents - size * (len(counts) - 1)
    return Queries([str(i) for i in range(len(counts))], counts)


def _not_fitted(message: str) -> Exception:
    """scikit-learn's error if that is installed, else our own."""
    if "sklearn" in sys.modules:
        from sklearn.exceptions import NotFittedError as Theirs

        class Both(NotFittedError, Theirs):  # type: ignore[misc]
            pass

        Both.__name__ = Both.__qualname__ = "NotFittedError"
        return Both(message)
    return NotFittedError(message)


def validation(request: _jobs.Request, eval_set: Any, data: Data) -> dict[str, Any]:
    if isinstance(eval_set, list) and len(eval_set) == 1:
        eval_set = eval_set[0]  # as other libraries have it
    if not isinstance(eval_set, (tuple, list)) or len(eval_set) not in (2, 3):
        raise Error("eval_set: expected (X, y, qid), or (X, y) with a column qid in X")
    X, y, *qid = eval_set
    valid = judged(request, X, y, qid[0] if qid else None, None, None, None, "eval_set", data.names)
    if valid.names is None and valid.fields["features"] != data.fields["features"]:
        raise Error(f"eval_set: found {valid.fields['features']} features, expected {data.fields['features']} as in X")
    return valid.fields
