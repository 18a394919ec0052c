#!/usr/bin/env python3
"""Measures the program on data that are larger than its memory.

The script makes a cache by the program and runs the program's commands in a memory control group. For each
command it prints the time, the processor time, the peak of anonymous memory, and the bytes read from and
written to the disk. It also prints how many times the input was read, and two ratios of the command's time. They
compare with the time that this disk, measured just before and after, takes to read as many bytes, and to read and
write as many. The script compares the models, byte for byte, with models of the same commands in memory, outside
of the group and with the files in the system's cache. The last ratio is between the times of these two runs.
A command that needs all features at once must be refused immediately, without a note.

    tools/scale/bounded.py --listwise ./listwise --dir /var/tmp/bounded [--small | --medium]

The data have 6 GB and the group 1.5 GB. With --small they have 600 MB and 640 MiB, and with --medium 1.6 GB and
768 MiB. The exit code is 1 if a command fails, a model differs or more memory is used. The script needs root and
control groups of version 1 or 2. Without them it says so and its exit code is 0. Python 3.9 or later, no packages.
"""
import argparse
import hashlib
import os
import shutil
import statistics
import sys
import time

FEATURES, DOCS = 136, 120
patience = 1500  # seconds for a command


class Group:
    """A memory control group."""

    def __init__(self, limit):
        v1 = "/sys/fs/cgroup/memory"
        self.v1 = os.path.isdir(v1)
        self.path = os.path.join(v1 if self.v1 else "/sys/fs/cgroup", "listwise-bounded-%d" % os.getpid())
        os.mkdir(self.path)
        self.write("memory.limit_in_bytes" if self.v1 else "memory.max", limit)
        if not self.v1 and os.path.exists(os.path.join(self.path, "memory.swap.max")):
            self.write("memory.swap.max", 0)

    def write(self, name, value):
        with open(os.path.join(self.path, name), "w") as f:
            f.write(str(value))

    def anon(self):
        name = "total_rss " if self.v1 else "anon "
        with open(os.path.join(self.path, "memory.stat")) as f:
            for line in f:
                if line.startswith(name):
                    return int(line.split()[1])
        return 0

    def remove(self):
        for _ in range(50):
            try:
                return os.rmdir(self.path)
            except OSError:
                time.sleep(0.1)


def uncached(path):
    """Drops a file from the system's cache."""
    fd = os.open(path, os.O_RDONLY)
    os.fdatasync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def run(args, group=None, stdin=None, stdout=os.devnull):
    """Runs a command and returns (exit code, seconds, processor seconds, anon bytes, bytes read and written, standard error)."""
    errors = os.path.join(work, "errors")
    begin = time.time()
    pid = os.fork()
    if pid == 0:
        if group:
            group.write("cgroup.procs", os.getpid())
        os.dup2(os.open(stdin or os.devnull, os.O_RDONLY), 0)
        os.dup2(os.open(stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), 1)
        os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), 2)
        os.execvp(args[0], args)
    anon, ended = 0, 0
    while not ended:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        if group:
            anon = max(anon, group.anon())
        if group and not ended and time.time() - begin > patience:
            os.kill(pid, 9)
        time.sleep(0.01)
    with open(errors, errors="replace") as f:
        said = f.read()
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
    return code, time.time() - begin, usage.ru_utime + usage.ru_stime, anon, 512 * usage.ru_inblock, 512 * usage.ru_oublock, said


def disk_speed(path):
    """Bytes a second of three times reading a file in order, around the cache where that is possible."""
    import mmap
    speeds = []
    for _ in range(3):
        uncached(path)
        try:
            fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
        except OSError:
            fd = os.open(path, os.O_RDONLY)
        buffer, total, begin = mmap.mmap(-1, 4 << 20), 0, time.time()
        while total < 2 << 30:
            n = os.readv(fd, [buffer])
            total += n
            if n < len(buffer):
                break
        speeds.append(total / (time.time() - begin))
        os.close(fd)
    return speeds


def cached(path):
    """Brings a file into the system's cache."""
    with open(path, "rb", buffering=0) as f:
        while f.read(1 << 20):
            pass


def digest(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            h.update(block)
    return h.hexdigest()


def main():
    global work
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--listwise", required=True, help="the program")
    p.add_argument("--dir", required=True, help="folder for the data, made and removed")
    p.add_argument("--small", action="store_true", help="600 MB in 640 MiB")
    p.add_argument("--medium", action="store_true", help="1.6 GB in 768 MiB")
    p.add_argument("--only", default="", help="names of commands, separated by ;")
    p.add_argument("--keep", action="store_true", help="leave the data there, and use what is there")
    o = p.parse_args()
    global patience
    if o.small:
        patience = 300
    limit, queries = (640 << 20, 9200) if o.small else (768 << 20, 23000) if o.medium else (3072 << 20, 92000)
    try:
        group = Group(limit)
    except OSError as e:
        print("no control group can be made (%s): nothing was measured" % e)
        return 0
    work = o.dir
    os.makedirs(work, exist_ok=True)
    os.environ["TMPDIR"] = work
    try:
        return measure(o, group, limit, queries)
    finally:
        group.remove()
        if not o.keep:
            shutil.rmtree(work)


def measure(o, group, limit, queries):
    lw, data = o.listwise, os.path.join(work, "train.lwd")
    valid = os.path.join(work, "valid.lwd")
    synth = [lw, "data", "synth", "--shape", "ohsumed", "--docs", str(DOCS), "--features", str(FEATURES)]
    for path, n, seed in ((data, queries, "1"), (valid, queries // 20, "2")):
        if not os.path.exists(path) and run(synth + ["--queries", str(n), "--seed", seed, "--out", path])[0]:
            raise SystemExit("the data could not be made")
    matrix = os.path.getsize(data)
    print("features of %.2f GB in a control group of %.0f MB, %d cores\n" % (matrix / 1e9, limit / 1e6, os.cpu_count()))
    print("| command | s | processor s | memory, MB | read, GB | × input | written, GB | disk, GB/s | s ÷ s of reading | s ÷ s of both | s ÷ s in memory | result |\n|---|---|---|---|---|---|---|---|---|---|---|---|")
    wrong = []

    def show(name, wall, cpu, anon, read, share, written, speeds, against, same):
        speed = statistics.median(speeds)
        of = [wall / max(n / speed, 1e-9) for n in (read, read + written)]
        print("| %s | %.2f | %.1f | %.0f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %s | %s |" % (name, wall, cpu, anon / 1e6, read / 1e9, share, written / 1e9, speed / 1e9, *of, against, same), flush=True)

    def refused(name, args):
        """What takes all features at once says so before it reads them."""
        if o.only and name not in o.only.split(";"):
            return
        uncached(data)
        code, wall, _, _, read, _, said = run(args, group)
        if code != 2 or "the data do not fit into memory" not in said and "learn what is learned from disk" not in said or read > os.path.getsize(data) / 4:
            wrong.append(name)
            print("%s: exit %d, %.1f MB read, %.2f s: %s" % (name, code, read / 1e6, wall, said.strip()[-200:]), flush=True)

    def row(name, args, inputs, stdin=None, stdout=os.devnull, model=None, again=None, made=None):
        if o.only and name not in o.only.split(";"):
            return
        speeds = disk_speed(data)
        for path in inputs:
            uncached(path)
        code, wall, cpu, anon, read, written, said = run(args, group, stdin, stdout)
        speeds += disk_speed(data)
        same, against = "", ""
        if code:
            same = "exit %d: %s" % (code, said.strip().splitlines()[-1] if said.strip() else "")
        elif made:
            same = "the same data" if digest(made) == digest(data) else "ANOTHER"
        elif again:
            mine = digest(model)
            for path in inputs:
                cached(path)
            ended = run(again)
            against = "%.2f" % (wall / ended[1])
            same = "the same" if ended[0] == 0 and digest(model) == mine else "ANOTHER"
        if code or same == "ANOTHER" or anon > limit:
            wrong.append(name)
        show(name, wall, cpu, anon, read, read / sum(map(os.path.getsize, inputs)), written, speeds, against, same)

    row("data info", [lw, "-q", "data", "info", data], [data])
    trainings = [
        ("mle", ["mle", "--set", "iterations=5"]),
        ("mle, z-scores", ["mle", "--set", "iterations=5", "--normalize", "zscore"]),
        ("convexloss", ["convexloss", "--measure", "auc", "--set", "form=factored", "--set", "iterations=5"]),
        ("listnet", ["listnet", "--set", "iterations=5"]),
        ("lambdarank", ["lambdarank", "--set", "epochs=1"]),
        ("lambdarank, z-scores", ["lambdarank", "--set", "epochs=1", "--normalize", "zscore"]),
        ("lambdarank, network", ["lambdarank", "--scorer", "net", "--set", "epochs=1"]),
        ("ranksvm", ["ranksvm", "--set", "iterations=3"]),
        ("regression", ["regression"]),
        ("lambdamart", ["lambdamart", "--set", "trees=%d" % (2 if o.small else 5)]),
        ("mcrank on trees", ["mcrank", "--scorer", "trees", "--set", "trees=%d" % (1 if o.small else 3)]),
        ("singlefeature", ["singlefeature"]),
        ("random", ["random"]),
    ]
    train = [lw, "-q", "train", "--no-record", "--train", data, "--model", os.path.join(work, "refused.json"), "--method"]
    for method in ("rankboost", "adarank", "frank", "coordascent", "prank"):
        refused(method, train + [method])
    for what in ("splits=exact", "boosting=dart", "boosting=forest"):
        refused(what, train + ["lambdamart", "--set", what])
    for name, method in trainings:
        model = os.path.join(work, name.replace(",", "").replace(" ", "-") + ".json")
        args = [lw, "-q", "train", "--no-record", "--train", data, "--valid", valid, "--model", model, "--method"] + method
        row(name, args, [data, valid], model=model, again=args + ["--max-memory", "40"])
    model = os.path.join(work, "mle.json")
    if os.path.exists(model):
        scores = os.path.join(work, "scores")
        row("score", [lw, "-q", "score", "--model", model, "--data", data, "--out", scores], [data])
        if not o.only or "score from a pipe of text" in o.only.split(";"):
            pipe = "%s -q data convert %s --out - | %s -q score --model %s --data - --out %s" % (lw, data, lw, model, scores)
            row("score from a pipe of text", ["sh", "-c", pipe], [data], model=scores, again=[lw, "-q", "score", "--model", model, "--data", data, "--out", scores])
        row("eval", [lw, "-q", "eval", "--no-record", "--data", data, "--model", model], [data])
        row("eval of scores", [lw, "-q", "eval", "--no-record", "--data", data, "--scores", scores], [data])
    text, parquet, copy = (os.path.join(work, n) for n in ("train.txt", "train.parquet", "copy.lwd"))
    for name, args, path in (
        ("normalize", ["normalize", "--kind", "zscore"], copy),
        ("convert to Parquet", ["convert"], parquet),
        ("convert to text", ["convert"], text),
    ):
        args = [lw, "-q", "data"] + args + [data, "--out", path]
        row(name, args, [data], model=path, again=args + ["--max-memory", "40"])
        if os.path.exists(path):
            os.remove(path)
    if not o.only or set(o.only.split(";")) & {"convert text", "convert Parquet", "mle of text", "mle of Parquet"}:
        for name, path in (("convert text", text), ("convert Parquet", parquet)):
            if run([lw, "-q", "data", "convert", data, "--out", path])[0]:
                raise SystemExit("the data could not be converted")
            row(name, [lw, "-q", "data", "convert", path, "--out", copy], [path], made=copy)
            if os.path.exists(copy):
                os.remove(copy)
            model = os.path.join(work, "other.json")
            args = [lw, "-q", "train", "--no-record", "--valid", valid, "--method", "mle", "--set", "iterations=5", "--model", model, "--train"]
            row("mle of " + name.removeprefix("convert "), args + [path], [path, valid], model=model, again=args + [data, "--max-memory", "40"])
            os.remove(path)
    if wrong:
        print("\nfailed: " + ", ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
