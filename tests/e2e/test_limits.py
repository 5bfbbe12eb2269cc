"""Limits and what wakewhy itself costs: counted, said, and kept small."""

import os
import signal

from harness import test
from test_counts import check_trusted
from tool import Subject, read_text, status_field

MEMORY_LIMIT_KB = 24 * 1000
# The ring of copied stacks, 16 MB, is mapped twice one behind the other and counts as often; the rings of mappings
# and what is known of them come on top.
STACKS_LIMIT_KB = MEMORY_LIMIT_KB + 2 * 16384 + 4000


@test
def more_threads_than_there_is_room_for_are_counted_and_said(t):
    subject = Subject(t.tool, ["idler", 200], waits=False)
    done = t.tool.attach("-p", subject.pid, "-d", "300ms", "--max-threads", "64")
    run = done.run
    lost = run.lost().get("threads", 0)
    t.equal("status", done.status, 5)
    t.equal("threads listed and lost", len(run.threads) + lost, 200)
    t.between("threads listed", len(run.threads), 64, 199)
    t.equal("trusted", run["trust"]["ok"], False)
    t.check(any(str(lost) in reason for reason in run["trust"]["reasons"]),
            f"the reasons do not say {lost}: {run['trust']['reasons']}")
    head = "\n".join(done.out.strip().splitlines()[:4])
    t.check(str(lost) in head and "thread" in head, f"the first lines do not say it: {head!r}")


@test
def a_command_with_too_many_threads_keeps_its_status_and_is_not_trusted(t):
    done = t.tool.run(["crowd", 200, 2, 100000], ["--max-threads", "64"])
    t.equal("status", done.status, 0)
    t.equal("trusted", done.run["trust"]["ok"], False)
    t.between("threads lost", done.run.lost().get("threads", 0), 1, 137)


@test
def the_default_holds_sixteen_thousand_threads(t):
    limit = min(int(read_text("/proc/sys/kernel/threads-max")),
                int(read_text("/proc/sys/kernel/pid_max")))
    count = min(16000, limit * 3 // 4)
    subject = Subject(t.tool, ["idler", count], waits=False)
    done = t.tool.attach("-p", subject.pid, "-d", "500ms", "-q")
    t.equal("threads listed", len(done.run.threads), count)
    t.equal("wakeups", done.run["totals"]["wakeups"], 0)
    check_trusted(t, done.run)


def peak_kb_until_end(started):
    """The peak of wakewhy's resident memory, read as long as it lives."""
    peak = 0
    while started.process.poll() is None:
        peak = max(peak, status_field(started.pid, "VmHWM") or 0)
    return peak


@test
def resident_memory_stays_small(t):
    for threads, stacks, limit_kb in ((1, "no", MEMORY_LIMIT_KB), (1000, "no", MEMORY_LIMIT_KB),
                                      (1000, "k,dwarf", STACKS_LIMIT_KB)):
        subject = Subject(t.tool, ["idler", threads], waits=False)
        attached = t.tool.start_attach("-p", subject.pid, "-d", "60s", "-q", f"--stacks={stacks}")
        attached.await_window()
        attached.signal(signal.SIGINT)
        peak = peak_kb_until_end(attached)
        t.between(f"peak in kB with {threads} threads, stacks {stacks}", peak, 1000, limit_kb)
        subject.kill()


@test
def a_window_without_a_terminal_costs_no_wakeups_of_ours(t):
    subject = Subject(t.tool, ["sleeper", 100000000, 1000])
    subject.go()
    attached = t.tool.start_attach("-p", subject.pid, "-d", "60s", "-q")
    attached.await_window()

    def slept():
        return sum(status_field(f"{attached.pid}/task/{task}", "voluntary_ctxt_switches")
                   for task in os.listdir(f"/proc/{attached.pid}/task"))

    before = slept()
    subject.await_asleep()
    watch = t.tool.run(["sleeper", 1000, 1000], ["-q"])  # a second and more passes meanwhile
    t.equal("status of the watch", watch.status, 0)
    t.equal("wakeups of wakewhy within the window", slept() - before, 0)
    attached.signal(signal.SIGINT)
    run = attached.finish().run
    t.between("wakeups of wakewhy as it says", run["trust"]["observer"]["wakeups"], 0, 5)
    t.between("its own CPU time in ns", run["trust"]["observer"]["oncpu_ns"], 0, 50_000_000)
    t.between("wakeups of the sleeper", run["totals"]["wakeups"], 500, 10_000_000)
    check_trusted(t, run)
