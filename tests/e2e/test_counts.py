"""Programs whose counts are known in advance, run from their first instruction to their last exit."""

from harness import test

MS = 1_000_000
SLEEP_CALLS = ("nanosleep", "clock_nanosleep")


def sleep_calls(run, threads=None):
    return sum(run.calls(name, threads) for name in SLEEP_CALLS)


def check_trusted(t, run):
    t.check(run["trust"]["ok"], f"not trusted: {run['trust']['reasons']}")
    t.equal("losses", run.lost(), {})


def told_by(truth, role):
    """What the threads of that role said of themselves."""
    return [said for said in truth["threads"] if said["role"] == role]


def own_of(run, truth, role):
    """wakewhy's figures of the one thread of that role."""
    (said,) = told_by(truth, role)
    return run.thread(tid=said["tid"])


def since_before(said, name):
    return said[name] - said["before"][name]


def check_against_kernel(t, run, truth):
    """Each thread's figures against its own reading of the kernel's at its end.

    What it does after that reading is to end: it leaves the CPU for the last time (one voluntary
    switch, to the kernel too), and may be kept waiting or preempted on the way there. The kernel's
    figures of the first thread begin before its exec, or at main() when those "before" are taken
    off; ours begin at the exec, in between."""
    for said in truth["threads"]:
        own = run.thread(tid=said["tid"])
        name = f"{said['role']} {said['tid']}"
        for what, field in (("switches_voluntary", "nvcsw"), ("wakeups", "nvcsw"),
                            ("switches_preempted", "nivcsw")):
            low = since_before(said, field) - (what == "wakeups")
            # Others on the same CPUs may preempt it at each tick of the way out.
            after = 12 if what == "switches_preempted" else 4
            t.between(f"{name}: {what}", own[what], low, said[field] + after)
        check_time_against_kernel(t, run, name, own, said)


def kernel_more_ns(own):
    """How much more on-CPU time than ours the kernel may have for good reasons: it charges a thread
    that wakes up from the moment of its waking where it saves itself a look at the clock, which is
    run-queue wait to us; and at a yield and at a waking that comes too early it saves that look
    too. So it does where a waking makes room for a third thread that was preempted before."""
    switches = own["switches_voluntary"] + own["switches_preempted"]
    waking_ns = own["wakeups"] * 0.1 * MS + own["cancelled_sleeps"] * 0.002 * MS
    waking_ns += own["switches_preempted"] * 0.05 * MS
    return min(own["runq_ns"], waking_ns) + switches * 50 + 0.1 * MS


def kernel_less_ns(own):
    """How much less the kernel may have: what it charges to a thread before its switch-in is missing
    from the one that still ran then."""
    return own["switches_preempted"] * 0.05 * MS + 0.1 * MS


def check_time_against_kernel(t, run, name, own, said):
    """On-CPU time within 0.5 %. Ours has interrupts and stolen time in it, which the kernel's may
    lack, and what the thread did after its reading: one of them writes all the others' figures."""
    later_ns = run["trust"]["noise"]["steal_share"] * run["window_ns"] * 2
    later_ns += 2 * MS + len(run.threads) * 0.05 * MS + kernel_less_ns(own)
    t.between(f"{name}: on-CPU time", own["oncpu_ns"],
              since_before(said, "cpu_ns") * 0.995 - kernel_more_ns(own),
              said["cpu_ns"] * 1.005 + later_ns)


def check_sums(t, run):
    """Identities that hold in any run."""
    names = ("wakeups", "cancelled_sleeps", "oncpu_ns", "runq_ns", "switches_voluntary",
             "switches_preempted", "idle_exits", "migrations", "syscalls")
    for name in names:
        t.equal(f"total of {name}", run["totals"][name], sum(th[name] for th in run.threads))
    for thread in run.threads:
        by_number = sum(thread["syscall_counts"].values())
        apart = thread.get("syscalls_compat", 0) + thread.get("syscalls_invalid", 0)
        t.equal(f"{thread['tid']}: system calls by number", by_number + apart, thread["syscalls"])
        t.between(f"{thread['tid']}: on-CPU and run-queue wait", thread["oncpu_ns"] +
                  thread["runq_ns"], 0, run["window_ns"])
        t.between(f"{thread['tid']}: longest run-queue wait", thread["runq_max_ns"], 0,
                  thread["runq_ns"])
    t.equal("series of wakeups", sum(run["series"]["wakeups"]), run["totals"]["wakeups"])
    t.near("series of on-CPU time", sum(run["series"]["oncpu_ns"]), run["totals"]["oncpu_ns"],
           0, 1000)


@test
def a_sleeper_wakes_as_often_as_it_sleeps(t):
    done = t.tool.run(["sleeper", 500, 2000])
    run, said = done.run, done.truth["threads"][0]
    sleeper = run.thread(tid=said["tid"])
    t.equal("status", done.status, 0)
    t.between("wakeups", sleeper["wakeups"], 499, 501)
    t.equal("starts", sleeper["starts"], 1)
    t.equal("sleep calls", sleep_calls(run), 500)
    check_against_kernel(t, run, done.truth)
    check_sums(t, run)
    check_trusted(t, run)


@test
def a_spinner_never_wakes_and_its_time_is_its_rusage(t):
    done = t.tool.run(["spinner", 2000])
    run = done.run
    spinner = run.thread(tid=done.truth["pid"])
    t.equal("wakeups", spinner["wakeups"], 0)
    t.near("on-CPU time", spinner["oncpu_ns"], done.truth["cpu_ns"], 0.005, kernel_less_ns(spinner))
    check_against_kernel(t, run, done.truth)
    check_sums(t, run)
    check_trusted(t, run)


@test
def a_million_calls_of_four_pinned_threads_are_exactly_a_million_each(t):
    done = t.tool.run(["getppid", 4, 1000000])
    run = done.run
    callers = told_by(done.truth, "caller")
    t.equal("threads that called", len(callers), 4)
    for caller in callers:
        t.equal("getppid", run.thread(tid=caller["tid"])["syscall_counts"].get("getppid"), 1000000)
    t.equal("getppid of all", run.calls("getppid"), 4000000)
    check_against_kernel(t, run, done.truth)
    check_sums(t, run)
    check_trusted(t, run)


@test
def a_thread_that_wakes_up_on_another_cpu_each_time_has_right_sums(t):
    done = t.tool.run(["hopper", 1000])
    run = done.run
    (said,) = told_by(done.truth, "hopper")
    hopper = run.thread(tid=said["tid"])
    t.between("wakeups", hopper["wakeups"], 999, 1001)
    if done.truth["said"]["cpus"] > 1:
        t.between("migrations", hopper["migrations"], 998, 1003)
    t.between("longest wait", hopper["runq_max_ns"], 1, said["schedstat_runq_ns"] + 1 * MS)
    check_against_kernel(t, run, done.truth)
    check_sums(t, run)
    check_trusted(t, run)


@test
def yielding_is_no_sleep(t):
    done = t.tool.run(["yielder", 100000])
    run = done.run
    for said in told_by(done.truth, "yielder"):
        own = run.thread(tid=said["tid"])
        t.equal("sched_yield", own["syscall_counts"].get("sched_yield"), 100000)
        t.between("wakeups", own["wakeups"], 0, said["nvcsw"] + 1)
        t.between("wakeups (the start aside)", own["wakeups"], 0, 2)
        t.between("preempted", own["switches_preempted"], 90000, said["nivcsw"] + 4)
    check_against_kernel(t, run, done.truth)
    check_sums(t, run)
    check_trusted(t, run)


@test
def a_cpu_hog_has_no_wakeups_beside_a_sleeper(t):
    done = t.tool.run(["hog", 200, 2000])
    run = done.run
    hog, sleeper = own_of(run, done.truth, "hog"), own_of(run, done.truth, "sleeper")
    t.between("wakeups of the hog", hog["wakeups"], 0, 2)
    t.between("preempted switches of the hog", hog["switches_preempted"], 150, 100000)
    t.between("wakeups of the sleeper", sleeper["wakeups"], 200, 202)
    check_against_kernel(t, run, done.truth)
    check_sums(t, run)
    check_trusted(t, run)


@test
def sleeps_that_end_before_the_thread_left_its_cpu_are_not_wakeups(t):
    count = 20000
    done = t.tool.run(["cancel", count])
    run = done.run
    (said,) = told_by(done.truth, "main")
    own = run.thread(tid=said["tid"])
    t.equal("clock_nanosleep", run.calls("clock_nanosleep"), count)
    t.between("wakeups", own["wakeups"], since_before(said, "nvcsw") - 1, said["nvcsw"] + 1)
    # Each sleep is woken by its timer; a sleep of another kind may be, too.
    t.between("cancelled sleeps and wakeups", own["cancelled_sleeps"] + own["wakeups"],
              count, count + 10)
    t.between("cancelled sleeps", own["cancelled_sleeps"], 1, count)
    check_against_kernel(t, run, done.truth)
    check_trusted(t, run)


@test
def a_thousand_threads_wake_a_hundred_times_each_and_all_are_listed(t):
    done = t.tool.run(["crowd", 1000, 100, 20000])
    run = done.run
    members = told_by(done.truth, "member")
    t.equal("members", len(members), 1000)
    t.equal("threads listed", len(run.threads), 1001)
    t.equal("starts", sum(th["starts"] for th in run.threads), 1001)
    t.equal("sleep calls", sleep_calls(run), 100000)
    kernel = sum(th["nvcsw"] for th in members)
    own = sum(run.thread(tid=th["tid"])["wakeups"] for th in members)
    t.between("wakeups of the members", own, 100000, kernel + 1000)
    check_against_kernel(t, run, done.truth)
    check_sums(t, run)
    check_trusted(t, run)


WRAPPED = (
    ("sleeper", 200, 1000),
    ("spinner", 300),
    ("getppid", 4, 100000),
    ("hopper", 300),
    ("spawner", 300, 1),
    ("yielder", 20000),
    ("hog", 100, 2000),
    ("cancel", 5000),
    ("crowd", 300, 20, 5000),
    ("leaderless", 50, 0),
)


@test
def switches_equal_those_that_wait4_reports_for_the_whole_process(t):
    """The kernel adds a thread's switches to its process before the thread's very last one. So the
    voluntary ones exceed rusage by one for each thread but the leader, whose last one may or may
    not be over when its parent reads; the preempted ones are equal, unless a thread was preempted
    in between, which is rare."""
    for argv in WRAPPED:
        name = argv[0]
        command = [t.tool.subject(name), *map(str, argv[1:])]
        done = t.tool.run(["wrapper", *command])
        said = done.truth["said"]
        threads = done.run.threads_of(pid=said["child"])
        t.equal(f"{name}: status", said["status"], 0)
        t.between(f"{name}: voluntary less rusage's",
                  sum(th["switches_voluntary"] for th in threads) - said["nvcsw"],
                  len(threads) - 1, len(threads))
        t.between(f"{name}: preempted less rusage's",
                  sum(th["switches_preempted"] for th in threads) - said["nivcsw"], 0,
                  1 + len(threads) // 20)
        check_trusted(t, done.run)
