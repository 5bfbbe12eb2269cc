"""Births, images, names and deaths: who is followed, who it is, and how it ended."""

import os
import signal
import subprocess

from harness import Skip, test
from test_counts import check_against_kernel, check_sums, check_trusted, own_of, sleep_calls


def images_of(run, pid):
    return [p for p in run["processes"] if p["pid"] == pid]


def arguments(image):
    return image["argv"] or []


@test
def another_thread_than_the_leader_may_exec(t):
    done = t.tool.run(["execer", 5000, 30])
    run, truth = done.run, done.truth
    pid = truth["pid"]
    t.equal("status", done.status, 7)
    t.equal("getppid", run.calls("getppid"), 5000)
    t.equal("sleep calls", sleep_calls(run), 30)
    images = images_of(run, pid)
    t.equal("images", len(images), 2)
    t.check(images and arguments(images[-1])[-1:] == ["second"], f"last image: {images[-1:]}")
    # Who executes takes the leader's tid; what it counted before goes on under that tid.
    second = [th for th in run.threads_of(pid=pid, tid=pid) if th["syscall_counts"].get("getppid")]
    t.equal("threads with the second image's calls", len(second), 1)
    if second:
        t.between("wakeups", second[0]["wakeups"], 30, 40)
        t.equal("getppid", second[0]["syscall_counts"].get("getppid"), 5000)
    t.equal("threads", len(run.threads), 6)
    t.equal("starts", sum(th["starts"] for th in run.threads), 6)
    t.equal("exit status of the process", images[-1]["exit_status"] if images else None, 7)
    check_sums(t, run)
    check_trusted(t, run)


@test
def a_leader_may_end_before_its_threads(t):
    done = t.tool.run(["leaderless", 100, 23])
    run = done.run
    t.equal("status", done.status, 23)
    survivor = run.thread(comm="survivor")
    t.between("wakeups", survivor["wakeups"], 100, 102)
    t.equal("getppid", survivor["syscall_counts"].get("getppid"), 1000)
    t.equal("threads", len(run.threads), 2)
    t.check(run.threads_of(tid=done.truth["pid"]), "the leader is missing")
    images = images_of(run, done.truth["pid"])
    t.equal("exit status of the process", [p["exit_status"] for p in images], [23])
    check_against_kernel(t, run, done.truth)
    check_sums(t, run)
    check_trusted(t, run)


@test
def a_shell_and_all_its_children_are_in_it(t):
    getppid, sleeper = t.tool.subject("getppid"), t.tool.subject("sleeper")
    started = t.tool.start_run(["sh", "-c", f"{getppid} 1 3000; {sleeper} 20 1000; exit 42"])
    done = started.finish()
    run = done.run
    t.equal("status", done.status, 42)
    t.equal("getppid by name", [th["syscall_counts"]["getppid"] for th in run.threads
                                if th["syscall_counts"].get("getppid", 0) >= 3000], [3000])
    t.equal("sleep calls", sleep_calls(run), 20)
    named = [arguments(p)[0] for p in run["processes"] if arguments(p)]
    for program in ("sh", getppid, sleeper):
        t.equal(f"images of {program}", named.count(program), 1)
    shell = next(p for p in run["processes"] if arguments(p)[:1] == ["sh"])
    for program in (getppid, sleeper):
        child = next(p for p in run["processes"] if arguments(p)[:1] == [program])
        t.equal(f"parent of {program}", child["ppid"], shell["pid"])
        t.equal(f"exit status of {program}", child["exit_status"], 0)
    check_sums(t, run)
    check_trusted(t, run)


@test
def servers_that_start_children_in_every_way(t):
    for mode in ("vfork", "posix_spawn", "clone3", "fork"):
        done = t.tool.run(["server", mode, 20, 1000])
        run, pid = done.run, done.truth["pid"]
        children = [th for th in run.threads if th["pid"] != pid]
        t.equal(f"{mode}: threads of children", len(children), 20)
        t.equal(f"{mode}: getppid of each", {th["syscall_counts"].get("getppid") for th in children},
                {1000})
        t.equal(f"{mode}: getppid of the server",
                run.thread(tid=pid)["syscall_counts"].get("getppid", 0), 0)
        t.equal(f"{mode}: execve", run.calls("execve"), 20)
        images = [p for p in run["processes"] if arguments(p)[:2] == ["server", "child"]]
        t.equal(f"{mode}: images of children", len(images), 20)
        t.equal(f"{mode}: parents", {p["ppid"] for p in images}, {pid})
        t.equal(f"{mode}: exit statuses", {p["exit_status"] for p in images}, {5})
        t.equal(f"{mode}: starts", sum(th["starts"] for th in run.threads), 21)
        check_against_kernel(t, run, done.truth)
        check_sums(t, run)
        check_trusted(t, run)


@test
def a_daemon_is_followed_beyond_the_end_of_its_parent(t):
    done = t.tool.run(["daemon", 200])
    run = done.run
    daemon = own_of(run, done.truth, "daemon")
    t.equal("status", done.status, 0)
    t.equal("gettid", daemon["syscall_counts"].get("gettid", 0) >= 1000, True)
    t.equal("sleep calls", sleep_calls(run), 200)
    t.between("wakeups", daemon["wakeups"], 200, 203)
    t.equal("processes", len({th["pid"] for th in run.threads}), 3)
    check_against_kernel(t, run, done.truth)
    check_trusted(t, run)


@test
def the_last_name_of_a_thread_counts_however_hostile(t):
    raw = b"\x1b[31m<b>,=\"\xff"
    name = "".join(chr(b) if 32 < b < 127 else f"\\x{b:02x}" for b in raw)
    csv = t.path("names.csv")
    done = t.tool.run(["renamed", name, 5], ["-o", csv])
    run = done.run
    tid = next(th["tid"] for th in done.truth["threads"] if th["role"] == "renamed")
    t.equal("name of the main thread", run.thread(tid=done.truth["pid"])["comm"], "boss")
    t.equal("name", run.thread(tid=tid)["comm"], raw.decode(errors="replace"))
    with open(csv, "rb") as file:
        table = file.read()
    text = t.tool.call("run", "--", t.tool.subject("renamed"), name, "5").err
    for what, data in (("CSV", table), ("text", text.encode())):
        t.check(b"\x1b" not in data, f"{what} has a raw escape in it")
        data.decode()  # raises where it is not UTF-8
    t.check("31m" in text, f"the text does not show the thread: {text}")


@test
def strange_system_calls_are_kept_apart(t):
    done = t.tool.run(["strange", 100])
    run, said = done.run, done.truth["said"]
    own = run.thread(tid=done.truth["pid"])
    t.equal("invalid", own["syscalls_invalid"], said["invalid"])
    t.equal("32-bit", own["syscalls_compat"], said["compat"])
    t.equal("writev", own["syscall_counts"].get("writev", 0), 0)
    check_sums(t, run)
    check_trusted(t, run)


@test
def a_tid_that_is_used_again_is_another_thread(t):
    done = t.tool.run(["reuse", 5, 1000])
    if done.status == 99:
        raise Skip(f"clone3 with set_tid is not permitted: {done.err.strip()}")
    run, said = done.run, done.truth["said"]
    same = run.threads_of(tid=said["reused_pid"])
    t.equal("threads with that tid", len(same), 5)
    t.equal("getppid of each", sorted(th["syscall_counts"].get("getppid", 0) for th in same),
            [1000, 2000, 3000, 4000, 5000])
    t.equal("starts", [th["starts"] for th in same], [1] * 5)
    check_sums(t, run)
    check_trusted(t, run)


@test
def a_crash_is_told_with_its_signal(t):
    for number in (signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT):
        done = t.tool.run(["crash", 1000, int(number)])
        t.equal(f"status after {number.name}", done.status, 128 + number)
        t.equal("getppid", done.run.calls("getppid"), 1000)
        t.equal("exit_status", done.run["exit_status"], 128 + number)
        check_trusted(t, done.run)


@test
def a_commands_status_is_ours(t):
    for status in (0, 1, 2, 4, 5, 77, 255):
        started = t.tool.start_run(["sh", "-c", f"exit {status}"])
        t.equal("status", started.finish().status, status)


@test
def a_command_that_cannot_be_started_ends_as_in_a_shell(t):
    not_executable = t.path("data")
    with open(not_executable, "w", encoding="ascii") as file:
        file.write("no program")
    os.chmod(not_executable, 0o644)
    for command, status in ((t.path("missing"), 127), ("no-such-command-of-ours", 127),
                            (not_executable, 126), (t.root, 126)):
        done = t.tool.call("run", "--", command)
        t.equal(f"status of {command}", done.status, status)
        t.check(os.path.basename(command) in done.err, f"the message does not name it: {done.err!r}")
        t.check(done.err.count("\n") <= 2, f"more than a line: {done.err!r}")


@test
def a_command_keeps_its_standard_streams(t):
    ended = subprocess.run(
        [t.tool.binary, "run", "-q", "-o", t.path("x.json"), "--", "sh", "-c",
         "cat; echo out; echo err >&2"],
        input=b"in\n", capture_output=True, timeout=60,
    )
    t.equal("standard output", ended.stdout, b"in\nout\n")
    t.equal("standard error", ended.stderr, b"err\n")
