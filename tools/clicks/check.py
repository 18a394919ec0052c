"""Compares click models with PyClick and CLAX on the same pages.

    git clone https://github.com/markovi/PyClick
    python tools/clicks/check.py --listwise ./listwise --pyclick PyClick --train train.jsonl.gz --test test.jsonl.gz

Pages are JSON lines as "listwise clicks" reads them; all must have ten documents, since PyClick's measures
assume that. Eight models must have PyClick's measures on the test pages: perplexity, conditional perplexity and
log-likelihood, after the same number of iterations with the prior laplace. The conditional measures of the cascade
model are not compared: PyClick gives a skip below the first click the probability of a click. PyClick's DBN and CCM
are not exact expectation maximization, so only this is checked: their log-likelihood on the training pages is not
higher. These two use the first --chain-pages pages, because PyClick is slow.

The last lines are times of PBM: PyClick's per iteration, times 50, and the whole command.

--clax also fits PBM, UBM, DBN and CCM with the package clax-models, and compares perplexities on the test pages.
"""

import argparse
import gzip
import json
import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

TOLERANCE = 1e-9


def pages(path, most=None):
    with gzip.open(path, "rt") as f:
        lines = [json.loads(line) for line, _ in zip(f, range(most or sys.maxsize))]
    for page in lines:
        if len(page["docs"]) != 10:
            raise SystemExit(f"{path}: found a page of {len(page['docs'])} documents, expected 10")
    return lines


def listwise(binary, args):
    """Returns the JSON of listwise clicks fit and the processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([binary, "clicks", "fit", "--prior", "laplace", "--format", "json", "--quiet", *args], check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(out.stdout), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measures(model):
    by_name = {m["measure"]: m["value"] for m in model["measures"]}
    return [by_name["perplexity"], by_name["conditional perplexity"], by_name["log-likelihood"]]


class PyClick:
    def __init__(self, folder):
        sys.path.insert(0, str(folder))
        from pyclick.click_models import Evaluation, Inference
        from pyclick.click_models.CCM import CCM
        from pyclick.click_models.CM import CM
        from pyclick.click_models.CTR import DCTR, GCTR, RCTR
        from pyclick.click_models.DBN import DBN
        from pyclick.click_models.DCM import DCM
        from pyclick.click_models.PBM import PBM
        from pyclick.click_models.SDBN import SDBN
        from pyclick.click_models.UBM import UBM
        from pyclick.search_session.SearchResult import SearchResult
        from pyclick.search_session.SearchSession import SearchSession

        self.evaluation, self.inference = Evaluation, Inference
        self.session, self.result = SearchSession, SearchResult
        self.models = {"gctr": GCTR, "rctr": RCTR, "dctr": DCTR, "pbm": PBM, "cm": CM, "ubm": UBM, "dcm": DCM, "sdbn": SDBN, "dbn": DBN, "ccm": CCM}

    def sessions(self, lines):
        out = []
        for page in lines:
            s = self.session(page["query"])
            s.web_results = [self.result(d, int(c > 0)) for d, c in zip(page["docs"], page["clicks"])]
            out.append(s)
        return out

    def fit(self, name, sessions, iterations):
        """Returns the model and the processor time."""
        model = self.models[name]()
        if name in ("pbm", "ubm", "dbn", "ccm"):
            model._inference = self.inference.EMInference(iterations)
        start = time.process_time()
        model.train(sessions)
        return model, time.process_time() - start

    def measures(self, model, sessions):
        e = self.evaluation
        return [e.Perplexity().evaluate(model, sessions)[0], e.PerplexityCond().evaluate(model, sessions)[0], e.LogLikelihood().evaluate(model, sessions)]


def parity(o, pyclick, train, test):
    """Returns the number of models that differ, and PyClick's time of an iteration of PBM."""
    failed = 0
    sessions, held = pyclick.sessions(train), pyclick.sessions(test)
    for name in ("gctr", "rctr", "dctr", "pbm", "cm", "ubm", "dcm", "sdbn"):
        ours = measures(listwise(o.listwise, ["--model", name, "--iterations", str(o.iterations), "--resamples", "0", "--valid", o.test, o.train])[0]["models"][0])
        model, seconds = pyclick.fit(name, sessions, o.iterations)
        theirs = pyclick.measures(model, held)
        if name == "cm":
            ours, theirs = ours[:1], theirs[:1]
        if name == "pbm":
            iteration = seconds / o.iterations
        worst = max(abs(a - b) for a, b in zip(ours, theirs))
        failed += worst > TOLERANCE
        print(f"{name:5s} perplexity {ours[0]:.6f}, PyClick {theirs[0]:.6f}; largest difference of all measures {worst:.1e}", flush=True)
    return failed, iteration


def likelihoods(o, pyclick, train):
    """Returns the number of models whose likelihood PyClick exceeds."""
    failed = 0
    sessions = pyclick.sessions(train)
    with tempfile.TemporaryDirectory() as d:
        path = str(Path(d) / "pages.jsonl")
        Path(path).write_text("".join(json.dumps(page) + "\n" for page in train))
        for name in ("dbn", "ccm"):
            ours = measures(listwise(o.listwise, ["--model", name, "--iterations", str(o.chain_iterations), "--resamples", "0", "--valid", path, path])[0]["models"][0])[2]
            theirs = pyclick.evaluation.LogLikelihood().evaluate(pyclick.fit(name, sessions, o.chain_iterations)[0], sessions)
            failed += not ours >= theirs
            print(f"{name:5s} log-likelihood of {len(train)} training pages {ours:.6f}, PyClick {theirs:.6f}", flush=True)
    return failed


def clax(o, train, test):
    """Returns the number of models whose perplexity differs from CLAX's by more than 0.002."""
    import jax.numpy as jnp
    import numpy as np
    import optax
    from clax import ClickChainModel, DynamicBayesianNetwork, PositionBasedModel, Trainer, UserBrowsingModel
    from flax import nnx
    from torch.utils.data import DataLoader, Dataset

    pairs = {}
    for page in train:
        for doc in page["docs"]:
            pairs.setdefault((page["query"], doc), len(pairs) + 1)

    def arrays(lines):
        # a pair that the training pages do not have is 0
        ids = np.array([[pairs.get((p["query"], d), 0) for d in p["docs"]] for p in lines])
        clicks = np.array([[float(c > 0) for c in p["clicks"]] for p in lines], dtype=np.float32)
        positions = np.tile(np.arange(1, 11), (len(lines), 1))
        return {"query_doc_ids": ids, "clicks": clicks, "positions": positions, "mask": np.ones_like(ids, dtype=bool)}

    class Pages(Dataset):
        def __init__(self, data):
            self.data = data

        def __len__(self):
            return len(self.data["clicks"])

        def __getitem__(self, i):
            return {k: v[i] for k, v in self.data.items()}

    def collate(batch):
        return {k: np.stack([b[k] for b in batch]) for k in batch[0]}

    cut = len(train) * 9 // 10
    order = np.random.default_rng(1).permutation(len(train))
    shuffled = [train[i] for i in order]
    load = lambda lines, shuffle: DataLoader(Pages(arrays(lines)), batch_size=512, shuffle=shuffle, collate_fn=collate)
    # positions count from 1, and PBM has a parameter for 0
    names = {"pbm": partial(PositionBasedModel, positions=11), "ubm": partial(UserBrowsingModel, positions=10), "dbn": DynamicBayesianNetwork, "ccm": ClickChainModel}
    ours = listwise(o.listwise, ["--model", ",".join(names), "--resamples", "0", "--valid", o.test, o.train])[0]["models"]
    failed = 0
    for model, own in zip(names.items(), ours):
        fitted = model[1](query_doc_pairs=len(pairs) + 1, rngs=nnx.Rngs(1))
        trainer = Trainer(optimizer=optax.adamw(0.003), epochs=100)
        start = time.process_time()
        trainer.train(fitted, load(shuffled[:cut], True), load(shuffled[cut:], False))
        seconds = time.process_time() - start
        batch = {k: jnp.asarray(v) for k, v in arrays(test).items()}
        p = np.clip(np.exp(np.asarray(fitted.predict_clicks(batch), dtype=float)), 1e-6, 1 - 1e-6)
        c = np.asarray(batch["clicks"])
        theirs = float(np.mean(2 ** -np.mean(np.where(c > 0, np.log2(p), np.log2(1 - p)), axis=0)))
        ours_here = measures(own)[0]
        failed += not ours_here <= theirs + 0.002
        print(f"{model[0]:5s} perplexity {ours_here:.6f}, CLAX {theirs:.6f} after {seconds:.0f} s", flush=True)
    return failed


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--listwise", required=True, help="the program")
    p.add_argument("--pyclick", type=Path, help="folder with the package pyclick")
    p.add_argument("--train", required=True, help="training pages, gzip")
    p.add_argument("--test", required=True, help="test pages, gzip")
    p.add_argument("--iterations", type=int, default=3, help="iterations of PBM and UBM (default: 3)")
    p.add_argument("--chain-iterations", type=int, default=20, help="iterations of DBN and CCM (default: 20)")
    p.add_argument("--chain-pages", type=int, default=300, help="pages of DBN and CCM (default: 300)")
    p.add_argument("--clax", action="store_true", help="also compare with clax-models")
    o = p.parse_args()
    train, test = pages(o.train), pages(o.test)
    failed = 0
    if o.pyclick:
        pyclick = PyClick(o.pyclick)
        failed, iteration = parity(o, pyclick, train, test)
        failed += likelihoods(o, pyclick, train[: o.chain_pages])
        seconds = min(listwise(o.listwise, ["--model", "pbm", o.train])[1] for _ in range(5))
        print(f"PBM, {len(train)} pages, 50 iterations: listwise {seconds:.3f} s; PyClick {iteration:.2f} s an iteration, {50 * iteration:.0f} s for 50: {50 * iteration / seconds:.0f} times")
        everything = min(listwise(o.listwise, ["--model", "all", o.train])[1] for _ in range(5))
        print(f"all ten models, {len(train)} pages: listwise {everything:.3f} s of processor time")
    if o.clax:
        failed += clax(o, train, test)
    if failed:
        sys.exit(f"{failed} comparisons failed")


if __name__ == "__main__":
    main()
