"""Results of systems on single queries, as data frames."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from typing import Any

from ._errors import Error, shown
from ._evaluate import defined


def optional(module: str, purpose: str, package: str) -> Any:
    """A module that listwise does not require. The error says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"{purpose} needs {package}, which is not installed: pip install {package}") from error


class Results:
    """Values of measures for single queries, and tests of the differences between systems.

    Attributes:
        measures: names of the measures.
        systems: names of the systems: of ``compare``, the methods of ``tune``, or ``auto`` and
            ``best-single`` of an AutoRanker.
        queries: ids of the queries.
        folds: the fold of each query, or None if there are no folds.
        baseline: the system that the others are compared with, or None for every pair.

    The methods return DataFrames of pandas, which must be installed.
    """

    def __init__(self, details: dict[str, Any], baseline: str | None = None) -> None:
        self.queries: list[str] = details["queries"]
        self.folds: list[str] | None = details.get("folds")
        self.baseline = baseline
        self._values: list[dict[str, Any]] = details["values"]
        self._compared: list[dict[str, Any]] = details["compared"]
        self.measures: list[str] = [c["measure"] for c in self._compared]
        self.systems: list[str] = [s["name"] for s in self._compared[0]["systems"]]

    def to_pandas(self) -> Any:
        """The value of each query, in long form: one row per query, system and measure.

        The columns are ``query``, ``fold`` if there are folds, ``system``, ``run`` (from 1, for
        several runs of a system), ``measure`` and ``value``. The value is NaN for a query that does
        not count."""
        pandas = optional("pandas", "to_pandas", "pandas")
        parts = []
        for v in self._values:
            part = {"query": self.queries}
            if self.folds is not None:
                part["fold"] = self.folds
            values = [defined(x) for x in v["values"]]
            parts.append(pandas.DataFrame(part).assign(system=v["system"], run=v["run"], measure=v["measure"], value=values))
        return pandas.concat(parts, ignore_index=True)

    def summary(self) -> Any:
        """The means with 95 % intervals: one row per measure and system.

        The columns are ``measure``, ``system``, ``queries`` (the number that counts), ``mean``,
        ``low`` and ``high``. With a baseline, ``difference`` is the mean minus that of the baseline,
        ``difference_low`` and ``difference_high`` its interval, and ``p`` and ``p_holm`` its p value
        by the randomization test, the latter with Holm's correction."""
        rows = []
        for c in self._compared:
            against = {p["a"]: p for p in c["pairs"] or ()}
            for s in c["systems"]:
                low, high = _interval(s["ci"])
                row = {"measure": c["measure"], "system": s["name"], "queries": c["queries"], "mean": defined(s["mean"]), "low": low, "high": high}
                if self.baseline is not None:
                    row |= _difference(against.get(s["name"]), "difference_")
                rows.append(row)
        return optional("pandas", "summary", "pandas").DataFrame(rows)

    def pairs(self) -> Any:
        """The differences between systems: one row per measure and pair.

        The columns are ``measure``, the systems ``a`` and ``b``, ``difference`` (the mean of a minus
        that of b), its 95 % interval ``low`` to ``high``, the p values ``p``, ``p_holm`` (randomization
        test) and ``p_t`` (t-test), ``cohen_d``, the numbers of queries ``wins``, ``ties`` and
        ``losses`` of a, and ``detectable``."""
        columns = ["measure", "a", "b", "difference", "low", "high", "p", "p_holm", "p_t", "cohen_d", "wins", "ties", "losses", "detectable"]
        return optional("pandas", "pairs", "pandas").DataFrame(self._pairs(), columns=columns)

    def _pairs(self, measure: str | None = None) -> list[dict[str, Any]]:
        """The rows of pairs, of all measures or one."""
        rows = []
        for c in self._compared:
            for p in c["pairs"] or ():
                row = {"measure": c["measure"], "a": p["a"], "b": p["b"]} | _difference(p, "")
                row |= {"p_t": defined(p["t"]["p"]), "cohen_d": defined(p["cohen_d"])}
                rows.append(row | {name: p[name] for name in ("wins", "ties", "losses", "detectable")})
        return [row for row in rows if measure is None or row["measure"] == measure]

    def measure_of(self, measure: str | None) -> str:
        """A measure of the results; None: the first."""
        if measure is None:
            return self.measures[0]
        if measure not in self.measures:
            raise Error(f"measure: found {shown(measure)}, expected one of {', '.join(self.measures)}")
        return measure

    def __repr__(self) -> str:
        return f"Results({len(self.queries)} queries, {len(self.systems)} systems, {', '.join(self.measures)})"


def _interval(ci: Sequence[float | None]) -> tuple[float, float]:
    return defined(ci[0]), defined(ci[1])


def _difference(pair: dict[str, Any] | None, prefix: str) -> dict[str, float]:
    """The difference of a pair with its interval and p values; NaN without a pair."""
    if pair is None:
        return dict.fromkeys(("difference", f"{prefix}low", f"{prefix}high", "p", "p_holm"), math.nan)
    low, high = _interval(pair["ci"])
    values = {"difference": defined(pair["difference"]), f"{prefix}low": low, f"{prefix}high": high}
    return values | {name: defined(pair["randomization"][name]) for name in ("p", "p_holm")}
