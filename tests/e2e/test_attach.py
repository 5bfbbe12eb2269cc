"""Live processes, watched for a window: its two edges, who is in it, and what ends it."""

import os
import subprocess

from harness import Skip, test
from test_counts import (
    check_sums,
    check_trusted,
    kernel_less_ns,
    kernel_more_ns,
    since_before,
    sleep_calls,
)
from tool import PID_NAMESPACE, Subject, await_true, children_of, read_text, status_field

S = 1_000_000_000
MS = 1_000_000


@test
def a_spinner_fills_a_window_of_three_seconds(t):
    """It never sleeps, so what is not on-CPU time is run-queue wait: together they are the window,
    whatever else the machine does."""
    spinner = Subject(t.tool, ["spinner", 0], waits=False)
    done = t.tool.attach("-p", spinner.pid, "-d", "3s")
    run = done.run
    own = run.thread(tid=spinner.pid)
    t.equal("status", done.status, 0)
    t.near("window", run["window_ns"], 3 * S, 0.002)
    t.near("on-CPU time and run-queue wait", own["oncpu_ns"] + own["runq_ns"], 3 * S, 0.002)
    t.near("on-CPU time", own["oncpu_ns"] + own["runq_ns"], run["window_ns"], 0, 20000)
    if own["switches_preempted"] == 0:
        t.near("on-CPU time", own["oncpu_ns"], 3 * S, 0.002)
    t.equal("wakeups", own["wakeups"], 0)
    t.equal("starts", own["starts"], 0)
    t.between("active seconds", own["active_seconds"], 3, 4)
    for second in run["series"]["oncpu_ns"]:
        t.between("a second of the series", second, 0, S)
    check_sums(t, run)
    t.equal("losses", run.lost(), {})


@test
def a_sleep_longer_than_the_window_is_no_wakeup(t):
    idler = Subject(t.tool, ["idler", 3], waits=False)
    done = t.tool.attach("-p", idler.pid, "-d", "500ms")
    run = done.run
    t.equal("threads listed", len(run.threads), 3)
    for name in ("wakeups", "oncpu_ns", "runq_ns", "switches_voluntary", "syscalls"):
        t.equal(name, run["totals"][name], 0)
    t.equal("active seconds", run["totals"]["active_seconds"], 0)
    check_trusted(t, run)


@test
def a_sleep_across_the_start_of_the_window_counts_once_it_ends(t):
    sleeper = Subject(t.tool, ["sleeper", 100, 1000])
    attached = t.tool.start_attach("-p", sleeper.pid, "-d", "60s")
    attached.await_window()
    sleeper.go()  # ends the read in which it slept when the window opened: a wakeup of the window
    truth, done = sleeper.truth(), attached.finish()
    own = done.run.thread(tid=sleeper.pid)
    nvcsw = truth["threads"][0]["nvcsw"]
    t.between("wakeups", own["wakeups"], 101, nvcsw + 1)
    t.equal("starts", own["starts"], 0)
    t.equal("sleep calls", sleep_calls(done.run), 100)
    t.check(done.run["window_ns"] < 50 * S, "the window went on when nothing was left to watch")
    check_sums(t, done.run)
    check_trusted(t, done.run)


@test
def switches_in_a_window_equal_the_kernels_exactly(t):
    """All subjects sleep when the window opens and again when it closes, so no switch is cut by an
    edge, and the kernel's counts can be read at leisure."""
    subjects = [
        Subject(t.tool, argv, stay=True)
        for argv in (["sleeper", 500, 2000], ["sleeper", 100, 5000], ["spinner", 400, 1],
                     ["spinner", 400, 1], ["cancel", 5000])
    ]

    def kernel():
        for subject in subjects:
            subject.await_asleep()
        return [
            (status_field(s.pid, "voluntary_ctxt_switches"),
             status_field(s.pid, "nonvoluntary_ctxt_switches"),
             *map(int, read_text(f"/proc/{s.pid}/schedstat").split()[:2]))
            for s in subjects
        ]

    before = kernel()
    attached = t.tool.start_attach("-p", ",".join(str(s.pid) for s in subjects), "-d", "60s")
    attached.await_window()
    for subject in subjects:
        subject.go()
    for subject in subjects:
        subject.await_ready()
    after = kernel()
    attached.signal(2)
    run = attached.finish().run
    for subject, old, new in zip(subjects, before, after):
        own = run.thread(tid=subject.pid)
        name = " ".join(map(str, subject.process.args[-2:]))
        t.equal(f"voluntary of {name}", own["switches_voluntary"], new[0] - old[0])
        t.equal(f"preempted of {name}", own["switches_preempted"], new[1] - old[1])
        t.equal(f"wakeups of {name}", own["wakeups"], new[0] - old[0])
        kernel_ns = new[2] - old[2]
        t.between(f"on-CPU time of {name}", own["oncpu_ns"],
                  kernel_ns * 0.995 - kernel_more_ns(own),
                  kernel_ns * 1.005 + kernel_less_ns(own) + 0.5 * MS)
        check_wait_against_kernel(t, run, name, own, kernel_ns + new[3] - old[3])
    check_sums(t, run)
    check_trusted(t, run)


def check_wait_against_kernel(t, run, name, own, kernel_ns):
    """On-CPU time and run-queue wait together: what the two shift between them cancels out. The
    kernel's wait begins later than the waking, and it forgets the wait of a thread that was
    preempted on its way to sleep. Where it traced no switch it traced no waking either, so the
    begin of a wait or two may be missing from ours."""
    missing_ns = (3 + run["trust"]["inferred_switches"]) * own["runq_max_ns"]
    if not run["trust"]["inferred_switches"]:
        missing_ns = 0
    both = own["oncpu_ns"] + own["runq_ns"]
    t.check(both >= kernel_ns * 0.98 - 0.5 * MS - missing_ns,
            f"on-CPU time and run-queue wait of {name}: {both}, the kernel has {kernel_ns}")
    t.check(both <= run["window_ns"], f"on-CPU time and run-queue wait of {name} beyond the window")


@test
def three_hundred_threads_a_second_are_all_seen_to_start(t):
    spawner = Subject(t.tool, ["spawner", 300, 5])
    attached = t.tool.start_attach("-p", spawner.pid, "-d", "60s")
    attached.await_window()
    spawner.go()
    said, done = spawner.truth()["said"], attached.finish()
    run = done.run
    short = [th for th in run.threads if th["tid"] != spawner.pid]
    t.equal("starts", sum(th["starts"] for th in short), said["started"])
    t.equal("threads listed", len(short), said["started"])
    t.equal("getppid", run.calls("getppid"), said["getppid"])
    check_sums(t, run)
    check_trusted(t, run)


@test
def processes_by_name_are_found_now_and_later(t):
    first = Subject(t.tool, ["sleeper", 50, 1000])
    attached = t.tool.start_attach("-n", "sleep*", "-d", "60s")
    attached.await_window()
    second = Subject(t.tool, ["sleeper", 50, 1000])
    first.go()
    second.go()
    first.truth()
    second.truth()
    attached.signal(2)
    run = attached.finish().run
    for subject in (first, second):
        own = run.thread(tid=subject.pid)
        t.between(f"wakeups of {subject.pid}", own["wakeups"], 50, 60)
    t.equal("losses", run.lost(), {})


# So many begin in a second that some always do while the books are closed.
@test
def who_begins_after_the_window_is_not_in_it(t):
    storm = subprocess.Popen(["sh", "-c", 'while :; do "$0" 0 0 & "$0" 0 0 & wait; done', t.tool.subject("sleeper")])
    t.cleanup(storm.wait)
    t.cleanup(storm.kill)
    for _ in range(3):
        run = t.tool.attach("-n", "sleep*", "-d", 0.2).run
        end_ns = run["start_ns"] + run["window_ns"]
        t.check(run.threads, "nobody was followed")
        t.equal("started after the window", [th["tid"] for th in run.threads if th["start_ns"] > end_ns], [])


def make_cgroup(t):
    for line in read_text("/proc/self/mountinfo").splitlines():
        words = line.split()
        if words[words.index("-") + 1] == "cgroup2":
            path = os.path.join(words[4], f"wakewhy-e2e-{os.getpid()}")
            break
    else:
        raise Skip("no cgroup2 file system is mounted")
    os.mkdir(path)
    t.cleanup(os.rmdir, path)
    return path


def move(pid, cgroup):
    with open(os.path.join(cgroup, "cgroup.procs"), "w", encoding="ascii") as file:
        file.write(str(pid))


@test
def a_cgroup_holds_the_woken_threads_and_not_their_wakers(t):
    cgroup = make_cgroup(t)
    inside = Subject(t.tool, ["sleeper", 100, 1000])
    outside = Subject(t.tool, ["sleeper", 100, 1000])
    move(inside.pid, cgroup)
    attached = t.tool.start_attach("-c", cgroup, "-d", "60s")
    attached.await_window()
    inside.go()
    outside.go()
    inside.truth()
    outside.truth()
    attached.signal(2)
    run = attached.finish().run
    t.between("wakeups inside", run.thread(tid=inside.pid)["wakeups"], 100, 106)
    t.equal("threads outside", run.threads_of(tid=outside.pid), [])
    t.equal("threads", len(run.threads), 1)
    t.equal("losses", run.lost(), {})


@test
def the_whole_machine_has_every_process_in_it(t):
    sleeper = Subject(t.tool, ["sleeper", 100, 1000])
    spinner = Subject(t.tool, ["spinner", 300])
    attached = t.tool.start_attach("--all", "-d", "60s")
    attached.await_window()
    sleeper.go()
    spinner.go()
    truth, spun = sleeper.truth(), spinner.truth()
    attached.signal(2)
    done = attached.finish()
    run = done.run
    t.between("wakeups", run.thread(tid=sleeper.pid)["wakeups"], 101, 105)
    t.equal("sleep calls", sleep_calls(run, run.threads_of(tid=sleeper.pid)), 100)
    own, said = run.thread(tid=spinner.pid), spun["threads"][0]
    t.between("on-CPU time", own["oncpu_ns"], since_before(said, "cpu_ns") * 0.995 - 1 * MS,
              said["cpu_ns"] * 1.005 + kernel_less_ns(own) + 2 * MS)
    t.check(truth["pid"] in {th["pid"] for th in run.threads}, "the sleeper is missing")
    t.check(os.getpid() in {th["pid"] for th in run.threads}, "the test itself is missing")
    t.check(all(th["comm"] != "kthreadd" for th in run.threads), "kernel threads are in it")
    t.check("spinner" in done.out, "the text has no row for the spinner")
    check_sums(t, run)


@test
def children_are_left_out_on_demand(t):
    for option, wanted in (((), 3000), (("--no-follow",), 0)):
        server = Subject(t.tool, ["server", "fork", 3, 1000])
        attached = t.tool.start_attach("-p", server.pid, "-d", "60s", *option)
        attached.await_window()
        server.go()
        server.truth()
        t.equal(f"getppid with {option}", attached.finish().run.calls("getppid"), wanted)


@test
def a_process_that_is_not_there_is_named(t):
    child = subprocess.Popen(["true"])
    child.wait()
    done = t.tool.call("attach", "-p", child.pid, "-d", "1s")
    t.equal("status", done.status, 1)
    t.check(str(child.pid) in done.err, f"the pid is not in the message: {done.err!r}")


@test
def a_namespaces_own_ids_are_understood_inside_it(t):
    inside = Subject(t.tool, ["sleeper", 100, 1000], prefix=PID_NAMESPACE)
    t.equal("pid inside", inside.inner_pid, 1)
    await_true(lambda: children_of(inside.process.pid), "unshare to have a child")
    (outer,) = children_of(inside.process.pid)
    attached = t.tool.start_attach("-p", outer, "-d", "60s")
    attached.await_window()
    inside.go()
    inside.truth()
    run = attached.finish().run
    t.between("wakeups", run.thread(pid=outer, tid=outer)["wakeups"], 101, 106)
    t.equal("sleep calls", sleep_calls(run), 100)

    script = (
        'set -e; mkfifo "$1/go"; "$2" --truth "$1/inner.json" --go 3 100 1000 3<>"$1/go" & pid=$!;'
        ' "$3" attach -p $pid -d 60s -o "$1/inner-run.json" & tool=$!;'
        ' while ! grep -q "^\\(7\\|271\\|232\\|281\\|441\\|73\\|22\\) " /proc/$tool/syscall; do :; done;'
        ' echo $pid >"$1/pid"; echo go >"$1/go"; wait $pid; wait $tool'
    )
    done = subprocess.run(
        [*PID_NAMESPACE, "sh", "-c", script, "sh", t.root,
         t.tool.subject("sleeper"), t.tool.binary],
        capture_output=True, text=True, timeout=60,
    )
    if not t.equal(f"status inside ({done.stderr})", done.returncode, 0):
        return
    pid = int(read_text(t.path("pid")))
    run = t.tool.load(t.path("inner-run.json"))
    own = run.thread(pid=pid, tid=pid)
    t.between("wakeups seen from inside", own["wakeups"], 100, 106)
    t.equal("sleep calls seen from inside", sleep_calls(run), 100)


@test
def run_inside_a_namespace_tells_its_ids(t):
    prefix = PID_NAMESPACE
    done = t.tool.run(["getppid", 2, 1000], prefix=prefix)
    t.between("the subject's own pid", done.truth["pid"], 2, 50)
    for said in done.truth["threads"]:
        own = done.run.thread(pid=done.truth["pid"], tid=said["tid"])
        t.equal("getppid", own["syscall_counts"].get("getppid", 0), said["count"])
    check_trusted(t, done.run)
