"""Why threads wake: subjects whose causes, periods, roots and chains are known."""

import os
import socket
import subprocess
import sys
import threading

from harness import Skip, test
from test_output import validate
from tool import Subject

MS = 1_000_000


# ---- looking things up -----------------------------------------------------------------------------

def rows_of(run, tid=None, **wanted):
    """Rows of "causes", with their places, of a thread or of all."""
    return [(i, c) for i, c in enumerate(run["causes"])
            if tid in (None, c["tid"]) and all(c[k] == v for k, v in wanted.items())]


def wakes_of(run, tid):
    return [(i, c) for i, c in rows_of(run, tid) if c["wakeups"]]


def the_row(t, run, tid, what, **wanted):
    """The one row of a thread with these values, and its place."""
    found = rows_of(run, tid, **wanted)
    if len(found) != 1:
        raise AssertionError(f"{what}: {len(found)} rows with {wanted} among "
                             f"{[c for _, c in rows_of(run, tid)]}, should be one")
    return found[0]


def named(run, comm):
    return run.thread(comm=comm)["tid"]


def charged(run, root, cause):
    """What a cause did because of a root, both by place."""
    found = [c for c in run["roots"] if c["root"] == root and c["cause"] == cause]
    if len(found) > 1:
        raise AssertionError(f"root {root} and cause {cause} have {len(found)} entries")
    return found[0] if found else {"wakeups": 0, "oncpu_ns": 0, "futile": 0}


def edge(run, from_tid, to_tid):
    return {e["mechanism"]: e["wakeups"] for e in run["edges"]
            if (e["from_tid"], e["to_tid"]) == (from_tid, to_tid)}


# ---- what holds in every run -------------------------------------------------------------------------

def unseen(run):
    """How many wakes may have no cause, or an inferred one.

    Some kernels trace nothing while certain tasks run. Each switch that was rebuilt shows that one did;
    a timer that expired meanwhile may have woken a thread on the other CPU, whose switch was traced.
    """
    return run["trust"]["inferred_switches"] + 1


def check_why(t, run, unknown=None):
    """Sums, and how much is unknown: nothing but what was not traced, or a share of the wakeups."""
    t.check(run["causes_counted"], "causes were not counted")
    totals = run["totals"]
    for what in ("wakeups", "oncpu_ns"):
        t.equal(f"{what} by cause", sum(c[what] for c in run["causes"]), totals[what])
        t.equal(f"{what} by root", sum(c[what] for c in run["roots"]), totals[what])
    for thread in run.threads:
        for what in ("wakeups", "oncpu_ns"):
            t.equal(f"{thread['label']} {thread['tid']}: {what} by cause",
                    sum(c[what] for _, c in rows_of(run, thread["tid"]) if c["pid"] == thread["pid"]),
                    thread[what])
    lost = sum(c["wakeups"] for _, c in rows_of(run, cause="unknown"))
    t.equal("wakeups that are not explained", run["unexplained"]["wakeups"], lost)
    limit = unseen(run) if unknown is None else max(unseen(run), totals["wakeups"] * unknown)
    t.between("unknown wakeups", lost, 0, limit)
    check_roots(t, run)


def check_roots(t, run):
    for i, cause in enumerate(run["causes"]):
        led_to = [c for c in run["roots"] if c["root"] == i]
        t.equal(f"root {i}: wakeups", cause["root_wakeups"], sum(c["wakeups"] for c in led_to))
        t.equal(f"root {i}: on-CPU time", cause["root_oncpu_ns"],
                sum(c["oncpu_ns"] for c in led_to))
        t.equal(f"root {i}: chained wakeups", cause["chained_wakeups"],
                sum(c["wakeups"] for c in led_to if c["cause"] != i))


def subject(t, *argv, unknown=None, **options):
    """Runs a subject and checks what holds in every run. Returns the run and the truth."""
    done = t.tool.run(list(argv), **options)
    t.equal(f"status of {argv} ({done.err.strip()})", done.status, 0)
    check_why(t, done.run, unknown)
    t.equal("schema", validate(done.document), [])
    return done.run, done.truth


def check_rate(t, name, run, row, count, period_ns, within=0.03):
    """Exactly so many wakeups, but for those that were not traced, and their period."""
    t.between(f"{name}: wakeups", row["wakeups"], count - unseen(run), count)
    if t.check(row["period_ns"], f"{name}: no period was found"):
        t.near(f"{name}: period", row["period_ns"], period_ns, within)
        t.between(f"{name}: jitter", row["jitter_ns"], 0, 0.1 * period_ns)


# ---- timeouts of their own ---------------------------------------------------------------------------

# Subject's name of the call; mechanism; how it reads; whether the timeout is asked for in the call.
WAITS = (
    ("usleep", "sleep", "its own sleep of 100 ms", True),
    ("until_mono", "sleep", "its own sleep of 100 ms", True),
    ("until_real", "sleep", "its own sleep of 100 ms", True),
    ("until_boot", "sleep", "its own sleep of 100 ms", True),
    ("epoll_wait", "epoll", "its own 100 ms epoll timeout", True),
    ("epoll_pwait2", "epoll", "its own 100 ms epoll timeout", True),
    ("poll", "poll", "its own 200 ms poll timeout", True),
    ("ppoll", "poll", "its own 100 ms poll timeout", True),
    ("select", "select", "its own 100 ms select timeout", True),
    ("pselect", "select", "its own 100 ms select timeout", True),
    ("recv", "recv", "its own recv timeout", False),
    ("futex", "futex", "its own 100 ms futex timeout", True),
    ("futex_waitv", "futex", "its own 100 ms futex timeout", True),
    ("futex_wait", "futex", "its own 100 ms futex timeout", True),
    ("cond_real", "futex", "its own 100 ms futex timeout", True),
    ("cond_mono", "futex", "its own 100 ms futex timeout", True),
    ("sigtimedwait", "sigwait", "its own 100 ms sigwait timeout", True),
    ("semtimedop", "semtimedop", "its own 100 ms semtimedop timeout", True),
    ("mq_receive", "mq_timedreceive", "its own 100 ms mq_timedreceive timeout", True),
    ("io_uring", "io_uring", "its own 100 ms io_uring timeout", True),
)


@test
def timeouts_of_every_call_are_named_with_what_was_asked_for(t):
    count = 20
    asked_ms = {name: 200 if name == "poll" else 100 for name, *_ in WAITS}
    words = [word for name, ms in asked_ms.items() for word in (name, ms * 1000)]
    run, truth = subject(t, "whywait", count, *words)
    counts = {said["role"]: said["count"] for said in truth["threads"]}
    for name, mechanism, text, is_asked in WAITS:
        if name not in ("futex_waitv", "futex_wait", "io_uring", "mq_receive"):
            t.equal(f"{name}: waits", counts[name], count)
        if not counts[name]:
            continue  # not on this kernel
        tid = named(run, name)
        i, row = the_row(t, run, tid, name, cause="timeout")
        asked_ns = asked_ms[name] * MS
        t.between(f"{name}: wakeups by anything else",
                  sum(c["wakeups"] for _, c in wakes_of(run, tid)) - row["wakeups"], 0, unseen(run))
        t.equal(f"{name}: mechanism", row["mechanism"], mechanism)
        t.equal(f"{name}: text", row["text"], text)
        # The timer wheel of a socket's timeout is as coarse as a tick, and an eighth of the time.
        check_rate(t, name, run, row, counts[name], asked_ns, 0.03 if is_asked else 0.15)
        if is_asked:
            t.between(f"{name}: asked for", row["requested_timeout_ns"], 0.995 * asked_ns,
                      asked_ns)
        else:
            t.equal(f"{name}: asked for", row["requested_timeout_ns"], None)
        t.equal(f"{name}: waker", row["waker"], None)
        t.equal(f"{name}: charged to itself", charged(run, i, i)["wakeups"], row["wakeups"])


# ---- timers ------------------------------------------------------------------------------------------

def timer_row(t, kind, ms, *periods_us, **wanted):
    run, truth = subject(t, "whytimer", ms, kind, *periods_us)
    tid = named(run, kind)
    return run, truth["said"]["expired0"], the_row(t, run, tid, kind, **wanted)[1]


@test
def a_timerfd_through_epoll_or_read(t):
    for kind, ms, us, text in (("timerfd", 1050, 100000, "timerfd through epoll"),
                               ("timerfd", 4050, 1000000, "timerfd through epoll"),
                               ("timerfd_read", 1050, 100000, "timerfd through read")):
        run, expired, row = timer_row(t, kind, ms, us, cause="timer")
        t.equal(f"{kind}: text", row["text"], text)
        t.equal(f"{kind}: asked for", row["requested_timeout_ns"], None)
        check_rate(t, f"{kind} of {us} µs", run, row, expired, us * 1000)


@test
def signals_of_timers_are_told_from_other_timers(t):
    for kind, text in (
            ("timer_create", "signal of a timer_create timer in rt_sigsuspend"),
            ("setitimer", "signal of its setitimer timer in rt_sigsuspend")):
        run, expired, row = timer_row(t, kind, 1025, 50000, cause="signal")
        t.equal(f"{kind}: text", row["text"], text)
        t.equal(f"{kind}: mechanism", row["mechanism"], kind)
        check_rate(t, kind, run, row, expired, 50 * MS)


@test
def two_timers_of_one_thread_are_two_causes_with_their_periods(t):
    run, truth = subject(t, "whytimer", 2200, "timerfds", 70000, 110000)
    rows = [c for _, c in rows_of(run, named(run, "timerfds"), cause="timer")]
    if t.equal("rows of timers", len(rows), 2):
        rows.sort(key=lambda row: row["period_ns"] or 0)
        for row, said, ms in zip(rows, ("expired0", "expired1"), (70, 110)):
            check_rate(t, f"timer of {ms} ms", run, row, truth["said"][said], ms * MS)


@test
def a_period_that_changes_is_two_phases(t):
    run, truth = subject(t, "whytimer", 4000, "rearmed", 20000, 200000)
    _, row = the_row(t, run, named(run, "rearmed"), "rearmed", cause="timer")
    said = truth["said"]
    t.between("wakeups", row["wakeups"], said["expired0"] + said["expired1"] - unseen(run),
              said["expired0"] + said["expired1"])
    if t.check(row["phase"], f"no phases: {row}"):
        t.near("when it changed", row["phase"]["at_ns"], 2e9, 0.06)
        t.near("rate before", row["phase"]["before_per_s"], 50, 0.06)
        t.near("rate after", row["phase"]["after_per_s"], 5, 0.2)
    steady, _ = subject(t, "whytimer", 2000, "timerfd", 20000)
    _, row = the_row(t, steady, named(steady, "timerfd"), "timerfd", cause="timer")
    t.equal("phases of a timer that does not change", row["phase"], None)


@test
def a_hog_on_the_same_cpu_is_never_named_for_the_timer_that_interrupts_it(t):
    run, _ = subject(t, "hog", 100, 10000)
    sleeper, hogs = named(run, "sleeper"), {th["tid"] for th in run.threads_of(comm="hog")}
    i, row = the_row(t, run, sleeper, "sleeper", cause="timeout")
    t.equal("text", row["text"], "its own sleep of 10 ms")
    t.between("wakeups", row["wakeups"], 100 - unseen(run), 100)
    t.equal("charged to itself", charged(run, i, i)["wakeups"], row["wakeups"])
    by_hog = [c for _, c in rows_of(run, sleeper)
              if c["wakeups"] and c["waker"] and c["waker"]["tid"] in hogs]
    t.equal("wakeups of the sleeper by the hog", by_hog, [])


# ---- threads that wake each other --------------------------------------------------------------------

# How; cause; mechanism; how it reads.
HANDOFFS = (
    ("futex", "thread", "futex", "futex wake by link0"),
    ("eventfd", "thread", "write", "write by link0 in read"),
    ("pipe", "thread", "write", "write by link0 in read"),
    ("socketpair", "thread", "send", "send by link0 in recvfrom"),
    ("signal", "signal", "signal", "signal (rt_tgsigqueueinfo) by link0 in rt_sigtimedwait"),
)


@test
def a_wake_from_thread_to_thread_names_the_waker_and_its_call(t):
    count = 50
    for how, cause, mechanism, text in HANDOFFS:
        run, _ = subject(t, "whychain", 2, count, 20000, how)
        first, second = named(run, "link0"), named(run, "link1")
        root, begins = the_row(t, run, first, how, cause="timeout")
        at, row = the_row(t, run, second, how, cause=cause)
        t.equal(f"{how}: text", row["text"], text)
        t.equal(f"{how}: mechanism", row["mechanism"], mechanism)
        t.equal(f"{how}: waker", row["waker"] and row["waker"]["tid"], first)
        # The first post may come before the other has gone to sleep.
        t.between(f"{how}: wakeups", row["wakeups"], count - 1 - unseen(run), count)
        t.equal(f"{how}: edge", edge(run, first, second), {mechanism: row["wakeups"]})
        t.between(f"{how}: charged to the sleep", charged(run, root, at)["wakeups"],
                  row["wakeups"] - unseen(run), row["wakeups"])
        check_rate(t, how, run, begins, count, 20 * MS, 0.1)


@test
def a_chain_is_charged_to_the_timer_that_began_it(t):
    count = 10
    run, _ = subject(t, "whychain", 3, count, 200000, "futex")
    tids = [named(run, f"link{i}") for i in range(3)]
    root, begins = the_row(t, run, tids[0], "link0", cause="timeout")
    check_rate(t, "link0", run, begins, count, 200 * MS)
    oncpu_ns = 0
    for i, tid in enumerate(tids):
        wanted = {"cause": "thread", "mechanism": "futex"} if i else {"cause": "timeout"}
        at, row = the_row(t, run, tid, f"link{i}", **wanted)
        part = charged(run, root, at)
        t.between(f"link{i}: wakeups", row["wakeups"], count - 1 - unseen(run), count)
        t.between(f"link{i}: charged to the timer", part["wakeups"],
                  row["wakeups"] - unseen(run), row["wakeups"])
        if part["wakeups"] == row["wakeups"]:
            t.equal(f"link{i}: time charged to the timer", part["oncpu_ns"], row["oncpu_ns"])
        oncpu_ns += part["oncpu_ns"]
    # Beside the links it rouses the main thread, once, which waits for the end of link0.
    t.between("wakeups of the timer's chain", begins["root_wakeups"], 3 * count - 2 - unseen(run),
              3 * count + 3)
    t.between("time of the timer's chain", begins["root_oncpu_ns"], oncpu_ns, 3 * oncpu_ns)


@test
def a_broadcast_is_a_herd_and_helpers_that_find_nothing_are_futile(t):
    sheep, count = 8, 50
    for work in (0, 1):
        run, _ = subject(t, "whyherd", sheep, count, 20000, work)
        shepherd = named(run, "shepherd")
        herds = [h for h in run["herds"] if h["waker"]["tid"] == shepherd]
        t.equal(f"herds of others with work {work}", len(run["herds"]) - len(herds), 0)
        if t.equal(f"herds with work {work}", len(herds), 1):
            # One that is kept from its CPU in the middle of a round makes two of it.
            t.between("herds", herds[0]["herds"], count - 2, count * 1.3)
            t.between("threads of a herd", herds[0]["threads_mean"], sheep * 0.75, sheep)
            t.equal("threads of the largest herd", herds[0]["threads_most"], sheep)
        for thread in run.threads_of(comm="sheep"):
            _, row = the_row(t, run, thread["tid"], "sheep", cause="thread",
                             mechanism="futex")
            t.equal("text", row["text"], "futex wake by shepherd")
            t.between("wakeups", row["wakeups"], count - 2 - unseen(run), count)
            if work:
                t.equal("futile wakes of one that works", row["futile"], 0)
        rows = [c for _, c in rows_of(run, cause="thread", mechanism="futex", comm="sheep")]
        if not work:
            futile = sum(c["futile"] for c in rows) / sum(c["wakeups"] for c in rows)
            t.between("share of futile wakes", futile, 0.5, 1)


@test
def threads_that_hand_work_to_and_fro_are_a_loop_with_rounds(t):
    run, truth = subject(t, "whyloop", 20000)
    said = {th["role"]: th for th in truth["threads"]}
    if not t.equal("loops", len(run["loops"]), 1):
        return
    loop = run["loops"][0]
    t.equal("threads of the loop", {th["comm"] for th in loop["threads"]}, {"ping", "pong"})
    # A thread that was kept from its CPU finds its byte there already, and does not sleep.
    slept = [said[name]["nvcsw"] for name in ("ping", "pong")]
    t.between("rounds", loop["rounds"], min(slept) - 5, max(slept) + 5)
    t.near("wakeups of a round", loop["wakeups_per_round"], 2, 0.15)
    t.near("system calls of all rounds", loop["syscalls_per_round"] * loop["rounds"], 80000,
           0.01)
    pair = [run.thread(comm=name) for name in ("ping", "pong")]
    t.near("time on CPU of all rounds", loop["oncpu_ns_per_round"] * loop["rounds"],
           sum(th["oncpu_ns"] for th in pair), 0.05, 2 * MS)
    # Waiting after a wake; the threads' figure has the waiting after a preemption in it too.
    t.between("run-queue wait of all rounds", loop["runq_ns_per_round"] * loop["rounds"],
              run["window_ns"] * 0.02, sum(th["runq_ns"] for th in pair))
    t.near("rounds a second", loop["rounds_per_s"], loop["rounds"] / run["window_ns"] * 1e9, 1e-6)
    t.equal("herds", run["herds"], [])
    chain, _ = subject(t, "whychain", 2, 50, 10000, "futex")
    t.equal("loops of a chain that a timer begins each time", chain["loops"], [])


# ---- from outside ------------------------------------------------------------------------------------

class Pulse(threading.Thread):
    """A process of its own, not of the tree that is measured, that writes so often at such a rate."""

    PROGRAM = """
import os, sys, time
fd, count, period_s = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
for i in range(count):
    time.sleep(period_s)
    os.write(fd, b"x")
"""

    def __init__(self, t, fd, count, period_s):
        super().__init__()
        self.process = None
        self.argv = [sys.executable, "-c", self.PROGRAM, str(fd), str(count), str(period_s)]
        self.fd = fd
        t.cleanup(self.stop)

    def run(self):
        self.process = subprocess.Popen(self.argv, pass_fds=(self.fd,))
        self.process.wait()

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()


def reader(t, stdin):
    """whyinput on this standard input, profiled."""
    return t.tool.start_run([t.tool.subject("whyinput")], stdin=stdin)


@test
def a_process_outside_the_tree_that_writes_to_us_is_the_root(t):
    count, period_ms = 20, 50
    read_end, write_end = os.pipe()
    started = reader(t, read_end)
    os.close(read_end)
    started.await_window()
    pulse = Pulse(t, write_end, count, period_ms / 1000)
    pulse.start()
    pulse.join(60)
    os.close(write_end)
    done = started.finish()
    check_why(t, done.run)
    i, row = the_row(t, done.run, done.run.threads[0]["tid"], "reader", cause="process",
                     mechanism="write", comm="whyinput", text=row_text(pulse))
    check_rate(t, "pipe", done.run, row, count, period_ms * MS, 0.1)
    t.equal("waker that is followed", row["waker"], None)
    t.equal("charged to it", charged(done.run, i, i)["wakeups"], row["wakeups"])


def row_text(pulse):
    name = os.path.basename(os.path.realpath(sys.executable))[:15]
    comm = os.path.basename(sys.executable)[:15]
    return f"write by {comm or name}({pulse.process.pid}) in read"


@test
def a_datagram_from_outside_is_the_network(t):
    count, period_ms = 20, 50
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as inbox, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outbox:
        inbox.bind(("127.0.0.1", 0))
        outbox.connect(inbox.getsockname())
        started = reader(t, inbox)
        started.await_window()
        pulse = Pulse(t, outbox.fileno(), count, period_ms / 1000)
        pulse.start()
        pulse.join(60)
        outbox.send(b"")
        done = started.finish()
    check_why(t, done.run)
    i, row = the_row(t, done.run, done.run.threads[0]["tid"], "reader", cause="network")
    t.equal("text", row["text"], "packet arrived (softirq NET_RX) in read")
    # The datagram that says the end is one more.
    t.between("wakeups", row["wakeups"], count - unseen(done.run), count + 1)
    t.near("period", row["period_ns"] or 0, period_ms * MS, 0.1)
    t.equal("charged to itself", charged(done.run, i, i)["wakeups"], row["wakeups"])


@test
def a_read_that_the_disk_ends_is_the_disks(t):
    count = 50
    path = t.path("blocks")
    with open(path, "wb") as file:
        for _ in range(count):
            file.write(os.urandom(16 * 4096))
        file.flush()
        os.fsync(file.fileno())
    for how in ("direct", "dropped"):
        done = t.tool.run(["whydisk", path, count, how])
        if done.status == 77:
            raise Skip(f"the file system of {t.root} has no disk below it that can be read {how}")
        run = done.run
        check_why(t, run)
        tid = done.truth["threads"][0]["tid"]
        rows = [c for _, c in rows_of(run, tid, cause="disk") if c["text"].endswith("in pread64")]
        wakes = sum(c["wakeups"] for c in rows)
        if done.truth["threads"][0]["nvcsw"] < count / 2:
            raise Skip(f"reads of {t.root} do not sleep: there is no disk below it")
        # A request may be over before the thread has left its CPU.
        t.between(f"{how}: wakeups by the disk", wakes, count * 0.9 - unseen(run), count + 2)
        for row in rows:
            t.equal(f"{how}: mechanism", row["mechanism"], "read")
            t.equal(f"{how}: asked for", row["requested_timeout_ns"], None)


@test
def the_end_of_a_child_names_the_child(t):
    """Whether it calls exit or is killed in another call."""
    count = 15
    for end in ("exit", "killed"):
        run, truth = subject(t, "whychild", count, 10000, end)
        parent = truth["pid"]
        rows = [c for _, c in rows_of(run, parent, cause="child_exit")]
        t.between(f"{end}: wakeups by children that end", sum(c["wakeups"] for c in rows),
                  count - unseen(run), count)
        for row in rows:
            t.equal(f"{end}: text", row["text"], "exit of its child whychild")
            t.equal(f"{end}: mechanism", row["mechanism"], "wait")
            t.check(row["waker"]["pid"] != parent, f"{end}: the parent is named as its own child")
        slept = [c for _, c in rows_of(run, cause="timeout") if c["pid"] != parent]
        t.between(f"{end}: wakeups of the children by their own sleep",
                  sum(c["wakeups"] for c in slept), count - unseen(run), count)
        t.between(f"{end}: children whose sleep is the root of what their end wakes",
                  sum(c["chained_wakeups"] >= 1 for c in slept), count - 2 * unseen(run), count)


# ---- busy without sleeping ---------------------------------------------------------------------------

@test
def a_thread_that_repeats_a_call_without_sleeping_is_a_spin(t):
    for how, call in (("epoll", "epoll_wait"), ("condition", "futex"), ("child", "wait4")):
        run, truth = subject(t, "whyspin", how, 600)
        tid, calls = truth["pid"], truth["said"]["calls"]
        spins = [s for s in run["spins"] if s["tid"] == tid]
        if not t.equal(f"spins of {how}", len(spins), 1):
            continue
        spin, seconds = spins[0], run["window_ns"] / 1e9
        own = run.thread(tid=tid)
        # epoll_wait is epoll_pwait where the architecture has no other.
        t.check(spin["call"] in (call, "epoll_pwait"), f"{how}: call {spin['call']}")
        t.near(f"{how}: calls", spin["calls_per_s"] * seconds, calls, 0.01, 20)
        t.between(f"{how}: share of its calls", spin["call_share"], 0.95, 1)
        t.near(f"{how}: share of the time", spin["oncpu_share"],
               own["oncpu_ns"] / run["window_ns"], 1e-6)
    for argv in (("spinner", 300), ("getppid", 1, 300000)):
        run, _ = subject(t, *argv)
        t.equal(f"spins of {argv}, which waits for nothing", run["spins"], [])


# ---- sums over the other subjects --------------------------------------------------------------------

OTHERS = (
    ("sleeper", 200, 2000), ("spinner", 200), ("getppid", 4, 100000), ("hopper", 200),
    ("yielder", 20000), ("cancel", 5000), ("crowd", 200, 10, 5000), ("leaderless", 50, 0),
    ("spawner", 200, 1), ("server", "vfork", 10, 100), ("server", "posix_spawn", 10, 100),
    ("server", "fork", 10, 100),
)


@test
def causes_and_roots_add_up_on_every_other_subject(t):
    for argv in OTHERS:
        before = len(t.failures)
        done = t.tool.run(list(argv))
        check_why(t, done.run)
        t.failures[before:] = [f"{argv}: {text}" for text in t.failures[before:]]


@test
def causes_of_the_dead_make_room_and_stay_roots(t):
    """Two causes each, of which 49,152 have room: what the dead leave is taken out while the window is open,
    and what they began is charged to them all the same."""
    count = 30000
    run = t.tool.run(["mortals", count, t.root], ["-q", "--stacks=no"], limit_s=140).run
    t.check(run["trust"]["ok"], f"not trusted: {run['trust']['reasons']}")
    t.equal("lost", {k: n for k, n in run["trust"]["lost"].items() if n}, {})
    with open(t.path("tids"), encoding="ascii") as file:
        tids = [int(line) for line in file]
    if len(set(tids)) < count:
        raise Skip("this machine has too few thread ids")
    t.equal("threads", len(run.threads), count + 1)
    rows, roots = {}, {}
    for i, cause in enumerate(run["causes"]):
        rows.setdefault((cause["tid"], cause["cause"]), []).append(i)
    for entry in run["roots"]:
        roots.setdefault(entry["cause"], {})[entry["root"]] = entry
    judged, wrong = 0, []
    for before, tid in zip(tids, tids[1:]):
        nap, start = rows.get((before, "timeout"), []), rows.get((tid, "start"), [])
        if not nap:
            continue  # its timer expired before it slept
        judged += 1
        if len(nap) != 1 or len(start) != 1 or list(roots[start[0]]) != nap:
            wrong.append((before, [run["causes"][i] for i in nap + start]))
    t.check(len(wrong) <= unseen(run), f"{len(wrong)} began without their root: {wrong[:2]}")
    t.between("naps that were slept", judged, count * 0.9, count)
    t.between("causes", len(run["causes"]), 50000, 3 * count)
    for what in ("wakeups", "oncpu_ns"):
        t.equal(f"{what} by cause", sum(c[what] for c in run["causes"]), run["totals"][what])
        t.equal(f"{what} by root", sum(c[what] for c in run["roots"]), run["totals"][what])
        by_thread = dict.fromkeys(tids, 0)
        for cause in run["causes"]:
            by_thread[cause["tid"]] = by_thread.get(cause["tid"], 0) + cause[what]
        different = [th["tid"] for th in run.threads if th[what] != by_thread[th["tid"]]]
        t.equal(f"threads whose {what} are not those of their causes", different, [])


@test
def causes_add_up_in_a_window_with_two_edges(t):
    """Subjects that live before and after it; two of them switch all the time, so that one leaves its
    CPU between the window's end and the moment when the books are closed."""
    sleeper = Subject(t.tool, ["sleeper", 100000, 5000])
    spinner = Subject(t.tool, ["spinner", 20000])
    yielder = Subject(t.tool, ["yielder", 1000000000])
    pids = f"{sleeper.pid},{spinner.pid},{yielder.pid}"
    attached = t.tool.start_attach("-p", pids, "-d", "1500ms")
    attached.await_window()
    for subject_ in (sleeper, spinner, yielder):
        subject_.go()
    run = attached.finish().run
    check_why(t, run)
    _, row = the_row(t, run, sleeper.pid, "sleeper", cause="timeout")
    t.equal("text", row["text"], "its own sleep of 5 ms")
    again = t.tool.attach("-p", pids, "-d", "1s")
    check_why(t, again.run)
    _, row = the_row(t, again.run, sleeper.pid, "sleeper", cause="timeout")
    t.near("sleep", row["sleep_ns"], 1e9 - row["oncpu_ns"] - row["runq_ns"], 0.01)
    for _ in range(5):
        check_why(t, t.tool.attach("-p", pids, "-d", "100ms").run)
    before = rows_of(again.run, spinner.pid, cause="before")
    t.check(before, "a spinner that ran on through the window's start has no such row: "
            f"{rows_of(again.run, spinner.pid)}")
