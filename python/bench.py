"""Prints what the Python package costs beside the command line, on one machine in one run.

    python bench.py latency                     calls: predict of 100 × 136, the binary, a fork
    python bench.py fit FILE.lwd                fit of a matrix in memory beside "listwise train" of the file:
        [--method lambdamart --scorer net --set trees=20]    a method, its scorer and hyperparameters

FILE.lwd is made by "listwise data synth" and "listwise data convert", or any data set of one's own.
LISTWISE names the program.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import listwise

PROGRAM = os.environ.get("LISTWISE", "listwise")


def median(call, times):
    call()
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def latency():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 136)).astype(np.float32)
    y = (X[:, 0] + rng.normal(size=4000) > 1).astype(float) + (X[:, 1] > 1)
    qid = np.repeat(np.arange(40), 100)
    query = np.ascontiguousarray(X[:100])
    rankers = {
        "linear": listwise.Ranker("convexloss", C=1).fit(X, y, qid=qid),
        "network of 20": listwise.Ranker("lambdarank", scorer="net", hidden=20, epochs=2).fit(X, y, qid=qid),
        "100 trees": listwise.Ranker("lambdamart", trees=100).fit(X, y, qid=qid),
        "300 trees": listwise.Ranker("lambdamart", trees=300).fit(X, y, qid=qid),
    }
    print("predict of 100 documents × 136 features, median of 3000 calls, µs")
    for name, ranker in rankers.items():
        print(f"  {name:15} {1e6 * median(lambda r=ranker: r.predict(query), 3000):8.1f}")
    with tempfile.TemporaryDirectory() as folder:
        model, data = Path(folder) / "m.json", Path(folder) / "d.txt"
        rankers["linear"].save(model)
        data.write_text("".join("0 qid:1 " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row)) + "\n" for row in query.tolist()))
        command = [PROGRAM, "score", "--model", model, "--data", data]
        taken = median(lambda: subprocess.run(command, capture_output=True, check=True), 20)
        print(f"the program, linear, from files: {1e6 * taken:.0f} µs")
    print(f"first call in a forked child (a second copy of the library): {1e3 * statistics.median(forked(rankers['linear'], query) for _ in range(20)):.0f} ms")


def forked(ranker, query):
    read, write = os.pipe()
    begin = time.perf_counter()
    child = os.fork()
    if child == 0:
        ranker.predict(query)
        os.write(write, b"x")
        os._exit(0)
    os.read(read, 1)
    taken = time.perf_counter() - begin
    os.waitpid(child, 0)
    os.close(read)
    os.close(write)
    return taken


# Trains in a process of its own, so that peak memory is that of the training.
TRAIN = """
import re, sys, time
import numpy as np, listwise

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read()).group(1))

folder, method, scorer, settings = sys.argv[1], sys.argv[2], sys.argv[3], dict(s.split("=") for s in sys.argv[4:])
X, y, qid = (np.load(f"{folder}/{name}.npy") for name in ("X", "y", "qid"))
ranker = listwise.Ranker(method, scorer=scorer or None, **settings)  # imports scikit-learn, where that is installed
listwise.set_threads(listwise.set_threads(1))  # loads the library
before, begin, worked = peak(), time.perf_counter(), time.process_time()
ranker.fit(X, y, qid=qid)
print(time.perf_counter() - begin, time.process_time() - worked, before, peak())
ranker.save(f"{folder}/python.json")
"""


def fit(path, method, scorer, settings, repeats):
    with tempfile.TemporaryDirectory() as folder:
        data = listwise.read(path)
        np.save(f"{folder}/X.npy", data.X)
        np.save(f"{folder}/y.npy", data.y)
        np.save(f"{folder}/qid.npy", data.qid.astype(str))
        shape, size = data.X.shape, data.X.nbytes
        del data
        ours, theirs, memory, worked, theirs_worked = [], [], [], [], []
        for _ in range(repeats):
            out = subprocess.run([sys.executable, "-c", TRAIN, folder, method, scorer, *settings], capture_output=True, text=True, check=True).stdout.split()
            ours.append(float(out[0]))
            worked.append(float(out[1]))
            memory.append((int(out[3]) - int(out[2])) * 1024)
            begin = time.perf_counter()
            command = [PROGRAM, "train", "-q", "--no-record", "--method", method, *(["--scorer", scorer] if scorer else []), *(word for s in settings for word in ("--set", s)), "--train", path, "--model", f"{folder}/program.json"]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            assert process.returncode == 0
            theirs.append(time.perf_counter() - begin)
            theirs_worked.append(used.ru_utime + used.ru_stime)
        same = Path(f"{folder}/python.json").read_bytes() == Path(f"{folder}/program.json").read_bytes()
    print(f"{shape[0]:,} × {shape[1]}, {' '.join(filter(None, [method, scorer, *settings]))}, medians of {repeats}: time, and that of all cores together")
    for name, time_taken, cores in (("fit in Python", ours, worked), ("listwise train", theirs, theirs_worked)):
        print(f"  {name:15} {statistics.median(time_taken):7.2f} s {statistics.median(cores):7.2f} s")
    print(f"  {'ratio':15} {ratio(ours, theirs):7.2f}   {ratio(worked, theirs_worked):7.2f}")
    print(f"  the matrix {size / 1e6:.0f} MB, fit at its peak {statistics.median(memory) / 1e6:.0f} MB beside it")
    print(f"  same model           {same}")


def ratio(ours, theirs):
    return statistics.median(a / b for a, b in zip(ours, theirs, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("latency")
    of_fit = commands.add_parser("fit")
    of_fit.add_argument("file")
    of_fit.add_argument("--method", default="lambdamart")
    of_fit.add_argument("--scorer", default="", help="the method's own if not given")
    of_fit.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    of_fit.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.command == "latency":
        latency()
    else:
        fit(arguments.file, arguments.method, arguments.scorer, arguments.set, arguments.repeats)


if __name__ == "__main__":
    main()
