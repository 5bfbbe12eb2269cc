"""Exact under load: crowds, storms of forks, switches, timers and execs, other tools on the same hooks, and
hours of a mixed load. In seconds here; the long form of the same tests is `make storms`."""

import collections
import os
import platform
import signal
import subprocess
import time

from harness import Skip, long_or_short, test
from standing import Standing, check_exact
from test_counts import check_sums, sleep_calls
from tool import (
    MOUNT_NAMESPACE,
    PID_NAMESPACE,
    Subject,
    await_true,
    need_program,
    read_text,
    readable,
    status_field,
)

S = 1_000_000_000
MS = 1_000_000
CPUS = len(os.sched_getaffinity(0))
PARENTS = 200
# A process has two causes at least, its birth and its parent's wake at its end.
ROOM = long_or_short(["--max-threads", "65536"], [])


def check_whole(t, run):
    """Trusted, and nothing lost that a figure is made of: copies of stacks may be, frame pointers stand in."""
    t.check(run["trust"]["ok"], f"not trusted: {run['trust']['reasons']}")
    t.equal("losses", {name: n for name, n in run.lost().items() if name != "copies"}, {})


def check_counts(t, run):
    """The same, the kernel's on-CPU time aside: of threads this short, preempted by others all the time, it
    charges more to the others than its limit allows for."""
    doubts = [reason for reason in run["trust"]["reasons"] if not reason.startswith("on-CPU time")]
    t.equal("doubts", doubts, [])
    t.equal("losses", run.lost(), {})


def tell(text):
    """A figure of this machine, for who runs the long form by hand."""
    print(f"# {text}", flush=True)


class Window:
    """A window over subjects that stand asleep at both of its ends."""

    def __init__(self, t, subjects, *options):
        self.t, self.subjects = t, subjects
        self.pids = [s.pid for s in subjects]
        self.before = Standing(self.pids)
        self.attached = t.tool.start_attach("-p", ",".join(map(str, self.pids)), "-d", "24h", "-q",
                                            *options)
        self.attached.await_window()
        self.opened_ns = time.monotonic_ns()
        for subject in subjects:
            subject.go()

    def end(self):
        """When all stand again: the run, and what the kernel counted for each thread."""
        for subject in self.subjects:
            subject.await_ready()
        after = Standing(self.pids)
        self.closed_ns = time.monotonic_ns()
        self.attached.signal(signal.SIGINT)
        self.done = self.attached.finish(300)
        since = check_exact(self.t, self.done.run, self.before, after)
        check_sums(self.t, self.done.run)
        return self.done.run, since

    def rate(self, run):
        """Context switches a second."""
        return (run["totals"]["switches_voluntary"] + run["totals"]["switches_preempted"]) * S / (
            run["window_ns"])


# ---- threads --------------------------------------------------------------------------------------


@test(long_s=900)
def ten_thousand_threads_are_exact_one_by_one(t):
    limit = min(int(read_text("/proc/sys/kernel/threads-max")),
                int(read_text("/proc/sys/kernel/pid_max")))
    threads, naps = min(10000, limit * 3 // 4), long_or_short(100, 3)
    window = Window(t, [Subject(t.tool, ["storm", "naps", threads, naps, 20000], stay=True)])
    run, since = window.end()
    t.equal("threads", (len(run.threads), len(since)), (threads + 1, threads + 1))
    t.equal("sleep calls", sleep_calls(run), threads * naps)
    # From standing, and from each nap.
    kernel = sum(now[0] for now in since.values())
    t.between("wakeups by the kernel", kernel, threads * (naps + 1) - threads // 100,
              threads * (naps + 1) + 10)
    check_whole(t, run)


@test(long_s=300)
def switches_as_fast_as_this_machine_can_are_exact(t):
    argv = ["storm", "relay", 2 * CPUS, *long_or_short((0, 0, 20), (100000, 0))]
    window = Window(t, [Subject(t.tool, argv, stay=True)])
    run, since = window.end()
    switches = sum(now[0] + now[1] for now in since.values())
    t.equal("switches", run["totals"]["switches_voluntary"] + run["totals"]["switches_preempted"],
            switches)
    t.between("switches", switches, 2 * 100000, 10**12)
    tell(f"{window.rate(run):,.0f} switches a second, {switches:,} in all")
    check_whole(t, run)


@test(long_s=300)
def timers_of_a_kilohertz_on_each_cpu_are_exact(t):
    """Two kinds of timers, so that expiries fall into and between each other's interrupts."""
    ends = long_or_short((0, 1000, 30), (1500, 1000))
    subjects = [Subject(t.tool, ["storm", kind, 2 * CPUS, *ends], stay=True)
                for kind in ("timers", "signals")]
    window = Window(t, subjects)
    run, since = window.end()
    for subject in subjects:
        for said in subject.truth_so_far()["threads"]:
            if said["role"] != "main":
                # Once more to leave its stand; less where the next expiry was there already.
                t.between(f"wakeups of {said['role']} {said['tid']}", since[said["tid"]][0],
                          said["count"] // 4, said["count"] + 10)
    tell(f"{run['totals']['wakeups'] * S / run['window_ns']:,.0f} wakeups a second by timers")
    check_whole(t, run)


# ---- processes ------------------------------------------------------------------------------------


def check_forks(t, run, truth, parents, count):
    """Every child is there once, with its calls and its status, as its parent forked it."""
    said = truth["said"]
    t.equal("forked", said["forked"], count)
    t.equal("processes", len({(p["pid"], p["start_ns"]) for p in run["processes"]}),
            1 + parents + count)
    t.equal("threads", len(run.threads), 1 + parents + count + said["threads"])
    t.equal("starts", run_sum(run, "starts"), len(run.threads))
    t.equal("getppid", run.calls("getppid"), said["getppid"])
    per_parent = [range(number, count, parents) for number in range(parents)]
    statuses = collections.Counter(k % 200 for ks in per_parent for k in range(len(ks)))
    statuses[0] += 1 + parents
    t.equal("exit statuses", collections.Counter(p["exit_status"] for p in run["processes"]), statuses)


def run_sum(run, name):
    return sum(th[name] for th in run.threads)


@test
def the_dead_are_read_in_time_on_a_machine_that_is_full(t):
    """Two hundred parents that want both CPUs, and slots for a third of their children: whoever reads the dead
    comes first."""
    done = t.tool.run(["forks", PARENTS, 0, 1500, "-"], ["-q", "--stacks=no", "--max-threads", "500"],
                      limit_s=140)
    check_forks(t, done.run, done.truth, PARENTS, 1500)
    t.equal("lost", done.run.lost(), {})


@test
def the_observer_comes_first_and_its_children_as_ever(t):
    """Its own nice value, and that of its command, beside the one that both were started with."""
    for nice, own, of_child in ((0, -20, 0), (3, 3, 3), (-2, -2, -2)):
        script = "cut -d' ' -f19 /proc/$PPID/stat; nice"
        done = subprocess.run(["nice", "-n", str(nice), t.tool.binary, "run", "-q", "-o", t.path("out.json"),
                               "--", "sh", "-c", script], capture_output=True, text=True, timeout=60)
        t.equal(f"nice values when started with {nice}", done.stdout.split(), [str(own), str(of_child)])


@test(long_s=2000)
def forks_of_two_hundred_parents_are_all_counted(t):
    rate, count = 2000, long_or_short(60000, 2000)
    done = t.tool.run(["forks", PARENTS, rate, count, "-"], ["-q", *ROOM], limit_s=long_or_short(1900, 140))
    check_forks(t, done.run, done.truth, PARENTS, count)
    check_sums(t, done.run)
    check_counts(t, done.run)
    tell(f"{count * S / done.truth['said']['ns']:,.0f} forks a second of {rate:,} asked for")


@test(long_s=300)
def forks_beyond_the_room_for_threads_are_named(t):
    """Whoever is not followed is counted; whom it starts nobody sees."""
    forks = Subject(t.tool, ["forks", PARENTS, 0, 600, "-"])
    attached = t.tool.start_attach("-p", forks.pid, "-d", "24h", "-q", "--max-threads", "64")
    attached.await_window()
    forks.go()
    said, done = forks.truth()["said"], attached.finish()
    run, lost = done.run, done.run.lost()
    t.equal("status", done.status, 5)
    t.equal("what was lost", set(lost), {"threads"})
    t.between("listed and lost", len(run.threads) + lost.get("threads", 0), len(run.threads) + 1,
              1 + PARENTS + said["forked"] + said["threads"])
    t.check(any(f"{lost.get('threads', 0):,} thread" in reason for reason in run["trust"]["reasons"]),
            f"the reasons do not say {lost}: {run['trust']['reasons']}")
    check_sums(t, run)


@test
def a_thousand_execs_find_room_in_the_ring(t):
    done = t.tool.run(["server", "vfork", 1100, 10], ["-q"], limit_s=140)
    images = [p for p in done.run["processes"] if (p["argv"] or [])[:2] == ["server", "child"]]
    t.equal("images", len(images), 1100)
    t.equal("getppid", done.run.calls("getppid"), 1100 * 10)
    check_counts(t, done.run)


@test
def execs_that_find_no_room_are_named(t):
    """wakewhy is stopped, so nobody reads the ring."""
    server = Subject(t.tool, ["server", "vfork", 1100, 10])
    attached = t.tool.start_attach("-p", server.pid, "-d", "24h", "-q")
    attached.await_window()
    attached.signal(signal.SIGSTOP)
    server.go()
    server.truth()
    attached.signal(signal.SIGCONT)
    done = attached.finish()
    run, lost = done.run, done.run.lost()
    t.equal("status", done.status, 5)
    t.equal("what was lost", set(lost), {"events"})
    told = [p for p in run["processes"] if (p["argv"] or [])[:2] == ["server", "child"]]
    t.equal("told and lost", len(told) + lost.get("events", 0), 1100)
    t.equal("processes", len(run["processes"]), 1101)
    t.equal("getppid", run.calls("getppid"), 1100 * 10)
    t.check(any("events were lost" in reason for reason in run["trust"]["reasons"]),
            f"reasons: {run['trust']['reasons']}")


def need_own_pid_max():
    """kernel.pid_max belongs to each pid namespace since 6.14: never to be set anywhere else."""
    version = tuple(int(n) for n in platform.release().split("-")[0].split(".")[:2])
    if version < (6, 14):
        raise Skip("kernel.pid_max is the whole machine's here (before Linux 6.14)")


@test(long_s=300)
def tids_that_are_used_again_and_again_stay_apart(t):
    """In a pid namespace with room for a few hundred ids, each of which serves many processes."""
    need_own_pid_max()
    parents, count, outside = 20, long_or_short(20000, 1000), read_text("/proc/sys/kernel/pid_max")
    log = t.path("children")
    script = 'echo 400 > /proc/sys/kernel/pid_max && exec "$@"'
    done = t.tool.run(["forks", parents, 0, count, log], ["-q"],
                      limit_s=250, prefix=[*PID_NAMESPACE, "sh", "-c", script, "sh"])
    t.equal("pid_max outside", read_text("/proc/sys/kernel/pid_max"), outside)
    check_forks(t, done.run, done.truth, parents, count)
    wanted = collections.Counter(tuple(map(int, line.split())) for line in open(log, encoding="ascii"))
    t.equal("children logged", sum(wanted.values()), count)
    t.between("ids of children", len({pid for pid, _calls, _status in wanted}), 1, 400)
    keys = [(th["pid"], th["tid"], th["start_ns"]) for th in done.run.threads]
    t.equal("threads of one id and one start", len(keys) - len(set(keys)), 0)
    t.equal("children that differ", collections.Counter(told_children(done.run)) - wanted,
            collections.Counter())
    check_counts(t, done.run)


def told_children(run):
    """(pid, getppid calls, exit status) of each process that another than the first one forked."""
    calls = collections.Counter()
    leaders = {}
    for thread in sorted(run.threads, key=lambda th: th["start_ns"]):
        if thread["pid"] == thread["tid"]:
            leaders[thread["pid"]] = thread["start_ns"]
        calls[thread["pid"], leaders[thread["pid"]]] += thread["syscall_counts"].get("getppid", 0)
    first = min(run["processes"], key=lambda p: p["start_ns"])["pid"]
    return [(p["pid"], calls[p["pid"], p["start_ns"]], p["exit_status"]) for p in run["processes"]
            if p["ppid"] not in (0, first) and p["pid"] != first]


# ---- others on the same hooks -----------------------------------------------------------------------

BPFTRACE = """
tracepoint:sched:sched_switch { @switches = count(); }
tracepoint:sched:sched_waking { @wakings[comm] = count(); @stacks[kstack(4)] = count(); }
tracepoint:raw_syscalls:sys_enter { @calls[tid] = count(); }
BEGIN { printf("ready\\n"); }
"""


@test(long_s=300)
def other_tools_on_the_same_hooks_change_no_count(t):
    need_program("bpftrace")
    other = subprocess.Popen([*MOUNT_NAMESPACE, "sh", "-c",
                              'mount -t tracefs tracefs /sys/kernel/tracing; exec "$@"', "sh",
                              "bpftrace", "-e", BPFTRACE],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    t.cleanup(other.wait)
    t.cleanup(other.kill)
    said = b""
    while b"ready\n" not in said:
        line = other.stdout.readline()
        said += line
        if not line:
            raise Skip(f"bpftrace does not run here: {said.decode(errors='replace').strip()}")
    ends = long_or_short((0, 0, 20), (20000, 0))
    subjects = [Subject(t.tool, ["storm", "relay", 2 * CPUS, *ends], stay=True),
                Subject(t.tool, ["storm", "naps", 50, *long_or_short((0, 1000, 20), (100, 1000))],
                        stay=True)]
    second = t.tool.start_attach("-a", "-d", "24h", "-q", "--stacks")
    second.await_window()
    window = Window(t, subjects)
    run, since = window.end()
    second.signal(signal.SIGINT)
    all_of_it = second.finish(120).run
    check_whole(t, run)
    # The second one's window is wider, and the subjects stood still in what is more of it.
    for what in ("switches_voluntary", "switches_preempted", "wakeups"):
        t.equal(f"{what} of the second", [sum(th[what] for th in all_of_it.threads_of(pid=s.pid))
                                          for s in subjects],
                [sum(th[what] for th in run.threads_of(pid=s.pid)) for s in subjects])
    check_whole(t, all_of_it)
    t.check(since and other.poll() is None, "bpftrace ended before the window did")


# ---- soak -------------------------------------------------------------------------------------------

# A thread that has died keeps its figures until the report: its counters and calls, and what was mapped
# where in its process, for the stacks.
DEAD_BYTES = 4096


def soak_seconds():
    return int(os.environ.get("WAKEWHY_SOAK_S", long_or_short(300, 8)))


class Memory:
    """wakewhy's resident memory, looked at now and then while the subjects work."""

    def __init__(self, pid, subject, seconds):
        self.seen = []
        every = max(seconds / 60, 0.25)
        while not readable(subject._ready.fileno(), every):
            self.seen.append((time.monotonic(), status_field(pid, "VmRSS")))

    def told(self):
        tell(f"RSS {self.seen[0][1]} kB to {self.seen[-1][1]} kB, at most {max(kb for _when, kb in self.seen)} kB")
        for when, kb in self.seen[::max(len(self.seen) // 10, 1)]:
            tell(f"  {when - self.seen[0][0]:7.1f} s  {kb} kB")

    def grown_bytes(self):
        """From what it has after a tenth of the time to the end."""
        settled = self.seen[len(self.seen) // 10][1]
        return (self.seen[-1][1] - settled) * 1024


def soak_subjects(t, seconds, *more):
    return [Subject(t.tool, argv, stay=True)
            for argv in (["storm", "naps", 20, 0, 5000, seconds],
                         ["storm", "relay", 2 * CPUS, 0, 1000, seconds],
                         ["storm", "timers", CPUS, 0, 10000, seconds],
                         ["storm", "signals", CPUS, 0, 20000, seconds],
                         *more)]


@test(long_s=soak_seconds() + 600)
def living_threads_take_no_more_memory_with_time(t):
    seconds = soak_seconds()
    subjects = soak_subjects(t, seconds)
    window = Window(t, subjects, *ROOM)
    memory = Memory(window.attached.pid, subjects[0], seconds)
    run, _since = window.end()
    memory.told()
    t.between("bytes that memory grew", memory.grown_bytes(), -(1 << 30), 1 << 20)
    t.check(run["stacks"]["wakeups_with"] > 100 * seconds, f"{run['stacks']['wakeups_with']} wakes with stacks")
    check_whole(t, run)


@test(long_s=soak_seconds() + 600)
def a_mixed_load_is_exact_to_the_end(t):
    seconds = soak_seconds()
    subjects = soak_subjects(t, seconds, ["forks", 4, 20, 10**9, "-", seconds])
    window = Window(t, subjects, *ROOM)
    memory = Memory(window.attached.pid, subjects[0], seconds)
    run, _since = window.end()
    said = subjects[-1].truth_so_far()["said"]
    born = said["forked"] + said["threads"]
    t.equal("threads of forks", len(run.threads),
            sum(len(os.listdir(f"/proc/{pid}/task")) for pid in window.pids) + 4 + born)
    t.equal("getppid", run.calls("getppid"), said["getppid"])
    t.between("bytes that memory grew", memory.grown_bytes(), -(1 << 30), born * DEAD_BYTES + (1 << 20))
    outer_ns = window.closed_ns - window.opened_ns
    t.between("window less the time around it", run["window_ns"] - outer_ns, -1 * S, 5 * S)
    t.equal("seconds of the series", len(run["series"]["wakeups"]), -(-run["window_ns"] // S))
    tell(f"{seconds} s, {len(run.threads):,} threads, {window.rate(run):,.0f} switches a second")
    tell(f"window {run['window_ns']} ns, between its edges by this clock {outer_ns} ns")
    memory.told()
    check_whole(t, run)
