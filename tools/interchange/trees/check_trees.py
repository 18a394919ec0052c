"""Checks listwise's formats for trees against the programs they belong to.

LightGBM, XGBoost, CatBoost and treelite load models that listwise writes, and listwise reads
models that they write. Scores must agree to the precision of the program. So must the order of
documents whose scores differ by more than that. The script prints a line for every check and every
difference. Its exit code is 1 if there is a difference. ../check_trees.sh makes the environment
and calls this script.
"""

import argparse
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import numpy as np

import with_catboost
import with_frames
import with_lightgbm
import with_refused
import with_trained
import with_treelite
import with_xgboost
from drawn import Program

CHECKS = [*with_lightgbm.CHECKS, *with_xgboost.CHECKS, *with_catboost.CHECKS, *with_treelite.CHECKS, *with_trained.CHECKS, *with_frames.CHECKS, *with_refused.CHECKS]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--listwise", required=True, help="the program")
    parser.add_argument("--models", type=int, default=60, help="random models of each check")
    parser.add_argument("--only", default="", help="checks whose names contain this")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    failed = 0
    for check in CHECKS:
        if args.only not in check.__name__:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                done = check(Program(args.listwise, folder), np.random.default_rng(7), args.models)
                print(f"ok      {check.__name__}: {done}")
            except Exception:  # each check is judged by itself
                failed += 1
                print(f"FAILED  {check.__name__}\n{traceback.format_exc()}")
        sys.stdout.flush()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
