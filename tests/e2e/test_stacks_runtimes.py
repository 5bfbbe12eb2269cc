"""Where in the code: the pinned runtimes, a database and an interpreter, as they are shipped."""

import os
import re
import subprocess

from harness import Skip, test
from stacks import Stacks, nearest_difference, plain
from test_runtimes import measure, pinned
from test_why import MS
from test_why_runtimes import answers, started
from tool import await_true, need_program, read_text, status_field

TICKER = """
const shared = new Int32Array(new SharedArrayBuffer(4));
function namedInner() { Atomics.wait(shared, 0, 0, 20); }
function namedOuter() { namedInner(); }
setInterval(function namedTick() { namedOuter(); }, 5);
if (process.argv[2]) setTimeout(() => process.exit(), Number(process.argv[2]));
"""
SLEEPER = """
import time
def sleeper():
    while True:
        time.sleep(0.05)
sleeper()
"""


def path_of(label):
    return pinned(label)[0].split(":", 1)[1]


def taken(rows):
    """Those of "wakes" that have a stack: a sleep from before the window may have none."""
    return [w for w in rows if w["sleeper"] is not None]


def texts(stacks, stack):
    return [frame["text"] for frame in stacks.frames(stack)]


# ---- bun: frame pointers and no .eh_frame; no names ------------------------------------------------------

def hundred_ms(t, run):
    """The row of "causes" of bun 1.3.14's thread that wakes each 100 ms, by place."""
    found = [i for i, c in enumerate(run["causes"])
             if c["cause"] == "timeout" and c["mechanism"] == "futex" and c["wakeups"] > 20 and
             95 * MS <= (c["requested_timeout_ns"] or 0) <= 105 * MS]
    if len(found) != 1:
        raise AssertionError(f"{len(found)} threads that wake each 100 ms, should be one")
    return found[0]


def bun_idle(t):
    done = measure(t, "idle", "-d", "5s", "--retries", "0", *pinned("bun-1.3.14"))
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    run = done.runs[0]
    return run, Stacks(run)


@test
def the_thread_of_a_hundred_milliseconds_of_bun_sleeps_in_bun(t):
    begins = []
    for _ in range(2):
        run, stacks = bun_idle(t)
        place = hundred_ms(t, run)
        cause = run["causes"][place]
        rows = taken([w for w in stacks.data["wakes"] if w["cause"] == place])
        t.equal("stacks of its sleep", len(rows), 1)
        t.between("its wakes", sum(w["wakeups"] for w in rows), cause["wakeups"] - 1,
                  cause["wakeups"] + 1)
        for row in rows:
            user = stacks.user(row["sleeper"])
            names = [f["name"] for f in user]
            at = next((i for i, name in enumerate(names) if "pthread_cond_timedwait" in name), None)
            if not t.check(at is not None, f"no pthread_cond_timedwait in {names}"):
                continue
            beyond = [stacks.path(f) for f in user[at + 1:]]
            t.check(beyond and beyond[0].endswith("/bun"),
                    f"beyond pthread_cond_timedwait: {texts(stacks, row['sleeper'])}")
            t.check(not stacks.truncated(row["sleeper"]), "it is truncated")
        thread = next(th for th in run.threads if th["tid"] == cause["tid"])
        t.check(re.fullmatch(r"bun\+0x[0-9a-f]+", thread["begins"] or ""),
                f"where it begins: {thread['begins']}")
        begins.append({(th["comm"], th["begins"]) for th in run.threads if th["begins"]})
    t.equal("where threads begin in the second run", begins[1], begins[0])


# ---- node: names, and code made at run time ----------------------------------------------------------------

@test
def a_digest_that_node_awaits_names_libuv_on_both_sides(t):
    done = measure(t, "hash", "-d", "1s", "-s", "--variant", "webcrypto", "--no-bare",
                   *pinned("node-22"))
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    run = next(r for r in done.runs if r["variant"] == "webcrypto")
    stacks = Stacks(run)
    main = next(th["tid"] for th in run.threads if th["comm"] == "node" and th["tid"] == th["pid"])
    workers = {th["tid"] for th in run.threads if th["comm"] == "libuv-worker"}
    causes = run["causes"]
    to_worker = [w for w in stacks.data["wakes"] if w["tid"] in workers and w["waker"] is not None and
                 causes[w["cause"]]["waker"] and causes[w["cause"]]["waker"]["tid"] == main]
    # Beside writing, a worker frees the lock of the queue, which the main thread may wait for.
    to_main = [w for w in stacks.data["wakes"] if w["tid"] == main and w["waker"] is not None and
               causes[w["cause"]]["mechanism"] == "write" and
               causes[w["cause"]]["waker"] and causes[w["cause"]]["waker"]["tid"] in workers]
    check_names(t, "main thread wakes a worker", stacks, to_worker, "waker",
                ("uv__work_submit", "uv_queue_work", "uv_cond_signal"))
    check_names(t, "worker asleep", stacks, to_worker, "sleeper", ("uv_cond_wait",))
    check_names(t, "worker wakes the main thread", stacks, to_main, "waker", ("uv_async_send",))
    check_names(t, "main thread asleep", stacks, to_main, "sleeper", ("uv__io_poll", "uv_run"))


def check_names(t, what, stacks, rows, side, wanted):
    """Nine of ten wakes that have a stack have one of these functions in it."""
    total = sum(w["wakeups"] for w in rows if w[side] is not None)
    named = sum(w["wakeups"] for w in rows if w[side] is not None and
                {plain(f["name"]) for f in stacks.frames(w[side])} & set(wanted))
    most = max(rows, key=lambda w: w["wakeups"], default=None)
    shown = texts(stacks, most[side]) if most else "nothing"
    t.check(total > 20 and named >= 0.9 * total, f"{what}: {named} of {total} name {wanted}: {shown}")


def check_javascript(t, what, stacks, pid):
    """Sleeps of Atomics.wait name the three functions that lead to it, in order."""
    wanted, total, named = ["namedInner", "namedOuter", "namedTick"], 0, 0
    shown = None
    for row in stacks.wakes(pid, cause="timeout", mechanism="futex"):
        if row["sleeper"] is None:
            continue
        names = [f["name"] for f in stacks.user(row["sleeper"]) if f["kind"] == "jit"]
        found = [m.group(0) for m in (re.search(r"named[A-Z][a-z]+", n) for n in names) if m]
        total += row["wakeups"]
        named += row["wakeups"] if found == wanted else 0
        shown = shown or texts(stacks, row["sleeper"])
    t.check(total > 20 and named >= 0.9 * total,
            f"{what}: {named} of {total} sleeps name {wanted}: {shown}")


@test
def node_names_functions_of_javascript_by_its_perf_map(t):
    script, node = t.path("ticker.js"), path_of("node-22")
    with open(script, "w", encoding="utf-8") as file:
        file.write(TICKER)
    argv = [node, "--perf-basic-prof", "--interpreted-frames-native-stack", script]
    process = started(t, argv)
    t.cleanup(remove_map, process.pid)
    await_true(lambda: "namedTick" in read_text(f"/tmp/perf-{process.pid}.map"), "node's perf map")
    done = t.tool.attach("-p", process.pid, "-d", "2s", "-s")
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    check_javascript(t, "attach", Stacks(done.run), process.pid)
    done = t.tool.start_run([*argv, "1500"], ["-s"]).finish()
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    pid = next(th["pid"] for th in done.run.threads if th["tid"] == th["pid"])
    t.cleanup(remove_map, pid)
    check_javascript(t, "run, when it has ended", Stacks(done.run), pid)


def remove_map(pid):
    path = f"/tmp/perf-{pid}.map"
    if os.path.exists(path):
        os.unlink(path)


# ---- from the distribution -----------------------------------------------------------------------------------

def check_oracle(t, what, stacks, pid, row, function):
    """The stack of a row against eu-stack's of the main thread, asleep in the same call."""
    t.equal(f"{what} against eu-stack",
            nearest_difference(stacks, row["sleeper"], pid, pid, function), "")


@test
def python_of_the_distribution_has_names(t):
    program = "/usr/bin/python3"
    if not os.path.exists(program):
        raise Skip(f"there is no {program}")
    process = started(t, [program, "-c", SLEEPER])
    # Python takes another way through itself where it has called something a few times.
    await_true(lambda: status_field(process.pid, "voluntary_ctxt_switches") > 60, "python to settle")
    done = t.tool.attach("-p", process.pid, "-d", "1s", "-s")
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    stacks = Stacks(done.run)
    rows = taken(stacks.wakes(process.pid, cause="timeout", mechanism="sleep"))
    t.equal("stacks of its sleep", len(rows), 1)
    for row in rows:
        names = [f["name"] for f in stacks.user(row["sleeper"])]
        t.check("_PyEval_EvalFrameDefault" in names and "Py_BytesMain" in names, f"names: {names}")
        t.check(not stacks.truncated(row["sleeper"]), f"truncated: {names}")
        check_oracle(t, "python", stacks, process.pid, row, "_PyEval_EvalFrameDefault")


@test
def redis_of_the_distribution_has_names(t):
    need_program("redis-server")
    path = t.path("redis")
    process = started(t, ["redis-server", "--port", "0", "--unixsocket", path, "--save", "",
                          "--dir", t.root], stdout=subprocess.DEVNULL)
    await_true(lambda: answers(path), "redis to answer")
    done = t.tool.attach("-p", process.pid, "-d", "2s", "-s")
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    stacks = Stacks(done.run)
    rows = taken(stacks.wakes(process.pid, cause="timeout", mechanism="epoll"))
    t.equal("stacks of its sleep", len(rows), 1)
    for row in rows:
        names = [f["name"] for f in stacks.user(row["sleeper"])]
        t.check("aeMain" in names and "main" in names, f"names: {names}")
        t.check(not stacks.truncated(row["sleeper"]), f"truncated: {names}")
        check_oracle(t, "redis", stacks, process.pid, row, "aeMain")
