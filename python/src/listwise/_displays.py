"""Plots of importances, learning curves and differences, in the style of scikit-learn's displays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._arguments import whole
from ._commands import Comparison, Tuning
from ._errors import Error, shown
from ._ranker import Explanation, Ranker
from ._results import Results, optional

if TYPE_CHECKING:
    from typing_extensions import Self

_GREY = "0.5"  # readable on white and on black
_ROW = 0.27  # inches of a row with a label


class _Display:
    """What the displays share: the axes of a plot."""

    def _axes(self, ax: Any, rows: int | None = None) -> Any:
        """The axes to plot on; None: those of a new figure, high enough for so many rows of labels."""
        if ax is None:
            plt = optional("matplotlib.pyplot", type(self).__name__, "matplotlib")
            width, height = plt.rcParams["figure.figsize"]
            if rows is not None:
                height = max(1.2, 0.9 + _ROW * rows)
            _, ax = plt.subplots(figsize=(width, height), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


class ImportanceDisplay(_Display):
    """A bar for the importance of each feature, largest first.

    Use :meth:`from_explanation` or :meth:`from_estimator` to make one. The importance of a feature is
    the mean absolute value of its contributions to the scores, so its unit is that of the scores.

    Args:
        importances: one number for each feature.
        feature_names: their names.

    Attributes:
        ax_, figure_: the axes and the figure of the plot.
        bars_: the bars.
    """

    def __init__(self, importances: Any, feature_names: Sequence[str]) -> None:
        self.importances = np.asarray(importances, float)
        self.feature_names = list(feature_names)
        if self.importances.shape != (len(self.feature_names),):
            raise Error(f"importances: found the shape {self.importances.shape}, expected a number for each of {len(self.feature_names)} names")

    def plot(self, ax: Any = None, *, max_features: int = 20, bar_kw: Mapping[str, Any] | None = None) -> Self:
        """Draw the bars.

        Args:
            ax: axes of matplotlib; None: those of a new figure.
            max_features: the largest number of features with a bar of their own. A grey bar shows
                the sum of the others, among them all features of importance 0.
            bar_kw: arguments of ``Axes.barh``.
        """
        most = min(whole("max_features", max_features, 1, 2**31 - 1), max(1, np.count_nonzero(self.importances)))
        order = np.argsort(-self.importances, kind="stable")
        names = [self.feature_names[i] for i in order[:most]]
        values = self.importances[order[:most]].tolist()
        others = order[most:]
        if len(others):
            names.append(f"{len(others)} others")
            values.append(float(self.importances[others].sum()))
        ax = self._axes(ax, len(names))
        rows = np.arange(len(names))  # names may repeat, as places do not
        self.bars_ = ax.barh(rows, values, **{"height": 0.7, "color": "C0", **(bar_kw or {})})
        if len(others):
            self.bars_[-1].set_color(_GREY)
        ax.set_yticks(rows, names)
        ax.set_ylim(len(names) - 0.4, -0.6)
        ax.set_xlabel("mean |contribution| to the score")
        ax.set_ylabel("feature")
        return self

    @classmethod
    def from_explanation(cls, explanation: Explanation, *, ax: Any = None, **kwargs: Any) -> Self:
        """Plot the result of ``Ranker.explain``. Other arguments are those of :meth:`plot`."""
        if not isinstance(explanation, Explanation):
            raise Error(f"explanation: found {shown(explanation)}, expected the result of Ranker.explain")
        return cls(np.abs(explanation.values).mean(axis=0), explanation.feature_names).plot(ax, **kwargs)

    @classmethod
    def from_estimator(cls, estimator: Ranker, X: Any, *, qid: Any = None, group: Any = None, background: Any = None, ax: Any = None, **kwargs: Any) -> Self:
        """Explain the scores of documents and plot the importances.

        The arguments before ``ax`` are those of ``Ranker.explain``, the others those of :meth:`plot`."""
        if not isinstance(estimator, Ranker):
            raise Error(f"estimator: found {shown(estimator)}, expected a Ranker")
        return cls.from_explanation(estimator.explain(X, qid=qid, group=group, background=background), ax=ax, **kwargs)


class LearningCurveDisplay(_Display):
    """Objectives or validation values of trainings, by iteration, epoch or round.

    Use :meth:`from_estimator` to make one.

    Args:
        curves: the curves of each name: one for each run and random start. A curve is a dict with
            the arrays ``number``, ``objective`` and ``validation``, as in ``Ranker.learning_curve_``.
        unit: what the numbers count: ``"iteration"``, ``"epoch"`` or ``"round"``.
        measure: the measure of the validation values.

    Attributes:
        ax_, figure_: the axes and the figure of the plot.
        lines_: the line of each name.
    """

    def __init__(self, curves: Mapping[str, Sequence[Mapping[str, npt.NDArray[np.float64]]]], *, unit: str, measure: str) -> None:
        self.curves, self.unit, self.measure = {name: list(own) for name, own in curves.items()}, unit, measure

    def plot(self, ax: Any = None, *, value: str = "auto", line_kw: Mapping[str, Any] | None = None) -> Self:
        """Draw the curves.

        Several curves of a name become their mean, with a band from the lowest to the highest. The
        mean ends with the shortest of them. A dot marks the best validation value of a single curve,
        which early stopping keeps.

        Args:
            ax: axes of matplotlib; None: those of a new figure.
            value: ``"validation"``, ``"objective"``, or ``"auto"``: validation values if all curves
                have some.
            line_kw: arguments of ``Axes.plot``.
        """
        if value not in ("auto", "validation", "objective"):
            raise Error(f"value: found {shown(value)}, expected 'auto', 'validation' or 'objective'")
        known = {name: all(np.isfinite(c["validation"]).any() for c in own) for name, own in self.curves.items()}
        if value == "auto":
            value = "validation" if all(known.values()) else "objective"
        if value == "validation" and not all(known.values()):
            raise Error(f"value: found no validation values of {next(n for n in known if not known[n])}, expected an eval_set in fit")
        ax = self._axes(ax)
        self.lines_ = {}
        for name, own in self.curves.items():
            n = min(len(c["number"]) for c in own)
            number = own[0]["number"][:n]
            values = np.stack([np.asarray(c[value])[:n] for c in own])
            shown_at = np.isfinite(values).all(axis=0)  # some points are not validated
            number, values = number[shown_at], values[:, shown_at]
            label = name if len(own) == 1 else f"{name}: mean and range of {len(own)}"
            (line,) = ax.plot(number, values.mean(axis=0), **{"label": label, **(line_kw or {})})
            if len(own) > 1:
                ax.fill_between(number, values.min(axis=0), values.max(axis=0), color=line.get_color(), alpha=0.25, linewidth=0)
            elif value == "validation":
                best = int(np.argmax(values[0]))
                ax.plot(number[best], values[0, best], "o", color=line.get_color(), markersize=5)
            self.lines_[name] = line
        ax.set_xlabel(self.unit)
        ax.set_ylabel(f"{self.measure}, validation data" if value == "validation" else "objective, training data")
        locator = ax.xaxis.get_major_locator()
        if isinstance(locator, optional("matplotlib.ticker", type(self).__name__, "matplotlib").MaxNLocator):
            locator.set_params(integer=True)
        if len(self.curves) > 1 or any(len(own) > 1 for own in self.curves.values()):
            ax.legend()
        return self

    @classmethod
    def from_estimator(cls, estimators: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Plot the learning curves of fitted rankers.

        Args:
            estimators: a Ranker, or a dict from names to Rankers, or to lists of Rankers that are
                runs of one method with different random seeds.
            ax, kwargs: as for :meth:`plot`.
        """
        named = estimators if isinstance(estimators, Mapping) else {getattr(estimators, "method", ""): estimators}
        curves: dict[str, list[dict[str, Any]]] = {}
        units: dict[str, str] = {}
        measures: dict[str, str] = {}
        for name, own in named.items():
            curves[name] = []
            for ranker in own if isinstance(own, (list, tuple)) else [own]:
                if not isinstance(ranker, Ranker):
                    raise Error(f"estimators: found {shown(ranker)}, expected a Ranker, or a dict of Rankers or of lists of them")
                curve = getattr(ranker, "learning_curve_", None)
                if curve is None or not len(curve["number"]):
                    raise Error(f"estimators: found no learning curve of {name}, expected a ranker after fit, of a method with iterations")
                curves[name] += [{k: curve[k][curve["start"] == s] for k in ("number", "objective", "validation")} for s in np.unique(curve["start"])]
                units.setdefault(curve["unit"], name)
                measures.setdefault(ranker._selects(), name)
            if not curves[name]:
                raise Error(f"estimators: found no ranker of {name}, expected one at least")
        if not curves:
            raise Error("estimators: found none, expected one at least")
        unit = " or ".join(units)
        if len(measures) > 1 and kwargs.get("value") != "objective":
            (a, of_a), (b, of_b) = list(measures.items())[:2]
            raise Error(f"estimators: found the measures {a} of {of_a} and {b} of {of_b}, expected the same: pass measure to the Rankers")
        return cls(curves, unit=unit, measure=next(iter(measures))).plot(ax, **kwargs)


class DifferencesDisplay(_Display):
    """Differences between systems, with their 95 % intervals.

    Use :meth:`from_comparison` to make one.

    Args:
        differences: the difference of each pair.
        intervals: their intervals, (pairs, 2); NaN if there is none.
        labels: the names of the pairs.
        p_values: the corrected p values.
        label: the label of the axis of the differences.

    Attributes:
        ax_, figure_: the axes and the figure of the plot.
        errorbars_: the intervals, one container for each pair.
    """

    def __init__(self, differences: Any, intervals: Any, labels: Sequence[str], p_values: Any, *, label: str = "difference") -> None:
        self.differences, self.p_values = np.asarray(differences, float), np.asarray(p_values, float)
        self.intervals = np.asarray(intervals, float).reshape(-1, 2)
        self.labels, self.label = list(labels), label
        if not len(self.labels) == len(self.differences) == len(self.intervals) == len(self.p_values):
            raise Error(f"labels: found {len(self.labels)}, expected as many differences, intervals and p values")

    def plot(self, ax: Any = None, *, level: float = 0.05, errorbar_kw: Mapping[str, Any] | None = None) -> Self:
        """Draw the intervals from top to bottom. A filled dot marks a p value below the level.

        The p values are corrected for all pairs, the intervals are not. So the interval of an open
        dot may exclude 0.

        Args:
            ax: axes of matplotlib; None: those of a new figure.
            level: the level of significance.
            errorbar_kw: arguments of ``Axes.errorbar``.
        """
        lines = optional("matplotlib.lines", type(self).__name__, "matplotlib")
        ax = self._axes(ax, len(self.labels) + 1)
        ax.axvline(0, color=_GREY, linestyle="--", linewidth=1, zorder=0)
        self.errorbars_ = []
        style = {"marker": "o", "linestyle": "none", "color": "C0", "markersize": 6, "capsize": 3}
        for row, (d, (low, high), p) in enumerate(zip(self.differences, self.intervals, self.p_values, strict=True)):
            own = {**style, **(errorbar_kw or {})}
            if not p < level:
                own.setdefault("markerfacecolor", ax.get_facecolor())
            error = None if math.isnan(low) or math.isnan(high) else [[d - low], [high - d]]
            self.errorbars_.append(ax.errorbar([d], [row], xerr=error, **own))
        ax.set_yticks(np.arange(len(self.labels)), self.labels)
        ax.set_ylim(len(self.labels) - 0.5, -0.5)
        ax.set_xlabel(self.label)
        ax.locator_params(axis="x", nbins=6)
        marks = [
            lines.Line2D([], [], **{k: v for k, v in {**style, **face}.items() if k != "capsize"}, label=text)
            for face, text in (({}, f"p < {level:g}, Holm"), ({"markerfacecolor": ax.get_facecolor()}, "not significant"))
        ]
        ax.legend(handles=marks, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
        return self

    @classmethod
    def from_comparison(cls, comparison: Comparison | Tuning | Results, *, measure: str | None = None, ax: Any = None, **kwargs: Any) -> Self:
        """Plot the differences of ``compare`` or ``tune`` by a measure; None: the first.

        Other arguments are those of :meth:`plot`."""
        results = getattr(comparison, "results", comparison)
        if not isinstance(results, Results):
            raise Error(f"comparison: found {shown(comparison)}, expected the result of compare or tune")
        measure = results.measure_of(measure)
        pairs = results._pairs(measure)
        if not pairs:
            raise Error("comparison: found no pairs, expected two systems at least, and two queries with values")
        of = [p["a"] if results.baseline is not None else f"{p['a']} − {p['b']}" for p in pairs]
        label = f"difference of {measure}" if results.baseline is None else f"{measure} minus that of {results.baseline}"
        intervals = [(p["low"], p["high"]) for p in pairs]
        return cls([p["difference"] for p in pairs], intervals, of, [p["p_holm"] for p in pairs], label=f"{label}\n95 % interval").plot(ax, **kwargs)
