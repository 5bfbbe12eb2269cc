"""What is done on each kernel, and what must come of it.

A case is a shell script for the machine under test, which works in a folder of its own, and a function that
judges on this side what it left there: out.json by wakewhy, truth.json by the subject. An emulated machine is slow
and stands still at times: counts have one right value there as anywhere, times have room.
"""

import json
import os

from stacks import Stacks
from tool import Run

MS = 1_000_000
CASES = []


class Left:
    """What a case left: the texts and documents in its folder."""

    def __init__(self, folder):
        self.folder = folder

    def text(self, name):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def status(self):
        return int(self.text("status") or -1)

    def document(self, name="out.json"):
        text = self.text(name)
        if not text:
            raise AssertionError(f"no {name}: {self.text('stderr').strip()}")
        return json.loads(text)

    def run(self, name="out.json"):
        return Run(self.document(name)["runs"][0])


def case(script):
    def register(function):
        CASES.append((function.__name__, script, function))
        return function

    return register


def measured(t, left, name="out.json", backend="bpf"):
    """The run, after what must hold in any."""
    run = left.run(name)
    t.equal("backend", run["backend"], backend)
    t.equal("lost", run.lost(), {})
    # The clocks of an emulated machine go their own ways: how long is compared below, with room, or not at all.
    t.equal("doubts", [why for why in run["trust"]["reasons"] if "on-CPU time" not in why], [])
    t.equal("complaints", [line for line in left.text("stderr").splitlines() if "not to be trusted" not in line], [])
    if run["trust"]["switches_kernel"] is not None:
        t.equal("switches, by the kernel", run["trust"]["switches_kernel"], run["trust"]["switches_own"])
    if backend == "bpf":
        for what in ("wakeups", "oncpu_ns"):
            t.equal(f"{what} by cause", sum(c[what] for c in run["causes"]), run["totals"][what])
        t.equal("system calls", run["totals"]["syscalls"], sum(
            sum(th["syscall_counts"].values()) + th["syscalls_compat"] + th["syscalls_invalid"] for th in run.threads))
    return run


def unseen(run):
    """Wakes that may have another cause than their own: see check_why() of the end-to-end tests."""
    return run["trust"]["inferred_switches"] + 1


def cause(t, run, tid, wakeups, **wanted):
    """The thread's one row with these values has so many wakeups, but for those that nobody traced."""
    rows = [c for c in run["causes"] if c["tid"] == tid and c["wakeups"] and
            all(c[name] == value for name, value in wanted.items())]
    if not t.equal(f"rows with {wanted}", len(rows), 1):
        t.check(False, f"the rows are {[c['text'] for c in run['causes'] if c['tid'] == tid]}")
        return None
    low = wakeups - unseen(run) - run.thread(tid=tid)["cancelled_sleeps"]
    t.between(f"wakeups by {wanted}", rows[0]["wakeups"], low, wakeups)
    return rows[0]


# Of a sleeper of 20 ms there are far fewer where the host does not run the machine, never more.
FEW = 3


def most_sleeps(run):
    return run["window_ns"] / (20 * MS) + 2


def sleep_calls(run):
    return run.calls("nanosleep") + run.calls("clock_nanosleep")


@case("wakewhy doctor")
def doctor_finds_that_it_can_measure(t, left):
    t.equal("status", left.status(), 0)
    t.check("load and attach" in left.text("stdout"), left.text("stdout"))


@case("wakewhy selftest -f json -o out.json > /dev/null")
def selftest_is_right(t, left):
    checks = left.document()["checks"]
    t.check(len(checks) > 40, f"only {len(checks)} figures")
    for check in checks:
        # The host stops such a machine now and then, which its kernel cannot tell from running.
        room = 0.2 * check["expected_low"] if check["unit"] == "ns" else 0
        t.between(f"{check['subject']}: {check['figure']}", check["measured"],
                  check["expected_low"] - room, check["expected_high"] + room)
    t.equal("doubts", [why for why in left.document()["doubts"] if "on-CPU time" not in why], [])


@case("wakewhy run -s --stack-limit 0 -o out.json -- sleeper --truth truth.json 200 2000")
def sleeps_are_counted_and_their_stacks_are_unwound(t, left):
    run = measured(t, left)
    tid = left.document("truth.json")["pid"]
    # A sleep is cancelled where the machine stands still between its clock's start and the switch.
    sleeper = run.thread(tid=tid)
    cancelled = sleeper["cancelled_sleeps"]
    t.between("wakeups", sleeper["wakeups"] + cancelled, 199, 201)
    t.equal("sleep calls", sleep_calls(run), 200)
    t.equal("starts", run["totals"]["starts"], 1)
    row = cause(t, run, tid, 200 - cancelled, cause="timeout", mechanism="sleep")
    stacks = Stacks(run)
    rows = stacks.wakes(tid, cause="timeout")
    t.between("wakes with a stack", sum(r["wakeups"] for r in rows if r["sleeper"] is not None),
              (row or sleeper)["wakeups"] - 1, 200)
    for row in rows:
        if row["sleeper"] is not None:
            check_sleeper(t, stacks, row["sleeper"])


def check_sleeper(t, stacks, stack):
    kernel, names = stacks.kernel(stack), stacks.names_in(stack, "/subjects/sleeper")
    t.check(any("schedule" in name for name in kernel), f"kernel: {kernel}")
    t.check(any("nanosleep" in name for name in kernel), f"kernel: {kernel}")
    t.check("main" in names, f"sleeper: {names}")


@case("wakewhy run -sk,u --stack-limit 0 -o out.json -- stackpaths --truth truth.json 50")
def stacks_by_frame_pointers_are_told_apart(t, left):
    run = measured(t, left)
    stacks = Stacks(run)
    ways = set()
    for row in stacks.wakes(left.document("truth.json")["pid"], cause="timeout"):
        names = stacks.names_in(row["sleeper"], "/subjects/stackpaths")
        ways.add(tuple(name for name in names if name in ("zero", "one")))
    # The innermost's caller is hidden by glibc's function, which has no frame. A path whose 50 µs are over before
    # it sleeps leaves none.
    t.between("paths", len({way for way in ways if len(way) >= 15}), 10, 50)
    t.equal("lost stacks", run["trust"]["lost"]["stacks"], 0)


@case("wakewhy run -s --stack-limit 0 -o out.json -- whychain --truth truth.json 3 20 20000 futex")
def wakers_are_named_with_their_stacks(t, left):
    run = measured(t, left)
    tids = [run.thread(comm=f"link{i}")["tid"] for i in range(3)]
    cause(t, run, tids[0], 20, cause="timeout", mechanism="sleep")
    stacks = Stacks(run)
    for i in (1, 2):
        row = cause(t, run, tids[i], 20, cause="thread", mechanism="futex", text=f"futex wake by link{i - 1}")
        t.equal(f"waker of link{i}", row and row["waker"]["tid"], tids[i - 1])
        for wake in stacks.wakes(tids[i], cause="thread"):
            kernel = stacks.kernel(wake["waker"])
            t.check(any("futex" in name for name in kernel), f"waker of link{i}: {kernel}")
            names = stacks.names_in(wake["waker"], "/subjects/whychain")
            t.check("link_body" in names, f"waker of link{i}: {names}")


@case("wakewhy run --sample -o out.json -- spinner --truth truth.json 3000")
def samples_are_taken_where_it_runs(t, left):
    run = measured(t, left)
    stacks = Stacks(run)
    samples = stacks.data["samples"]
    n = sum(row["count"] for row in samples)
    # A clock that is late skips its turns, and what the host does not run counts as CPU time.
    t.between("samples", n, 100, 1100 * run["totals"]["oncpu_ns"] / 1e9)
    inside = sum(row["count"] for row in samples if stacks.names_in(row["stack"], "/subjects/spinner"))
    t.between("samples in the spinner", inside, n / 10, n)


@case("wakewhy run -o out.json -- whywait --truth truth.json 5 usleep 100000 epoll_wait 100000 poll 100000 "
      "select 100000 futex 100000 recv 100000")
def timeouts_are_named_with_what_was_asked_for(t, left):
    run = measured(t, left)
    for name, mechanism in (("usleep", "sleep"), ("epoll_wait", "epoll"), ("poll", "poll"), ("select", "select"),
                            ("futex", "futex"), ("recv", "recv")):
        row = cause(t, run, run.thread(comm=name)["tid"], 5, cause="timeout", mechanism=mechanism)
        if row and name != "recv":
            t.between(f"{name}: asked for", row["requested_timeout_ns"], 80 * MS, 100 * MS)


@case("wakewhy run -o timerfd.json -- whytimer --truth truth.json 1050 timerfd 100000;"
      "wakewhy run -o setitimer.json -- whytimer --truth truth2.json 1025 setitimer 50000")
def timers_are_named(t, left):
    for name, truth, wanted in (("timerfd", "truth.json", {"cause": "timer"}),
                                ("setitimer", "truth2.json", {"cause": "signal", "mechanism": "setitimer"})):
        run = measured(t, left, f"{name}.json")
        # One that had expired before it was waited for is no wake.
        said = left.document(truth)["said"]["expired0"]
        row = cause(t, run, run.thread(comm=name)["tid"], said, **wanted)
        t.check(row is None or name in row["text"], f"{name}: {row}")


@case("wakewhy run -o out.json -- getppid --truth truth.json 4 50000")
def calls_are_counted_exactly(t, left):
    run = measured(t, left)
    callers = [said["tid"] for said in left.document("truth.json")["threads"] if said["role"] == "caller"]
    t.equal("getppid", [run.calls("getppid", run.threads_of(tid=tid)) for tid in callers], [50000] * 4)


@case("wakewhy run -o out.json -- execer --truth truth.json 500 30")
def another_thread_than_the_leader_may_exec(t, left):
    run = measured(t, left)
    t.equal("status", left.status(), 7)
    t.equal("getppid", run.calls("getppid"), 500)
    t.equal("sleep calls", sleep_calls(run), 30)
    t.equal("threads", len(run.threads), 6)
    t.equal("exit statuses", [p["exit_status"] for p in run["processes"]][-1:], [7])


@case("""wakewhy run -o out.json -- sh -c '
leaderless --truth truth.json 50 23
(until grep -q sleeper /proc/$$/comm; do usleep 1000; done; kill -TERM $$) &
exec sleeper 1000000 1000'
""")
def ends_are_told_with_their_statuses(t, left):
    run = measured(t, left)
    t.equal("status", left.status(), 128 + 15)
    survivor = run.thread(comm="survivor")
    t.between("wakeups of the survivor", survivor["wakeups"] + survivor["cancelled_sleeps"], 49, 52)
    ended = {p["comm"]: p["exit_status"] for p in run["processes"]}
    t.equal("status of leaderless", ended.get("leaderless"), 23)
    t.equal("status of what the shell became", ended.get("sleeper"), 128 + 15)


@case("""
sleeper 1000000 20000 &
pid=$!
wakewhy attach -p $pid -s -d 3 -o out.json
kill $pid
""")
def a_live_process_is_attached_to(t, left):
    run = measured(t, left)
    (thread,) = run.threads
    most = most_sleeps(run)
    t.between("wakeups", thread["wakeups"], FEW, most)
    # A call that finds its time over returns without a switch.
    t.between("sleep calls", sleep_calls(run), thread["wakeups"] + thread["cancelled_sleeps"] - 1, most)
    row = cause(t, run, thread["tid"], thread["wakeups"], cause="timeout", mechanism="sleep")
    # None where the machine stood still too often.
    if row and row["period_ns"]:
        t.between("period", row["period_ns"], 20 * MS, run["window_ns"] / FEW)
    sleeps = [w for w in Stacks(run).wakes(thread["tid"]) if w["sleeper"] is not None]
    t.check(sleeps, "no stacks")
    for sleep in sleeps:
        check_sleeper(t, Stacks(run), sleep["sleeper"])


# Three sleepers, one after the other, that begin and end in the window: it is open once wakewhy waits (in ppoll, 271 on
# x86-64 and 73 on arm64) for its end. (What a shell runs in the background ignores an interrupt.)
@case("""
three()
{
	until case $(cut -d ' ' -f 1 /proc/$pid/syscall) in 271 | 73) ;; *) false ;; esac; do usleep 10000; done
	"$@"
	"$@"
	"$@"
	kill $pid
	wait $pid
}
wakewhy attach -n 'sleep*' -d 140 -o name.json &
pid=$!
three sleeper 20 10000
mkdir /sys/fs/cgroup/followed
wakewhy attach -c followed -d 140 -o cgroup.json &
pid=$!
three sh -c 'echo $$ > /sys/fs/cgroup/followed/cgroup.procs; exec sleeper 20 10000'
""")
def who_appears_later_is_followed_by_name_and_by_cgroup(t, left):
    for name in ("name", "cgroup"):
        run = measured(t, left, f"{name}.json")
        found = [th for th in run.threads if th["comm"] == "sleeper"]
        t.equal(f"{name}: threads", len(found), 3)
        for thread in found:
            t.equal(f"{name}: sleep calls", thread["syscall_counts"].get("clock_nanosleep"), 20)
            t.between(f"{name}: wakeups", thread["wakeups"] + thread["cancelled_sleeps"], 19, 21)
            t.check(thread["exit_ns"], f"{name}: {thread['tid']} was not seen to end")


@case("""
sleeper 1000000 20000 &
pid=$!
wakewhy attach -a --kernel -s -d 2 -o out.json
kill $pid
""")
def the_whole_machine_is_measured(t, left):
    run = measured(t, left)
    kernel = [th for th in run.threads if th["kernel_thread"]]
    t.check(len(kernel) > 10, f"{len(kernel)} threads of the kernel")
    t.check(sum(th["wakeups"] for th in kernel) > 0, "no thread of the kernel woke")
    sleeper = run.thread(comm="sleeper")
    t.between("wakeups of the sleeper", sleeper["wakeups"], FEW, most_sleeps(run))


@case("""
sleeper 1000000 20000 &
pid=$!
wakewhy attach --backend proc -p $pid -d 2 -o out.json
kill $pid
""")
def without_probes_the_kernels_own_figures_are_read(t, left):
    run = measured(t, left, backend="proc")
    t.between("voluntary switches", run["totals"]["switches_voluntary"], FEW, most_sleeps(run))
