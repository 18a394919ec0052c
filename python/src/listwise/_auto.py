"""AutoRanker, the estimator of the command auto."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _jobs
from ._arguments import items, number, whole, word
from ._arguments import path as file_path
from ._commands import Settings, _files, _judging
from ._data import judged
from ._errors import Error, shown
from ._evaluate import defined
from ._model import Model
from ._ranker import Ranker, validation
from ._results import Results
from ._settings import seed_of, transforms_of

if TYPE_CHECKING:
    from typing_extensions import Self


class AutoRanker(Ranker):
    """Searches methods and hyperparameters, and learns a function that ranks documents, as ``listwise auto`` does.

    Args:
        budget: the time for the search, in seconds or as a text such as ``"5m"``; None: 10 minutes,
            or no limit if ``trials`` is given.
        measure: the measure on validation queries that decides.
        trials: the number of trials; None: as time allows. A number alone makes the result the same
            on any machine.
        target: an export format that must express the model, such as ``"solr"``; None: listwise.
        folds: the number of parts for cross-validation; None: by the number of queries.
        members: the largest number of trials to fuse; 1: the best trial alone.
        without: numbers of trials to leave out, to repeat a search that the time limit ended:
            ``results_.get("without")``.
        out: the folder in which the results are kept, with the report, ``commands.sh`` and the
            models of ``listwise auto --out``. The data are written beside it, to ``out`` +
            ``"-X.lwd"``, for the commands. The same call resumes a search that was interrupted.
            None: no results are kept.
        missing: as for :class:`Ranker`; ``"auto"``: ``"keep"`` if values are missing. Scorers other than
            trees then see the mean of the feature.
        convention, threshold, normalize, transforms, seed: as for :class:`Ranker`.
        jobs: the number of parallel trainings; None: one per core.
        verbose: 1 prints the progress of the search on standard error.

    Attributes:
        model_: the :class:`Model`, one trial or a fusion of several.
        value_: the mean of the measure by nested validation, on queries that neither the training
            nor the choice of the trial or fusion has seen.
        interval_: the 95 % interval of ``value_``, (low, high).
        leaderboard_: the trials, best first. ``validation`` is the mean of the measure in the
            search, which early stopping makes slightly too good. ``value``, with its 95 % interval
            ``low`` to ``high``, is that of the final models, which did not see the queries. It is
            NaN for trials from which fusions were not chosen. ``weight`` is the trial's share of
            the model.
            ``refused`` says why a method cannot learn from the data.
        candidates_: the best trial alone and the fusions, by nested validation. ``gain`` is the
            difference to the best trial alone.
        results_: all results, as ``listwise auto --format json`` prints them.
        evaluation_: the :class:`Results` of the model (``auto``) and of the best trial alone
            (``best-single``) by the usual measures, for each query, by nested validation.
        n_features_in_, feature_names_in_: as for :class:`Ranker`.

    ``leaderboard_`` and ``candidates_`` are DataFrames of pandas, or lists of dicts without pandas.
    """

    hyperparameters: dict[str, Any] = {}  # it has none: the search chooses them

    def __init__(
        self,
        budget: float | str | None = None,
        measure: str = "ndcg@10",
        *,
        trials: int | None = None,
        target: str | None = None,
        folds: int | None = None,
        members: int = 12,
        without: Sequence[int] | None = None,
        out: str | os.PathLike[str] | None = None,
        convention: str = "standard",
        threshold: float | str = "auto",
        normalize: str = "none",
        transforms: Any = (),
        missing: str = "auto",
        seed: int = 1,
        jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.budget = budget
        self.measure = measure
        self.trials = trials
        self.target = target
        self.folds = folds
        self.members = members
        self.without = without
        self.out = out
        self.convention = convention
        self.threshold = threshold
        self.normalize = normalize
        self.transforms = transforms
        self.missing = missing
        self.seed = seed
        self.jobs = jobs
        self.verbose = verbose

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
    ) -> Self:
        """Search, and learn from judged documents.

        Arguments are those of :meth:`Ranker.fit`. With ``eval_set`` and ``folds=1``, its queries
        alone validate; otherwise they are added to those of X. ``callback`` is called as trainings
        end."""
        request = _jobs.Request()
        data = judged(request, X, y, qid, group, sample_weight, query_weight, "X")
        valid = None if eval_set is None else validation(request, eval_set, data)
        if valid is not None and self.folds != 1 and (common := set(data.queries.ids).intersection(valid["ids"])):
            raise Error(f"eval_set: found the query {shown(min(common))}, which X has too, expected other queries: they are added to those of X unless folds is 1")
        settings = self._flags()
        with _files() as files, self._progress("auto", callback) as progress:
            files.arguments |= {"select": "measure", "for": "target", "transform": "transforms"}
            stem = os.path.join(files.folder, "data")  # the files of the data must not be in the folder of the results
            settings["out"] = os.path.join(files.folder, "out")
            if self.out is not None:
                stem = settings["out"] = file_path("out", self.out).rstrip(os.sep)
                try:
                    os.makedirs(os.path.dirname(stem) or ".", exist_ok=True)
                except OSError as error:
                    raise Error(f"out: {stem}: {error.strerror}") from error
            if valid is None:
                settings["data"] = files.write(request, data.fields, stem + "-X.lwd", "data")
            else:
                settings["train"] = files.write(request, data.fields, stem + "-X.lwd", "train")
                settings["valid"] = files.write(request, valid, stem + "-eval_set.lwd", "valid")
            fields = files.call("auto", settings, progress=progress)
            results = fields["data"]
            lines = Path(settings["out"], "trials.jsonl").read_text(encoding="utf-8").splitlines()
            model = Model.load(os.path.join(settings["out"], "model.json"))
        self._adopt(model)
        self.results_ = results
        self.evaluation_ = Results(fields["details"], "auto")
        self.value_ = defined(results["nested"]["value"])
        self.interval_ = _interval(results["nested"]["ci"])
        self.leaderboard_ = _table(_trials(lines, results))
        self.candidates_ = _table([_candidate(c, results["chosen"]) for c in results["candidates"]])
        return self

    def _flags(self) -> Settings:
        """The arguments as flags."""
        most = 2**31 - 1
        settings: Settings = {"no-record": "true", "select": word("measure", self.measure), "seed": str(seed_of(self.seed))}
        settings |= {name: word(name, getattr(self, name)) for name in ("convention", "normalize")} | _judging(None, self.threshold)
        if (missing := word("missing", self.missing)) != "auto":
            settings["missing"] = missing
        settings |= {"members": str(whole("members", self.members, 1, most)), "transform": transforms_of(self)}
        settings["trials"] = "0" if self.trials is None else str(whole("trials", self.trials, 1, most))
        if self.budget is not None:
            settings["budget"] = self.budget if isinstance(self.budget, str) else f"{number('budget', self.budget):f}s"
        if self.target is not None:
            settings["for"] = word("target", self.target)
        for name in ("folds", "jobs"):
            if (value := getattr(self, name)) is not None:
                settings[name] = str(whole(name, value, 1, most))
        if self.without is not None and (numbers := items("without", self.without)):
            settings["without"] = ",".join(str(whole("without", n, 1, most)) for n in numbers)
        return settings

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """A ranker with the model of a file. It has no results of the search."""
        ranker = cls()
        ranker._adopt(Model.load(path))
        return ranker


def _interval(ci: Sequence[float | None]) -> tuple[float, float]:
    return defined(ci[0]), defined(ci[1])


def _trials(lines: Sequence[str], results: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of leaderboard_, from the lines of trials.jsonl."""
    weights = {m["trial"]: m["weight"] for m in results["members"]}
    rows = []
    for line in map(json.loads, lines):
        low, high = _interval(line.get("final_ci", (None, None)))
        row = {"trial": line["trial"], "name": line["name"], "value": defined(line.get("final")), "low": low, "high": high}
        row |= {"validation": defined(line.get("validation")), "weight": weights.get(line["trial"], 0.0)}
        row |= {"method": line["method"], "scorer": line["scorer"]}
        row |= {"views": ",".join(line["views"]), "transforms": line.get("transforms", []), "settings": line["settings"]}
        rows.append(row | {"refused": line.get("refused", "")})
    return sorted(rows, key=lambda row: [math.inf if math.isnan(row[name]) else -row[name] for name in ("value", "validation")])


def _candidate(c: dict[str, Any], chosen: str) -> dict[str, Any]:
    """A row of candidates_."""
    low, high = _interval(c["ci"])
    gain_low, gain_high = _interval(c["gain_ci"])
    row = {"name": c["name"], "members": c["members"], "value": defined(c["value"]), "low": low, "high": high}
    return row | {"gain": defined(c["gain_over_single"]), "gain_low": gain_low, "gain_high": gain_high, "chosen": c["name"] == chosen}


def _table(rows: list[dict[str, Any]]) -> Any:
    """A DataFrame of pandas, if that is installed."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows)
