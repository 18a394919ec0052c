"""Forks, other processes, threads and signals."""

import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time

import numpy as np
import pytest
from conftest import judged

import listwise

DATA = judged()


def train(seed=1):
    X, y, qid = DATA
    return listwise.Ranker("lambdamart", trees=3, seed=seed).fit(X, y, qid=qid)


def train_file(seed):
    return train(seed).model_.file


def in_child(work, seconds=60):
    """Runs work in a forked child and returns whether it returned true, within the time."""
    child = os.fork()
    if child == 0:
        code = 2
        try:
            code = 0 if work() else 1
        finally:
            os._exit(code)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return status == 0
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError("the child hangs")


pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


@pytest.mark.parametrize("forks", [int(os.environ.get("LISTWISE_FORKS", "20"))])
def test_forks_with_training_in_both(forks):
    ranker = train()
    X, _, qid = DATA
    want, scores = ranker.model_.file, ranker.predict(X, qid=qid)

    def work(depth):
        same = train().model_.file == want and np.array_equal(ranker.predict(X, qid=qid), scores)
        return same and (depth == 0 or in_child(lambda: work(depth - 1)))

    for i in range(forks):
        assert in_child(lambda depth=i % 3: work(depth))
        assert train().model_.file == want


def test_fork_during_a_training_of_another_thread():
    X, y, qid = judged(queries=200, documents=20)
    want = train().model_.file
    done = []
    thread = threading.Thread(target=lambda: done.append(listwise.Ranker("lambdamart", trees=60).fit(X, y, qid=qid)))
    thread.start()
    for _ in range(5):
        assert in_child(lambda: train().model_.file == want)
    thread.join()
    assert done[0].model_.file == listwise.Ranker("lambdamart", trees=60).fit(X, y, qid=qid).model_.file


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_multiprocessing(start):
    want = train(5).model_.file
    with multiprocessing.get_context(start).Pool(2) as pool:
        assert pool.map(train_file, [5, 5, 5], chunksize=1) == [want] * 3


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_joblib(backend):
    joblib = pytest.importorskip("joblib")
    want = train(7).model_.file
    assert joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(train_file)(7) for _ in range(4)) == [want] * 4


def test_prefork_server():
    """As gunicorn does: a model is loaded, workers are forked, each scores and ends by a signal."""
    ranker = train()
    X, _, qid = DATA
    want = ranker.predict(X, qid=qid)
    workers = []
    for _ in range(4):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                signal.signal(signal.SIGTERM, lambda *_: os._exit(17))
                same = np.array_equal(ranker.predict(X, qid=qid), want)
                os.write(write, b"y" if same else b"n")
                while True:
                    time.sleep(1)
            finally:
                os._exit(3)
        os.close(write)
        workers.append((child, read))
    for child, read in workers:
        assert os.read(read, 1) == b"y"
        os.close(read)
        os.kill(child, signal.SIGTERM)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17


def script(text, *arguments, **options):
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(text), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def test_interrupt_ends_a_training_soon_and_leaves_the_library_usable():
    process = script("""
        import sys, time
        sys.path.insert(0, sys.argv[1])
        from conftest import judged
        import listwise
        X, y, qid = judged(queries=400, documents=30, features=30)
        started = []
        def tell(progress):
            if not started:
                started.append(1)
                print("training", flush=True)
        try:
            listwise.Ranker("lambdamart", trees=100000).fit(X, y, qid=qid, callback=tell)
        except KeyboardInterrupt:
            begin = time.monotonic()
            r = listwise.Ranker("mle").fit(X[:300], y[:300], qid=qid[:300])
            print("interrupted", len(r.predict(X[:30])), flush=True)
        """, os.path.dirname(__file__))
    assert process.stdout.readline() == "training\n"
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out == "interrupted 30\n", err
    assert time.monotonic() - begin < 5


def test_an_exception_of_the_callback_ends_the_training():
    X, y, qid = DATA

    def stop(progress):
        raise RuntimeError(f"enough at {progress['number']}")

    with pytest.raises(RuntimeError, match="enough at"):
        listwise.Ranker("lambdamart", trees=100000).fit(X, y, qid=qid, callback=stop)
    assert train().model_.file == train().model_.file


def test_other_signals_are_pythons():
    process = script("""
        import os, signal, sys, threading
        import listwise, numpy as np
        listwise.evaluate([1, 0], [2, 1])
        caught = []
        signal.signal(signal.SIGALRM, lambda *_: caught.append(1))
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        signal.pause()
        signal.signal(signal.SIGTERM, lambda *_: caught.append(2))
        os.kill(os.getpid(), signal.SIGTERM)
        read, write = os.pipe()
        os.close(read)
        try:
            os.write(write, b"x")
        except BrokenPipeError:
            caught.append(3)
        print(caught)
        """)
    out, err = process.communicate(timeout=60)
    assert out == "[1, 2, 3]\n", err
    assert process.returncode == 0


def test_threads_share_a_ranker():
    ranker = train()
    X, _, qid = DATA
    want = ranker.predict(X, qid=qid)
    wrong = []

    def work():
        for _ in range(50):
            if not np.array_equal(ranker.predict(X, qid=qid), want):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_number_of_threads_changes_nothing():
    before = listwise.set_threads(1)
    try:
        one = train().model_.file
        assert listwise.set_threads(2) == 1
        assert train().model_.file == one
    finally:
        listwise.set_threads(before)


def test_omp_num_threads_is_heeded():
    process = script("import listwise; print(listwise.set_threads(2))", env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert process.communicate(timeout=60)[0] == "1\n"


def test_set_threads_returns_the_number_before_also_when_it_loads_the_library():
    process = script("import listwise; print(listwise.set_threads(1), listwise.set_threads(3), listwise.set_threads(1))", env={**os.environ, "OMP_NUM_THREADS": "2"})
    assert process.communicate(timeout=60)[0] == "2 1 3\n"


@pytest.mark.parametrize("value", ["20000", "99999999999999999999999", "9" * 5000, "²", "-3", "x", "0", ""])
def test_absurd_numbers_of_threads_in_the_environment_are_bounded(value):
    process = script("import listwise; print(listwise.set_threads(1))", env={**os.environ, "LISTWISE_NUM_THREADS": value, "OMP_NUM_THREADS": ""})
    out, err = process.communicate(timeout=60)
    assert 1 <= int(out) <= 4 * os.cpu_count(), err


def test_absurd_numbers_of_threads_are_bounded():
    before = listwise.set_threads(20000)
    try:
        assert listwise.set_threads(1) == 4 * os.cpu_count()
    finally:
        listwise.set_threads(before)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_no_leak():
    times = int(os.environ.get("LISTWISE_LEAK", "1000"))
    X, y, qid = judged(queries=20, documents=20, features=20)

    def once(i):
        ranker = listwise.Ranker("regression", seed=i).fit(X, y, qid=qid)
        ranker.predict(X, qid=qid)
        ranker.predict(X[:20])
        with pytest.raises(listwise.Error):
            ranker.predict(X[:, :5])

    for i in range(times // 3):
        once(i)
    before = resident()
    for i in range(times):
        once(i)
    assert resident() - before < 8e6


def opened():
    """Descriptors, maps of files, and temporary files of this process."""
    with open("/proc/self/maps") as file:
        maps = [line for line in file if (".lwd" in line or "listwise-" in line) and ".so" not in line]
    return len(os.listdir("/proc/self/fd")), maps, [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("listwise-")]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("name", ["compare", "report", "tune", "AutoRanker", "evaluate_run", "read"])
def test_commands_close_what_they_open(name, tmp_path, monkeypatch):
    """LISTWISE_CALLS says how many calls of each; they have 256 descriptors."""
    calls = int(os.environ.get("LISTWISE_CALLS", "8"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    X, y, qid = judged(queries=20, documents=50, features=20)
    systems = {"a": X[:, 0], "b": -X[:, 1], "model": listwise.Ranker("regression").fit(X, y, qid=qid)}
    run = {str(q): {str(d): float(d) for d in range(50)} for q in range(20)}
    listwise.fuse([X[:, 0], X[:, 1]], qid=qid)
    (tmp_path / "d.txt").write_text("1 qid:1 1:1\n0 qid:1 1:2\n")

    call = {
        "compare": lambda: listwise.compare(systems, y, X=X, qid=qid, permutations=99, resamples=99),
        "report": lambda: listwise.report(systems, y, X=X, qid=qid),
        "tune": lambda: listwise.tune("regression", X, y, qid=qid, grid={"C": [0.1, 1]}, folds=2, jobs=1),
        "AutoRanker": lambda: listwise.AutoRanker(trials=1, folds=2).fit(X[:250], y[:250], qid=qid[:250]),
        "evaluate_run": lambda: listwise.evaluate_run(run, {q: {d: 1 for d in list(ds)[:3]} for q, ds in run.items()}),
        "read": lambda: listwise.read(tmp_path / "d.txt"),
    }[name]
    for _ in range(3):
        call()
    before, memory = opened(), resident()
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    try:
        for _ in range(calls):
            call()
            with pytest.raises(listwise.Error):  # errors close as much
                listwise.compare(systems, y, X=X, qid=qid, measure="none")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert opened() == before and not before[1] and not before[2]
    assert resident() - memory < 40e6


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_interrupted_commands_close_what_they_open(tmp_path, monkeypatch):
    """An exception of a signal, at any time of a command."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    X, y, qid = judged(queries=60, documents=30, features=10)

    def stop(*_):
        raise RuntimeError("stop")

    def interrupted(delay):
        signal.setitimer(signal.ITIMER_REAL, delay)
        try:
            listwise.tune("lambdamart", X, y, qid=qid, grid={"trees": [20000]}, folds=2)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    handler = signal.signal(signal.SIGALRM, stop)
    try:
        with pytest.raises(RuntimeError):
            interrupted(0.2)
        before = opened()
        for delay in (0.05, 0.1, 0.15, 0.2, 0.3, 0.5):
            with pytest.raises(RuntimeError):
                interrupted(delay)
    finally:
        signal.signal(signal.SIGALRM, handler)
    for _ in range(100):
        listwise._jobs._reap()
        if not listwise._jobs._lingering:
            break
        time.sleep(0.1)
    assert opened() == before and not before[1] and not before[2]


def test_the_line_of_progress_ends(capsys):
    """verbose leaves a whole line behind, also where an exception ends the training, and none if there
    was no progress."""
    X, y, qid = DATA

    def stop(_):
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        listwise.Ranker("lambdamart", trees=1_000_000, verbose=1).fit(X, y, qid=qid, callback=stop)
    assert capsys.readouterr().err.endswith("\n")
    with pytest.raises(listwise.Error):
        listwise.Ranker("lambdamart", verbose=1).fit(X, y * np.nan, qid=qid)
    assert capsys.readouterr().err == ""


def test_threads_give_up_trainings_side_by_side():
    """Trainings that are ended in several threads at once are forgotten once each."""
    X, y, qid = DATA
    wrong = []

    def work():
        def stop(_):
            raise RuntimeError("stop")

        for _ in range(5):
            try:
                listwise.Ranker("lambdamart", trees=1_000_000).fit(X, y, qid=qid, callback=stop)
            except RuntimeError:
                continue
            except BaseException as error:
                wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    listwise._jobs._reap()
    assert not wrong and not listwise._jobs._lingering
