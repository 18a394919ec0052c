"""Checks with treelite, an independent reader of LightGBM's and XGBoost's files."""

import numpy as np
import treelite
import treelite.gtil

from compare import same
from drawn import draw_documents, draw_model

FORMATS = {"lightgbm": treelite.frontend.load_lightgbm_model, "xgboost": treelite.frontend.load_xgboost_model}


def treelite_reads(program, rng, models):
    """treelite loads what export writes for LightGBM and XGBoost."""
    for k in range(models):
        model = draw_model(rng, program.folder / "m.json")
        x = draw_documents(rng, model)
        for name, load in FORMATS.items():
            program.run("export", "--model", "m.json", "--to", name, "--out", "t.json")
            loaded = load(program.folder / "t.json")
            as_type = np.float32 if name == "xgboost" else np.float64
            got = treelite.gtil.predict(loaded, x.astype(as_type)).reshape(-1)
            same(got, program.score("m.json", x), 3e-6, f"model {k}, {name}")
    return f"{models} models"


CHECKS = [treelite_reads]
