"""How long stretches and waits were, and what others did to the window."""

import json

from harness import test
from tool import Run, Subject

MS = 1_000_000


def spans_sum(pairs):
    return sum(count for _low, count in pairs)


def span_limits(pairs):
    """The least and the most that all spans together can have lasted: a bucket ends where the next
    one begins, which is 4/3 or 3/2 of its beginning. The last one has no end."""
    low = sum(count * begin for begin, count in pairs)
    high = sum(count * (begin * 3 / 2 if begin else 384) for begin, count in pairs)
    return low, high


def check_spans(t, run):
    """Every stretch and every wait that the counters hold is in a bucket, and lasted what it says.
    ns of stretches that the window's end has cut are in oncpu_ns and in a bucket; waits that it has
    cut are in runq_ns alone: none is left where all threads have ended."""
    totals, spans = run["totals"], run["spans"]
    switches = totals["switches_voluntary"] + totals["switches_preempted"]
    running = spans_sum(spans["oncpu"]) - switches
    alive = len(run.threads) if run["exit_status"] is None else 0
    t.between("stretches less switches: threads that ran at the end", running, 0, alive)
    t.equal("waits", spans_sum(spans["runq"]), sum(th["runq_waits"] for th in run.threads))
    low, high = span_limits(spans["oncpu"])
    t.between("on-CPU time", totals["oncpu_ns"], low, high)
    if not alive:
        low, high = span_limits(spans["runq"])
        t.between("run-queue wait", totals["runq_ns"], low, high)


@test
def spans_of_a_sleeper_are_short_and_as_many_as_its_switches(t):
    run = t.tool.run(["sleeper", 500, 2000]).run
    check_spans(t, run)
    spans = run["spans"]
    t.between("stretches", spans_sum(spans["oncpu"]), 501, 2000)
    # It computes next to nothing after each sleep; whatever interrupts it does not last so long.
    long = sum(count for begin, count in spans["oncpu"] if begin >= 1 * MS)
    t.between("stretches of a millisecond and more", long, 0, 25)


@test
def spans_of_a_spinner_hold_its_time_in_the_long_ones(t):
    spinner = Subject(t.tool, ["spinner", 0], waits=False)
    done = t.tool.attach("-p", spinner.pid, "-d", "2s")
    run = done.run
    check_spans(t, run)
    # It leaves its CPU when others get their turn, after milliseconds, and never of its own accord.
    long = sum(begin * count for begin, count in run["spans"]["oncpu"] if begin >= 0.5 * MS)
    t.between("ns in long stretches", long, 0.5 * run["totals"]["oncpu_ns"], 2000 * MS)


@test
def spans_of_many_threads_that_come_and_go_add_up(t):
    check_spans(t, t.tool.run(["crowd", 300, 20, 5000]).run)
    check_spans(t, t.tool.run(["hog", 100, 2000]).run)
    check_spans(t, t.tool.run(["spawner", 200, 1]).run)


@test
def spans_of_each_repeat_begin_at_nothing(t):
    path = t.path("startup.json")
    done = t.tool.call("startup", "-r", 3, "-w", 1, "-q", "-o", path, "floor")
    t.equal("status", done.status, 0)
    with open(path, "rb") as file:
        runs = [Run(data) for data in json.load(file)["runs"]]
    t.equal("runs", len(runs), 3)
    for run in runs:
        check_spans(t, run)


@test
def spans_of_the_whole_machine_add_up(t):
    run = t.tool.attach("-a", "-d", "1s").run
    check_spans(t, run)
    t.between("stretches", spans_sum(run["spans"]["oncpu"]), 10, 10**9)
