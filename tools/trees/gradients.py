"""Writes LightGBM's and XGBoost's gradients of lambdarank, with which learn/loss/lambda_peers_test.go
compares listwise's.

    python -m venv V && V/bin/pip install -r tools/trees/requirements.txt
    V/bin/python tools/trees/gradients.py > learn/loss/testdata/lambdas.json

Neither program prints its gradients. A tree with one split separates some documents from the
others. Its leaf has the value -G/(H + l2), where G and H are the documents' sums of gradients and
of second derivatives, and the weight H. LightGBM reads the logistic function from a table of 2^20
steps between -25/sigma and 25/sigma. The differences of scores are slightly above multiples of a
step, for which the table is exact. Both programs store gradients as float32.
"""

import json
import sys

import lightgbm
import numpy as np
import xgboost

STEP = 50 / 2**20  # of sigma times a difference of scores


def query(rng, documents, sigma):
    """Grades 0 to 4, and scores that are exact as float32, all different."""
    grades = rng.integers(0, 5, documents)
    places = rng.choice(20 * documents, documents, replace=False) - 10 * documents
    return grades, places * (2**9 * STEP / sigma)


def light(grades, scores, among, settings):
    x = np.isin(np.arange(len(grades)), among).astype(float).reshape(-1, 1)
    data = lightgbm.Dataset(
        x, label=grades, group=[len(grades)], init_score=scores + 1e-9 * grades,
        params={"min_data_in_bin": 1, "feature_pre_filter": False, "verbose": -1},
    )
    options = {
        "objective": "lambdarank", "num_leaves": 2, "learning_rate": 1.0, "min_data_in_leaf": 0, "min_sum_hessian_in_leaf": 0,
        "lambda_l2": 0.0, "verbose": -1, "num_threads": 1, "deterministic": True, "feature_pre_filter": False, "min_data_in_bin": 1,
    }  # fmt: skip
    root = lightgbm.train(options | settings, data, 1).dump_model()["tree_info"][0]["tree_structure"]
    if "right_child" not in root:
        return None
    leaf = root["right_child"]
    return np.array([-leaf["leaf_value"] * leaf["leaf_weight"], leaf["leaf_weight"]])


def extreme(grades, scores, among, settings):
    x = np.isin(np.arange(len(grades)), among).astype(float).reshape(-1, 1)
    data = xgboost.DMatrix(x, label=grades, base_margin=scores.astype(np.float32))
    data.set_group([len(grades)])
    options = {
        "objective": "rank:ndcg", "max_depth": 1, "eta": 1.0, "min_child_weight": 0, "reg_lambda": 0.0, "tree_method": "exact",
        "lambdarank_pair_method": "topk", "nthread": 1, "base_score": 0,
    }  # fmt: skip
    root = json.loads(xgboost.train(options | settings, data, 1).get_dump(dump_format="json", with_stats=True)[0])
    if "children" not in root:
        return None
    leaf = next(c for c in root["children"] if c["nodeid"] == root["no"])
    return np.array([-leaf["leaf"] * leaf["cover"], leaf["cover"]])


def gradients(program, grades, scores, settings):
    """G and H of each document. One that is not parted from the others is parted with another
    one, whose own are subtracted."""
    alone = [program(grades, scores, [i], settings) for i in range(len(grades))]
    known = [i for i, v in enumerate(alone) if v is not None]
    for i, v in enumerate(alone):
        for helper in sorted(known, key=lambda j: -alone[j][1]) if v is None else []:
            both = program(grades, scores, [i, helper], settings)
            if both is not None:
                alone[i] = both - alone[helper]
                break
        else:
            if v is None:
                sys.exit(f"document {i} cannot be parted from the others")
    return np.array(alone)


def main():
    rng = np.random.default_rng(7)
    cases = []
    for documents, top in [(8, 30), (15, 30), (15, 4)]:
        for sigma in [1.0, 2.0]:
            grades, scores = query(rng, documents, sigma)
            for norm in [False, True]:
                settings = {"lambdarank_truncation_level": top, "lambdarank_norm": norm, "sigmoid": sigma}
                g = gradients(light, grades, scores, settings)
                cases.append((f"LightGBM {lightgbm.__version__}", settings, top, sigma, norm, norm, True, grades, scores, g))
        for total, gap in [(False, False), (True, False), (True, True)]:
            for exponential in [True, False]:
                grades, scores = query(rng, documents, 1.0)
                settings = {
                    "lambdarank_num_pair_per_sample": top, "lambdarank_normalization": total,
                    "lambdarank_score_normalization": gap, "ndcg_exp_gain": exponential,
                }  # fmt: skip
                g = gradients(extreme, grades, scores, settings)
                cases.append((f"XGBoost {xgboost.__version__}", settings, top, 1.0, total, gap, exponential, grades, scores, g))
    print("[")
    for number, (program, settings, top, sigma, total, gap, exponential, grades, scores, g) in enumerate(cases):
        print(json.dumps({
            "program": program, "settings": settings, "top": top, "sigma": sigma, "sumNorm": total, "gapNorm": gap, "exponentialGain": exponential,
            "grades": grades.tolist(), "scores": scores.tolist(),
            "gradient": [float(f"{v:.9g}") for v in g[:, 0]], "second": [float(f"{v:.9g}") for v in g[:, 1]],
        }) + ("," if number + 1 < len(cases) else ""))  # fmt: skip
    print("]")


if __name__ == "__main__":
    main()
