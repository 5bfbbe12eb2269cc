"""--backend proc: what /proc tells without privileges, against the subjects' own counts; and what it cannot tell."""

import json
import os
import signal

from harness import test
from test_counts import since_before
from test_output import validate
from test_usage import as_nobody
from tool import NOBODY, WAITING_CALLS, Started, Subject, await_true, read_text

MS = 1_000_000
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]


def open_folder(t):
    """A folder that nobody may write to as well."""
    folder = os.path.dirname(t.path("x"))
    os.chmod(folder, 0o777)
    return folder


def start(t, *words):
    """wakewhy as nobody."""
    path = os.path.join(open_folder(t), f"proc-{len(t.cleanups)}.json")
    started = Started(t.tool, [t.tool.public, words[0], "-o", path, *map(str, words[1:])], path,
                      preexec_fn=as_nobody, cwd="/")
    return started


def await_window(started):
    """Until it sleeps in the call in which it waits for the window's end, with its timer."""
    def waiting():
        if started.process.poll() is not None:
            raise AssertionError(f"wakewhy ended: {started.process.communicate()}")
        words = read_text(f"/proc/{started.pid}/syscall").split()
        return words and words[0].isdigit() and int(words[0]) in WAITING_CALLS and any(
            os.readlink(f"/proc/{started.pid}/fd/{fd}") == "anon_inode:[timerfd]"
            for fd in os.listdir(f"/proc/{started.pid}/fd"))

    await_true(waiting, "the window to open")


def check_seen_from_proc(t, done):
    t.equal("backend", done.run["backend"], "proc")
    t.equal("step", done.run["step_ns"], 1_000_000_000)
    t.equal("breaches of the schema", validate(done.document), [])
    t.check(not done.run["syscalls_counted"] and not done.run["causes_counted"], "counted what it cannot see")
    for counters in (done.run["totals"], *done.run.threads):
        for name in ("syscalls", "idle_exits", "migrations", "cancelled_sleeps", "starts", "runq_max_ns"):
            t.equal(name, counters[name], None)
    t.check("no causes" in done.run["trust"]["cannot_see"], "it does not say what it cannot see")


@test(needs_bpf=False)
def without_privileges_switches_are_the_subjects_own(t):
    open_folder(t)
    for prefix in ((), AS_NOBODY):  # somebody else's, and one's own
        subject = Subject(t.tool, ["sleeper", 1500, 1000], prefix=prefix, stay=True)
        attached = start(t, "attach", "-p", subject.process.pid, "-d", "1h")
        await_window(attached)
        subject.go()
        truth_path = subject.truth_path
        await_true(lambda path=truth_path: read_text(path).endswith("\n"), "the subject to be done")
        attached.signal(signal.SIGINT)
        done = attached.finish()
        check_seen_from_proc(t, done)
        t.equal("status", done.status, 0)
        with open(truth_path, encoding="utf-8") as file:
            said = json.load(file)["threads"][0]
        own = done.run.thread(tid=said["tid"])
        t.near("voluntary switches", own["switches_voluntary"], since_before(said, "nvcsw"), 0, 2)
        t.equal("wakeups", own["wakeups"], own["switches_voluntary"])
        t.near("on-CPU time", own["oncpu_ns"], since_before(said, "schedstat_oncpu_ns"), 0, 10 * MS)
        t.between("run-queue wait", own["runq_ns"], 0, said["schedstat_runq_ns"] + 10 * MS)
        t.equal("series", sum(done.run["series"]["wakeups"]), own["wakeups"])
        t.check("measured from /proc in steps of 1 s" in done.out.split("\n")[0], done.out[:200])
        t.check("measured from /proc instead" in done.err, f"no word of why: {done.err!r}")
        subject.kill()


@test(needs_bpf=False)
def run_from_proc_sees_the_command_to_its_end(t):
    truth = os.path.join(open_folder(t), "truth.json")
    started = start(t, "run", "--", t.tool.subject("spinner"), "--truth", truth, 1500)
    started.truth_path = truth
    done = started.finish()
    check_seen_from_proc(t, done)
    t.equal("status", done.status, 0)
    own = done.run.thread(tid=done.truth["pid"])
    t.near("on-CPU time", own["oncpu_ns"], done.truth["cpu_ns"], 0, 12 * MS)
    t.check(done.run["trust"]["ok"], f"not trusted: {done.run['trust']['reasons']}")
    t.equal("processes", [p["argv"][1:2] for p in done.run["processes"]], [["--truth"]])


@test(needs_bpf=False)
def run_from_proc_follows_children_and_gives_their_status(t):
    sleeper = t.tool.subject("sleeper")
    done = start(t, "run", "--", "sh", "-c", f"{sleeper} 1500 1000 & {sleeper} 1500 1000; wait; exit 7").finish()
    check_seen_from_proc(t, done)
    t.equal("status", done.status, 7)
    t.equal("processes", sorted(p["comm"] for p in done.run["processes"]), ["sh", "sleeper", "sleeper"])
    alone = start(t, "run", "--no-follow", "--", "sh", "-c", f"{sleeper} 1500 1000; exit 7").finish()
    t.equal("processes without --follow", [p["comm"] for p in alone.run["processes"]], ["sh"])


@test(needs_bpf=False)
def what_lived_too_short_is_missed_and_told(t):
    spinner = t.tool.subject("spinner")
    started = start(t, "run", "-o", os.path.join(open_folder(t), "short.wkw"), "--", "sh", "-c",
                    f"{spinner} 900; {spinner} 900")
    done = started.finish()
    reasons = done.run["trust"]["reasons"]
    missed = done.run["trust"]["rusage_oncpu_ns"] - done.run["totals"]["oncpu_ns"]
    t.check(done.run["unseen_ends"] >= 1, "the end of a process went unnoticed")
    told = t.tool.call("report", os.path.join(open_folder(t), "short.wkw")).out
    t.check("ended between two steps" in told, f"it is not said: {told!r}")
    if missed > done.run["totals"]["runq_ns"] + 200 * MS:
        t.check(any("rusage" in reason for reason in reasons), f"not said to be too little: {reasons}")


@test(needs_bpf=False)
def budgets_are_kept_from_proc_too(t):
    sleeper = t.tool.subject("sleeper")
    over = start(t, "run", "--max-wakeups", 10, "--", sleeper, 500, 1000).finish()
    t.equal("status over the budget", over.status, 3)
    under = start(t, "run", "--max-wakeups", 5000, "--", sleeper, 500, 1000).finish()
    t.equal("status under the budget", under.status, 0)


@test(needs_bpf=False)
def a_name_is_found_when_it_appears(t):
    attached = start(t, "attach", "--backend", "proc", "-n", "sleep?r", "-d", "3s")
    await_window(attached)
    subject = Subject(t.tool, ["sleeper", 10000, 1000])
    subject.go()
    done = attached.finish()
    check_seen_from_proc(t, done)
    own = done.run.thread(tid=subject.pid)
    t.between("wakeups", own["wakeups"], 500, 3500)
    subject.kill()


@test(needs_bpf=False)
def a_window_of_nobody_there_ends(t):
    done = t.tool.call("attach", "--backend", "proc", "-p", 4194300, "-d", "1s")
    t.equal("status", done.status, 1)
    t.check("no process 4194300" in done.err, done.err)
    subject = Subject(t.tool, ["sleeper", 100, 1000])
    attached = start(t, "attach", "--backend", "proc", "-p", subject.pid, "-d", "1h")
    await_window(attached)
    subject.go()
    t.equal("status", attached.finish(20).status, 0)


@test(needs_bpf=False)
def a_server_stands_idle_without_privileges(t):
    done = start(t, "idle", "-d", "1s", "--retries", 0, "floor").finish()
    check_seen_from_proc(t, done)
    t.equal("status", done.status, 0)
    t.equal("wakeups", done.run["totals"]["wakeups"], 0)


@test(needs_bpf=False)
def a_recording_from_proc_reads_the_same(t):
    folder = open_folder(t)
    subject = Subject(t.tool, ["sleeper", 10000, 1000])
    subject.go()
    names = [os.path.join(folder, f"same.{extension}") for extension in ("wkw", "csv", "json", "md", "html")]
    attached = start(t, "attach", "-p", subject.pid, "-d", "1s", *(w for n in names for w in ("-o", n)))
    t.equal("status", attached.finish().status, 0)
    subject.kill()
    for name in names[1:]:
        again = name.replace("same.", "again.")
        t.equal("status of report", t.tool.call("report", "-o", again, names[0]).status, 0)
        with open(name, "rb") as one, open(again, "rb") as other:
            t.check(one.read() == other.read(), f"{name} differs when it is read again")


@test(needs_bpf=False)
def proc_is_refused_where_it_cannot_serve(t):
    for command in ("startup", "hash", "serve", "study"):
        done = t.tool.call(command, "--backend", "proc", "floor")
        t.equal(f"status of {command}", done.status, 2)
        t.check("/proc" in done.err, f"it does not say why: {done.err!r}")
    for words in (["-s"], ["--sample"], ["--stacks=k"]):
        done = t.tool.call("attach", "--backend", "proc", *words, "-a", "-d", "100ms")
        t.equal(f"status with {words}", done.status, 2)
        t.check("stacks" in done.err, f"it does not say why: {done.err!r}")
    for words in (["attach", "--backend", "else", "-a"], ["selftest", "--backend", "proc"]):
        t.equal(f"status of {words}", t.tool.call(*words).status, 2)


@test
def proc_loads_no_probes(t):
    attached = t.tool.start_attach("--backend", "proc", "-a", "-d", "1h")
    await_window(attached)
    t.equal("programs and maps", attached.bpf_ids(), {"prog": set(), "map": set()})
    attached.signal(signal.SIGINT)
    done = attached.finish()
    t.check(len(done.run["processes"]) > 2, "the machine has hardly any process")
    t.check(not any(th["kernel_thread"] for th in done.run.threads), "kernel threads are there")
