"""What may befall a window: targets killed, stopped or out of memory, wakewhy itself killed at any point, a CPU
taken away, a clock set. The figures stay whole or say what they lack, and nothing is left behind."""

import json
import os
import re
import signal
import subprocess
import time

from harness import LONG, Skip, test
from standing import Standing, check_exact
from test_counts import check_sums, check_trusted
from test_ends import check_gone, check_kernel_is_clean, descendants
from test_storms import CPUS, Window, check_whole
from tool import Subject, await_true, is_alive, need_program, read_text

S = 1_000_000_000


# ---- targets ----------------------------------------------------------------------------------------


def states(pid):
    return {read_text(f"/proc/{pid}/task/{tid}/stat").rpartition(")")[2].split()[0]
            for tid in os.listdir(f"/proc/{pid}/task")}


def reap(subject):
    """Its status as a shell has it, and the kernel's sums over its whole life."""
    _pid, status, usage = os.wait4(subject.pid, 0)
    subject.process.returncode = os.waitstatus_to_exitcode(status)
    return 128 - subject.process.returncode, usage


@test
def a_target_that_is_killed_ends_the_window_and_is_whole(t):
    """The kernel adds each thread to its process before the thread's very last switch, and before it may be
    preempted on the way there, which happens when many end at once."""
    subject = Subject(t.tool, ["storm", "naps", 20, 0, 1000, 3600])
    before = Standing([subject.pid])
    attached = t.tool.start_attach("-p", subject.pid, "-d", "1h", "-q")
    attached.await_window()
    subject.go()
    await_true(lambda: switches_now(subject.pid) > before.total(0) + before.total(1) + 2000, "naps")
    os.kill(subject.pid, signal.SIGKILL)
    status, usage = reap(subject)
    done = attached.finish()
    run = done.run
    t.equal("status", done.status, 0)
    t.equal("exit statuses", ([p["exit_status"] for p in run["processes"]], status), ([137], 137))
    threads, totals = len(run.threads), run["totals"]
    t.between("voluntary less rusage's",
              totals["switches_voluntary"] - (usage.ru_nvcsw - before.total(0)), threads - 1, threads)
    t.between("preempted less rusage's",
              totals["switches_preempted"] - (usage.ru_nivcsw - before.total(1)), 0, 2 * threads)
    check_sums(t, run)
    check_whole(t, run)


def switches_now(pid):
    """By the kernel, of threads that do not stand."""
    total = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        for line in read_text(f"/proc/{pid}/task/{tid}/status").splitlines():
            if "ctxt_switches" in line:
                total += int(line.split()[1])
    return total


@test
def a_target_that_is_stopped_all_the_time_does_nothing(t):
    subject = Subject(t.tool, ["storm", "naps", 20, 0, 1000, 3600])
    subject.go()
    os.kill(subject.pid, signal.SIGSTOP)
    await_true(lambda: states(subject.pid) == {"T"}, "all threads to be stopped")
    run = t.tool.attach("-p", subject.pid, "-d", "300ms", "-q").run
    t.equal("threads", len(run.threads), 21)
    for name in ("wakeups", "oncpu_ns", "runq_ns", "switches_voluntary", "switches_preempted",
                 "syscalls"):
        t.equal(name, run["totals"][name], 0)
    t.equal("states", states(subject.pid), {"T"})
    check_trusted(t, run)


@test
def a_target_that_is_stopped_for_a_while_is_exact(t):
    subject = Subject(t.tool, ["storm", "naps", 20, 300, 1000], stay=True)
    window = Window(t, [subject])
    for _ in range(5):
        os.kill(subject.pid, signal.SIGSTOP)
        await_true(lambda: states(subject.pid) == {"T"}, "all threads to be stopped")
        os.kill(subject.pid, signal.SIGCONT)
    run, _since = window.end()
    check_whole(t, run)


def make_small_group(t):
    """A cgroup with 32 MB for its processes, of either version; the file that a process joins by."""
    for line in read_text("/proc/self/mountinfo").splitlines():
        words = line.split()
        kind, options, root = words[words.index("-") + 1], words[-1], words[4]
        if kind == "cgroup" and "memory" in options.split(","):
            limit = "memory.limit_in_bytes"
        elif kind == "cgroup2" and "memory" in read_text(f"{root}/cgroup.subtree_control").split():
            limit = "memory.max"
        else:
            continue
        path = os.path.join(root, f"wakewhy-e2e-{os.getpid()}")
        try:
            os.mkdir(path)
        except OSError as error:
            raise Skip(f"no cgroup can be made in {root}: {error}") from error
        t.cleanup(remove_group, path)
        with open(os.path.join(path, limit), "w", encoding="ascii") as file:
            file.write(str(32 << 20))
        return os.path.join(path, "cgroup.procs")
    raise Skip("no cgroup controller for memory is mounted")


def remove_group(path):
    await_true(lambda: not read_text(f"{path}/cgroup.procs"), f"{path} to be empty")
    os.rmdir(path)


@test
def a_command_that_runs_out_of_memory_is_told_like_any_that_was_killed(t):
    procs = make_small_group(t)
    script = f"echo $$ > {procs}; exec tail /dev/zero"
    done = t.tool.start_run(["sh", "-c", script], ["-q"]).finish()
    t.equal("status", done.status, 137)
    t.equal("exit status", done.run["exit_status"], 137)
    t.equal("processes", [(p["comm"], p["exit_status"]) for p in done.run["processes"]][-1:],
            [("tail", 137)])
    t.between("peak memory", done.run["startup"]["max_rss_bytes"] if done.run["startup"] else 32 << 20,
              1 << 20, 40 << 20)
    check_sums(t, done.run)
    check_trusted(t, done.run)


# ---- wakewhy itself, killed after any of its calls ----------------------------------------------------


def count_calls(t, argv, environment):
    """How often an undisturbed wakewhy makes each system call, in its first thread."""
    path = t.path("strace")
    subprocess.run(["strace", "-o", path, *argv], stdout=subprocess.DEVNULL, check=True, timeout=120,
                   stderr=subprocess.DEVNULL, env=environment)
    counts = {}
    for line in read_text(path).splitlines():
        call = re.match(r"([a-z_0-9]+)\(", line)  # not a signal, nor how it ended
        if call:
            counts[call[1]] = counts.get(call[1], 0) + 1
    os.unlink(path)
    return counts


class Stopped:
    """wakewhy, stopped where it returns from its nth call of that name; pid None: it ended before."""

    def __init__(self, t, argv, name, nth, environment):
        trace = t.path("trace")
        self.strace = subprocess.Popen(
            ["strace", "-o", trace, "-e", f"inject={name}:signal=SIGSTOP:when={nth}", *argv],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
            env=environment, start_new_session=True)
        t.cleanup(self.kill)
        await_true(lambda: self.strace.poll() is not None
                   or "--- stopped by SIGSTOP ---" in read_text(trace), f"{name} {nth}", 60)
        self.trace = read_text(trace)
        os.unlink(trace)
        self.pid = None
        if self.strace.poll() is None:
            with open(f"/proc/{self.strace.pid}/task/{self.strace.pid}/children", encoding="ascii") as f:
                (self.pid,) = map(int, f.read().split())

    def kill(self):
        """wakewhy and not strace, which ends with it: our children may not learn of strace."""
        if self.pid and self.strace.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
        try:
            self.strace.wait(20)
        except subprocess.TimeoutExpired:
            self.strace.kill()
            self.strace.wait()


def held_ids(pid):
    """Ids of what a process holds in the kernel, links too."""
    ids = {"prog": set(), "map": set(), "link": set()}
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        for line in read_text(f"/proc/{pid}/fdinfo/{fd}").splitlines():
            name, _, value = line.partition(":")
            if name in ("prog_id", "map_id", "link_id"):
                ids[name[:-3]].add(int(value))
    return {kind: held for kind, held in ids.items() if held}


def check_outputs(t, where, paths):
    """Each is whole or not there, and nothing lies beside them."""
    for path in paths:
        if not os.path.exists(path):
            continue
        if path.endswith(".json"):
            with open(path, "rb") as file:
                json.load(file)
        else:
            t.equal(f"{where}: report of {path}", t.tool.call("report", path).status, 0)
        os.unlink(path)
    known = {os.path.basename(path) for path in paths}
    left = [n for n in os.listdir(t.root) if n not in known and n not in ("ran", "tmp")]
    t.equal(f"{where}: files left", left, [])


def forget_ran(t):
    if os.path.exists(t.path("ran")):
        os.unlink(t.path("ran"))


def kill_after(t, argv, name, nth, outputs):
    """One point. The command must not have run unless its gate was opened while we watched."""
    environment = {**os.environ, "TMPDIR": t.path("tmp")}
    stopped = Stopped(t, argv, name, nth, environment)
    where = f"{name} {nth}"
    if stopped.pid is None:
        check_outputs(t, where, outputs)
        forget_ran(t)
        return False
    ids, family = held_ids(stopped.pid), descendants(stopped.pid)
    stopped.kill()
    failures = len(t.failures)
    check_gone(t, family)
    check_kernel_is_clean(t, ids)
    if not re.search(r"^sendto\(.*MSG_NOSIGNAL", stopped.trace, re.M):
        t.check(not os.path.exists(t.path("ran")), "the command ran past its gate")
    check_outputs(t, where, outputs)
    try:
        await_true(lambda: not os.listdir(t.path("tmp")), "TMPDIR to be empty", 10)
    except AssertionError as error:
        t.failures.append(f"{error}: {os.listdir(t.path('tmp'))}")
    forget_ran(t)
    t.failures[failures:] = [f"killed after {where}: {text}" for text in t.failures[failures:]]
    return True


def kill_everywhere(t, argv, outputs, points):
    """points: {call: where among all of that name, as shares}. The long form takes many of each call."""
    need_program("strace")
    os.mkdir(t.path("tmp"))
    os.chmod(t.path("tmp"), 0o1777)
    counts = count_calls(t, argv, {**os.environ, "TMPDIR": t.path("tmp")})
    check_outputs(t, "undisturbed", outputs)
    t.check(os.path.exists(t.path("ran")) or "idle" in argv, "the command did not run undisturbed")
    forget_ran(t)
    chosen = []
    for name, n in counts.items():
        if LONG:
            chosen += [(name, nth) for nth in range(1, n + 1, max(n // 12, 1))]
        else:
            chosen += sorted({(name, 1 + round((n - 1) * share)) for share in points.get(name, ())})
    stopped = sum(kill_after(t, argv, name, nth, outputs) for name, nth in chosen)
    t.check(stopped > len(chosen) // 2, f"stopped at {stopped} of {len(chosen)} points alone")


@test(long_s=1800)
def killed_after_any_call_run_leaves_nothing_and_runs_nothing_unseen(t):
    outputs = [t.path("out.json"), t.path("out.wkw")]
    argv = [t.tool.binary, "run", "-q", "-o", outputs[0], "-o", outputs[1], "--", "sh", "-c",
            f": > {t.path('ran')}"]
    kill_everywhere(t, argv, outputs, {"bpf": (0.5, 1), "clone": (1,), "pidfd_open": (1,),
                                       "sendto": (1,), "ppoll": (1,), "linkat": (0, 1)})


@test(long_s=1800)
def killed_after_any_call_idle_leaves_no_process_and_no_directory(t):
    outputs = [t.path("out.json")]
    argv = [t.tool.binary, "idle", "-q", "-d", "100ms", "-o", outputs[0], "floor"]
    kill_everywhere(t, argv, outputs, {"clone": (0, 1), "sendto": (0, 1), "ppoll": (1,)})


@test
def a_command_that_is_killed_at_its_gate_is_named(t):
    need_program("strace")
    argv = [t.tool.binary, "run", "-q", "-o", t.path("out.json"), "--", "sh", "-c", f": > {t.path('ran')}"]
    err = t.path("err")
    with open(err, "wb") as file:
        strace = subprocess.Popen(["strace", "-o", t.path("trace"), "-e",
                                   "inject=pidfd_open:signal=SIGSTOP:when=1", *argv], stderr=file,
                                  start_new_session=True)
    t.cleanup(strace.wait)
    t.cleanup(os.killpg, strace.pid, signal.SIGKILL)
    await_true(lambda: "--- stopped by SIGSTOP ---" in read_text(t.path("trace")), "wakewhy to stop")
    (pid,) = map(int, read_text(f"/proc/{strace.pid}/task/{strace.pid}/children").split())
    (gated,) = descendants(pid)
    os.kill(gated, signal.SIGKILL)
    os.kill(pid, signal.SIGCONT)
    t.equal("status", strace.wait(30), 1)
    # It may have come to the gate before.
    t.check(re.search("was killed before it was started|is not there to be followed", read_text(err)),
            f"said: {read_text(err)!r}")
    t.check(not os.path.exists(t.path("out.json")) and not os.path.exists(t.path("ran")),
            f"left: {os.listdir(t.root)}")
    t.cleanups.pop()


# ---- the machine: in the long form alone, for they disturb what else runs -----------------------------


@test(long_s=300, only_long=True)
def a_cpu_that_is_taken_away_and_comes_back_loses_no_count(t):
    cpu = max(os.sched_getaffinity(0))
    switch = f"/sys/devices/system/cpu/cpu{cpu}/online"
    if CPUS < 2 or not os.access(switch, os.W_OK):
        raise Skip(f"{switch} cannot be written")

    def turn(text):
        with open(switch, "w", encoding="ascii") as file:
            file.write(text)

    subjects = [Subject(t.tool, argv, stay=True)
                for argv in (["storm", "relay", 2 * CPUS, 0, 0, 3], ["storm", "naps", 50, 0, 1000, 3],
                             ["storm", "timers", CPUS, 0, 1000, 3])]
    window = Window(t, subjects)
    t.cleanup(turn, "1")
    try:
        turn("0")
    except OSError as error:
        raise Skip(f"CPU {cpu} cannot be taken away: {error}") from error
    t.equal("online", read_text(switch).strip(), "0")
    turn("1")
    run, _since = window.end()
    t.equal("online", read_text(switch).strip(), "1")
    t.check(run["noise"]["cpus_online"] == CPUS if "noise" in run.data else True, "CPUs online")
    check_whole(t, run)


@test(long_s=300, only_long=True)
def a_wall_clock_that_is_set_changes_no_figure(t):
    """An hour back and forth again within a millisecond, fifty times."""
    subject = Subject(t.tool, ["storm", "naps", 20, 0, 1000, 2], stay=True)
    window = Window(t, [subject])
    for _ in range(50):
        wall, steady = time.clock_gettime_ns(time.CLOCK_REALTIME), time.monotonic_ns()
        try:
            time.clock_settime_ns(time.CLOCK_REALTIME, wall - 3600 * S)
        except PermissionError as error:
            raise Skip(f"the clock cannot be set: {error}") from error
        time.clock_settime_ns(time.CLOCK_REALTIME, wall + time.monotonic_ns() - steady)
    run, _since = window.end()
    outer_ns = window.closed_ns - window.opened_ns
    t.between("window less the time around it", run["window_ns"] - outer_ns, -1 * S, 5 * S)
    check_whole(t, run)
