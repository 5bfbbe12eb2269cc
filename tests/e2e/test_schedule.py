"""How experiments are played: their order, runs without probes, --until, signals, disturbed windows."""

import json
import os
import re
import shutil
import signal
import subprocess

from harness import Skip, test
from test_counts import check_sums
from test_output import validate
from tool import Started, await_true, read_text

SBIN = os.environ["PATH"] + ":/usr/sbin:/sbin"


def start(t, *words):
    path = t.path(f"result-{len(t.cleanups)}.json")
    argv = [t.tool.binary, words[0], "-o", path, *map(str, words[1:])]
    return Started(t.tool, argv, path)


def play(t, *words, limit_s=120):
    return start(t, *words).finish(limit_s)


def played_order(done):
    """[(repeat, label)] in the order of time."""
    runs = sorted(done.runs, key=lambda run: run["start_ns"])
    return [(run["repeat"], run["label"]) for run in runs]


def check_whole(t, done, labels, runs, bare):
    """Each label has its runs with probes and without, numbered alike."""
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    t.equal("schema", validate(done.document), [])
    for label in labels:
        for name, found in (("runs", done.runs), ("bare", done.document["bare"])):
            repeats = [run["repeat"] for run in found if run["label"] == label]
            wanted = list(range(runs if name == "runs" or bare else 0))
            t.equal(f"{name} of {label}", repeats, wanted)


@test
def each_round_has_runs_without_probes(t):
    done = play(t, "startup", "-r", 4, "-w", 1, "--cmd", "nap=sleep 0.02", "floor")
    check_whole(t, done, ("nap", "floor"), 4, True)
    for run in done.document["bare"]:
        t.equal("operations of a start", run["operations"], None)
        if run["label"] == "nap":
            t.check(run["outer_ns"] > 20e6, f"a nap of 20 ms took {run['outer_ns']} ns")
    for run in done.runs:
        # From the opening of the gate to the end that we see: exec and exit lie in between.
        t.check(run["outer_ns"] > run["startup"]["exec_to_exit_ns"],
                f"{run['label']}: outer {run['outer_ns']} within {run['startup']}")


@test
def hash_without_probes_does_operations_too(t):
    done = play(t, "hash", "-r", 2, "--ops", 20000, "--retries", 0, "floor")
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    probed, bare = done.runs, done.document["bare"]
    t.equal("variants", sorted((r["variant"], r["repeat"]) for r in bare),
            sorted((r["variant"], r["repeat"]) for r in probed))
    t.equal("operations", {r["operations"] for r in bare}, {20000})
    for run in probed:
        # The window opens before "go" is said and closes after "done" was read.
        t.check(0 < run["outer_ns"] <= run["window_ns"],
                f"outer {run['outer_ns']}, window {run['window_ns']}")


@test
def no_bare_leaves_them_out(t):
    done = play(t, "startup", "-r", 2, "-w", 0, "--no-bare", "floor")
    check_whole(t, done, ("floor",), 2, False)
    done = play(t, "hash", "--ops", 20000, "--variant", "sync", "--retries", 0, "--no-bare", "floor")
    check_whole(t, done, ("floor",), 1, False)


@test
def nothing_is_attached_while_a_run_is_bare(t):
    """The program that is started lists what is attached to the kernel at that moment."""
    bpftool = shutil.which("bpftool", path=SBIN)
    if not bpftool:
        raise Skip("bpftool is not installed")
    seen = t.path("links")
    command = f"look=sh -c '{bpftool} -j link show >> {seen}; echo >> {seen}'"
    # A start that lasts, to read which programs are this wakewhy's.
    started = start(t, "startup", "-u", "root", "-r", 3, "-w", 1, "--cmd", command,
                    "--cmd", "last=sleep 1")
    ids = set()

    def attached():
        ids.update(started.bpf_ids()["prog"])
        return read_text(seen).count("\n") >= 7

    await_true(attached, "seven starts", 60)
    done = started.finish(60)
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    counts = []
    for line in read_text(seen).splitlines():
        links = json.loads(line) if line.strip() else None
        if links is not None:
            counts.append(sum(link.get("prog_id") in ids and link["type"] != "iter"
                              for link in links))
    t.equal(f"starts with nothing attached ({counts})", counts.count(0), 3)
    t.equal(f"starts with all attached ({counts})",
            sum(n == max(counts) for n in counts), 4)
    t.check(max(counts) > 10, f"probes attached: {counts}")


@test
def figures_are_whole_after_the_probes_were_away(t):
    done = play(t, "startup", "-r", 5, "-w", 0, "--cmd", "nap=sleep 0.01")
    check_whole(t, done, ("nap",), 5, True)
    for run in done.runs:
        check_sums(t, run)
        t.check(run["trust"]["ok"], f"not trusted: {run['trust']['reasons']}")
        t.equal("lost", run.lost(), {})
        naps = [c for c in run["causes"] if c["cause"] == "timeout" and c["mechanism"] == "sleep"]
        t.equal("naps", [c["wakeups"] for c in naps], [1])
        t.equal("calls of clock_nanosleep", run.calls("clock_nanosleep"), 1)


@test
def a_seed_gives_the_same_order_again(t):
    words = ("startup", "-r", 6, "-w", 1, "--cmd", "a=true", "--cmd", "b=true", "--cmd", "c=true")
    first, second = (play(t, *words, "--seed", 11) for _ in range(2))
    other = play(t, *words)
    t.equal("seed", first.document["seed"], 11)
    t.equal("order", played_order(first), played_order(second))
    as_given = [(repeat, label) for repeat in range(6) for label in "abc"]
    t.check(played_order(first) != as_given, "the order was not drawn")
    t.equal("order of the result",
            [(run["repeat"], run["label"]) for run in first.runs], as_given)
    said = re.search(r"seed (\d+): --seed (\d+) repeats\s+it", other.out)
    t.check(said and said[1] == said[2] == str(other.document["seed"]),
            f"the report does not tell the seed {other.document['seed']}: {other.out!r}")
    t.check(other.document["seed"] not in (0, 11), "the seed was not drawn")
    t.equal("order of a seed that was told", played_order(play(t, *words, "--seed", said[1])),
            played_order(other))


@test
def until_goes_on_and_ends(t):
    """Two sleeps are known to a few percent soon; but one round gives no interval at all. Whatever the
    report's verdict is made of, its interval is as narrow as was asked for."""
    for words, bare in ((("--no-bare",), False), ((), True)):
        done = play(t, "startup", "-r", 1, "-w", 0, "--until", "20%", *words,
                    "--cmd", "a=sleep 0.05", "--cmd", "b=sleep 0.05")
        t.equal(f"status ({done.err.strip()})", done.status, 0)
        runs = len(done.runs) // 2
        t.between("rounds", runs, 2, 299)
        check_whole(t, done, ("a", "b"), runs, bare)
        t.equal("remarks", done.document["remarks"], [])
        (found,) = (c for c in done.document["comparisons"] if c["metric"] == "exec_to_exit_ns")
        half = (found["ci_high"] - found["ci_low"]) / 2
        t.check(half <= 0.2001 * found["ratio"], f"the interval is wider than ± 20 %: {found}")


@test
def a_signal_ends_a_schedule_and_the_rest_is_published(t):
    seen = t.path("starts")
    with open(seen, "w", encoding="ascii"):
        os.chmod(seen, 0o666)
    started = start(t, "startup", "-r", 1000, "-w", 0, "--cmd", f"a=echo x >> {seen}",
                    "--cmd", f"b=sh -c 'echo x >> {seen}'")
    await_true(lambda: read_text(seen).count("x") >= 9, "nine starts")
    started.signal(signal.SIGINT)
    done = started.finish(30)
    t.equal(f"status ({done.err.strip()})", done.status, 1)
    t.equal("schema", validate(done.document), [])
    runs = {label: sum(run["label"] == label for run in done.runs) for label in "ab"}
    t.between("runs of both", sum(runs.values()), 2, read_text(seen).count("x"))
    for failure in done.document["failures"]:
        label = failure["label"]
        # A run whose twin without probes is missing is not done.
        t.check(failure["reason"] in [f"interrupted after {runs[label] - less} of 1000 runs"
                                      for less in (0, 1)],
                f"reason of {label} with {runs[label]} runs: {failure['reason']}")
    t.equal("failures", sorted(f["label"] for f in done.document["failures"]), ["a", "b"])
    t.check("interrupted after" in done.out, f"the report does not say so: {done.out!r}")


def hog_on(t, cpu):
    """A shell that spins on that CPU until the test is over."""
    hog = subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"])
    t.cleanup(hog.wait)
    t.cleanup(hog.kill)


@test
def a_disturbed_window_is_measured_again_and_counted(t):
    cpu = max(os.sched_getaffinity(0))
    hog_on(t, cpu)
    done = play(t, "idle", "-d", "2s", "--cpus", cpu, "--retries", 1, "floor")
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    t.equal("schema", validate(done.document), [])
    t.equal("replaced", [run["replaced"] for run in done.runs], [True, False])
    for run in done.runs:
        t.check(run["disturbed"] and "others used" in run["disturbed"],
                f"disturbed: {run['disturbed']}")
        t.equal("repeat", run["repeat"], 0)
    first = done.out.split("\n\n")[0]
    t.check("disturbed: idle of floor" in first, f"the first lines have no doubt: {first!r}")
    t.check(re.search(r"1 window was disturbed \(.*\) and measured\s+again", done.out, re.S),
            f"the report does not count it: {done.out!r}")
    done = play(t, "idle", "-d", "2s", "--cpus", cpu, "--retries", 0, "floor")
    t.equal("runs without retries", [run["replaced"] for run in done.runs], [False])
