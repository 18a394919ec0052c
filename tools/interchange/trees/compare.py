"""Decides whether two lists of scores agree."""

import numpy as np


def same(got, want, tolerance, what):
    """Raises an error unless scores agree up to a tolerance relative to their size, and rank alike."""
    got, want = np.asarray(got, dtype=float), np.asarray(want, dtype=float)
    if got.shape != want.shape:
        raise AssertionError(f"{what}: {got.shape} scores, expected {want.shape}")
    allowed = tolerance * (1 + np.abs(want))
    off = np.abs(got - want) > allowed
    if off.any():
        i = int(np.argmax(off))
        raise AssertionError(f"{what}: row {i} has the score {got[i]!r}, expected {want[i]!r}")
    order = np.argsort(want, kind="stable")
    apart = np.diff(want[order]) > 2 * allowed[order][1:]
    if (np.diff(got[order])[apart] <= 0).any():
        raise AssertionError(f"{what}: the ranks differ")
