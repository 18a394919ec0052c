"""LightGBM, XGBoost and CatBoost: the settings to try, and the scores after each tree."""

import itertools
from dataclasses import dataclass
from typing import Callable

import catboost
import lightgbm
import numpy as np
import xgboost

from letor import Data


@dataclass
class Peer:
    name: str
    version: str
    fixed: dict
    grid: dict[str, list]
    staged: Callable  # (settings, trees, train, [data]) → [scores by tree and document]

    def settings(self):
        for values in itertools.product(*self.grid.values()):
            yield dict(zip(self.grid, values))


def of_lightgbm(settings: dict, trees: int, train: Data, others: list[Data]):
    data = lightgbm.Dataset(train.x, train.grades, group=train.sizes, params={"verbosity": -1})
    model = lightgbm.train({"verbosity": -1, "num_threads": 1, "seed": 1, "deterministic": True, **settings}, data, trees)
    scores = []
    for d in others:
        # Adding up the values of the leaves is much faster than predicting tree by tree.
        leaves = model.predict(d.x, pred_leaf=True).reshape(len(d.x), -1)
        values = [np.array([model.get_leaf_output(t, leaf) for leaf in range(leaves[:, t].max() + 1)]) for t in range(leaves.shape[1])]
        scores.append(np.cumsum([values[t][leaves[:, t]] for t in range(leaves.shape[1])], axis=0))
    return scores


def of_xgboost(settings: dict, trees: int, train: Data, others: list[Data]):
    data = xgboost.DMatrix(train.x, train.grades, qid=train.queries())
    model = xgboost.train({"verbosity": 0, "nthread": 1, "seed": 1, **settings}, data, trees)
    scores = []
    for d in others:
        matrix = xgboost.DMatrix(d.x)
        steps = [model.predict(matrix, output_margin=True, iteration_range=(t, t + 1)) for t in range(trees)]
        scores.append(np.cumsum(np.array(steps, np.float64), axis=0))
    return scores


def of_catboost(settings: dict, trees: int, train: Data, others: list[Data]):
    data = catboost.Pool(train.x, train.grades, group_id=train.queries())
    model = catboost.CatBoost({"verbose": False, "thread_count": 1, "random_seed": 1, "allow_writing_files": False, "iterations": trees, **settings})
    model.fit(data)
    return [np.array(list(model.staged_predict(d.x, thread_count=1))) for d in others]


# The grids have as many settings as listwise's own for trees: about as many leaves, the same parts of
# the features, and two sizes of a leaf where listwise tries two orders of growth, at one rate and
# with six tenths of the data for each tree, of the queries where a program can draw
# queries. CatBoost has its own sampling for YetiRank.
LIGHTGBM = {"num_leaves": [4, 10, 31], "min_data_in_leaf": [20, 100], "feature_fraction": [0.3, 1.0]}
XGBOOST = {"max_leaves": [4, 10, 31], "min_child_weight": [0.1, 1], "colsample_bytree": [0.3, 1.0]}
CATBOOST = {"depth": [2, 4, 6], "l2_leaf_reg": [1, 3], "rsm": [0.3, 1.0]}
BY_QUERY = {"learning_rate": 0.05, "bagging_fraction": 0.6, "bagging_freq": 1, "bagging_by_query": True}
LEAFWISE = {"tree_method": "hist", "grow_policy": "lossguide", "max_depth": 0, "learning_rate": 0.05, "subsample": 0.6}

PEERS = [
    Peer("lightgbm-lambdarank", lightgbm.__version__, {"objective": "lambdarank", **BY_QUERY}, LIGHTGBM, of_lightgbm),
    Peer("lightgbm-xendcg", lightgbm.__version__, {"objective": "rank_xendcg", **BY_QUERY}, LIGHTGBM, of_lightgbm),
    Peer("lightgbm-lambdarank-all", lightgbm.__version__, {"objective": "lambdarank", "learning_rate": 0.05}, LIGHTGBM, of_lightgbm),  # all queries for each tree
    Peer("lightgbm-xendcg-all", lightgbm.__version__, {"objective": "rank_xendcg", "learning_rate": 0.05}, LIGHTGBM, of_lightgbm),
    Peer("xgboost-ndcg", xgboost.__version__, {"objective": "rank:ndcg", **LEAFWISE}, XGBOOST, of_xgboost),
    Peer("xgboost-pairwise", xgboost.__version__, {"objective": "rank:pairwise", **LEAFWISE}, XGBOOST, of_xgboost),
    Peer("catboost-yetirank", catboost.__version__, {"loss_function": "YetiRank", "learning_rate": 0.05}, CATBOOST, of_catboost),
    Peer("catboost-queryrmse", catboost.__version__, {"loss_function": "QueryRMSE", "learning_rate": 0.05}, CATBOOST, of_catboost),
]
