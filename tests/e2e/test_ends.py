"""Every way out: signals, full disks, closed pipes. Nothing is left running, pinned or half-written."""

import fcntl
import json
import os
import pty
import signal
import subprocess
import termios

from harness import Skip, test
from tool import Started, Subject, await_true, children_of, is_alive, read_text


def descendants(pid):
    found = []
    for child in children_of(pid):
        found += [child, *descendants(child)]
    return found


def kernel_ids(kind):
    """Ids of all BPF programs or maps in this kernel."""
    listed = subprocess.run(["bpftool", "-j", kind, "show"], capture_output=True, check=True,
                            env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
    return {entry["id"] for entry in json.loads(listed.stdout)}


def are_gone(kind, held):
    """bpftool fails where something that others hold goes while it lists: not known then."""
    try:
        return not held & kernel_ids(kind)
    except subprocess.CalledProcessError:
        return False


def check_kernel_is_clean(t, ids):
    """The kernel frees programs and maps some time after their last descriptor was closed."""
    for kind, held in ids.items():
        t.check(held, f"wakewhy held no {kind} while it ran")
        try:
            await_true(lambda: are_gone(kind, held), f"{kind} {held} to be gone")
        except AssertionError as error:
            t.failures.append(str(error))


def check_gone(t, pids):
    for pid in pids:
        try:
            await_true(lambda: not is_alive(pid), f"process {pid} to be gone", 10)
        except AssertionError as error:
            t.failures.append(f"{error}: {read_text(f'/proc/{pid}/cmdline')!r}")


@test
def an_interrupted_window_is_reported_as_far_as_it_went(t):
    subject = Subject(t.tool, ["sleeper", 100000000, 2000])
    subject.go()
    for number in (signal.SIGINT, signal.SIGTERM):
        attached = t.tool.start_attach("-p", subject.pid, "-d", "1h")
        attached.await_window()
        ids = attached.bpf_ids()
        attached.signal(number)
        done = attached.finish(20)
        t.equal(f"status after {number.name}", done.status, 0)
        t.check(done.run["window_ns"] < 20e9, "the window is too long")
        t.check("sleeper" in done.out, f"no report after {number.name}: {done.out!r}")
        check_kernel_is_clean(t, ids)
    t.check(is_alive(subject.pid), "the target was ended with the window")


def start_at_terminal(t, argv):
    """A process with a terminal of its own, where Ctrl-C can be typed; returns it and the terminal."""
    terminal, slave = pty.openpty()
    t.cleanup(os.close, terminal)

    def take_terminal():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(argv, stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=take_terminal)
    t.cleanup(process.kill)
    os.close(slave)
    return process, terminal


@test
def ctrl_c_at_a_terminal_ends_the_command_and_is_reported(t):
    path = t.path("ctrl-c.json")
    argv = [t.tool.binary, "run", "-o", path, "--", t.tool.subject("idler")]
    process, terminal = start_at_terminal(t, argv)
    await_true(lambda: any("idler" in read_text(f"/proc/{p}/comm")
                           for p in children_of(process.pid)), "the command to run")
    os.write(terminal, b"\x03")
    process.communicate(timeout=20)
    t.equal("status", process.returncode, 128 + signal.SIGINT)
    run = t.tool.load(path)
    t.equal("exit status of the command", run["exit_status"], 128 + signal.SIGINT)


def start_named(t, name):
    """run on a subject; returns it and the subject's pid, once it sleeps in its own image."""
    started = t.tool.start_run([t.tool.subject(name)])
    found = []

    def runs():
        found[:] = [p for p in children_of(started.pid) if name in read_text(f"/proc/{p}/comm")
                    and read_text(f"/proc/{p}/stat").rpartition(")")[2].split()[0] == "S"
                    and read_text(f"/proc/{p}/syscall").split()[:1] == [PAUSE]]
        return found

    await_true(runs, f"{name} to pause")
    return started, found[0]


PAUSE = {"x86_64": "34"}.get(os.uname().machine, "73")  # pause; ppoll where there is no pause


@test
def a_termination_signal_is_passed_on_to_the_command(t):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        started, pid = start_named(t, "idler")
        ids = started.bpf_ids()
        started.signal(number)
        done = started.finish(20)
        t.equal(f"status after {number.name}", done.status, 128 + number)
        t.equal(f"exit status after {number.name}", done.run["exit_status"], 128 + number)
        check_gone(t, [pid])
        check_kernel_is_clean(t, ids)


@test
def a_command_that_ignores_the_first_signal_does_not_outlive_the_second(t):
    started, pid = start_named(t, "stubborn")
    started.signal(signal.SIGTERM)
    # Taken when wakewhy waits again and the signal is no longer pending.
    await_true(lambda: pending(started.pid) == 0, "wakewhy to take the signal")
    t.check(is_alive(pid), "the command ended by the signal that it ignores")
    started.signal(signal.SIGTERM)
    done = started.finish(20)
    check_gone(t, [pid])
    t.check(done.document is not None, "no report after the second signal")
    t.check(done.status != 0, "status 0 although the command was killed")


def pending(pid):
    for line in read_text(f"/proc/{pid}/status").splitlines():
        if line.startswith(("ShdPnd:", "SigPnd:")) and int(line.split()[1], 16):
            return 1
    return 0


@test
def kill_9_leaves_nothing_behind_after_attach(t):
    subject = Subject(t.tool, ["idler", 2], waits=False)
    attached = t.tool.start_attach("-p", subject.pid, "-d", "1h", "-o", t.path("killed.wkw"))
    attached.await_window()
    ids, family = attached.bpf_ids(), descendants(attached.pid)
    attached.signal(signal.SIGKILL)
    attached.process.wait(20)
    check_gone(t, family)
    check_kernel_is_clean(t, ids)
    left = [n for n in os.listdir(t.root) if not n.startswith("truth")]
    t.equal("files left", left, [])
    t.check(is_alive(subject.pid), "the target was ended too")


@test
def kill_9_leaves_nothing_behind_after_run(t):
    started, pid = start_named(t, "stubborn")
    ids, family = started.bpf_ids(), descendants(started.pid)
    started.signal(signal.SIGKILL)
    started.process.wait(20)
    check_gone(t, [pid, *family])
    check_kernel_is_clean(t, ids)
    t.equal("files left", os.listdir(t.root), [])


@test
def every_end_of_a_workload_removes_its_processes_and_its_directory(t):
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        directory = t.path(f"tmp-{number.name}")
        os.mkdir(directory)
        os.chmod(directory, 0o1777)
        path = t.path(f"idle-{number.name}.json")
        argv = [t.tool.binary, "idle", "-d", "1h", "-o", path, "floor"]
        started = start_with_tmp(t, argv, path, directory)
        await_true(lambda: os.listdir(directory), "the private directory")
        started.await_window()
        ids, family = started.bpf_ids(), descendants(started.pid)
        t.check(family, "no process of the workload was seen")
        started.signal(number)
        started.process.communicate(timeout=30)
        check_gone(t, family)
        check_kernel_is_clean(t, ids)
        await_true(lambda: not os.listdir(directory), f"{directory} to be empty", 10)
        if number == signal.SIGKILL:
            t.check(not os.path.exists(path), "a result is there although wakewhy was killed")


def start_with_tmp(t, argv, path, directory):
    return Started(t.tool, argv, path, env={**os.environ, "TMPDIR": directory})


def nearly_full(t, name=None):
    """A small tmpfs with one page left, after a file of that name with {} in it."""
    directory = t.path("small")
    os.mkdir(directory)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", directory],
                             capture_output=True, text=True)
    if mounted.returncode:
        raise Skip(f"tmpfs cannot be mounted: {mounted.stderr.strip()}")
    t.cleanup(subprocess.run, ["umount", directory])
    sizes = [("filler", bytes(12288 if name is None else 8192))]
    for file_name, data in [(name, b"{}")] * (name is not None) + sizes:
        with open(os.path.join(directory, file_name), "wb") as file:
            file.write(data)
    return directory


def extensions(t):
    """Of every format that there is."""
    rows = [line.split() for line in t.tool.call("list", "formats").out.splitlines()[1:]]
    return [row[1] for row in rows if row]


def check_no_space(t, done, target, left):
    """One that failed for want of space: it says so, and leaves what was there."""
    t.equal(f"status ({target})", done.status, 1)
    t.check("space" in done.err, f"{target}: the message has no reason: {done.err!r}")
    t.check(os.path.basename(target) in done.err, f"the message names no file: {done.err!r}")
    t.equal(f"left after {target}", sorted(os.listdir(os.path.dirname(target))), left)


@test
def a_full_disk_is_an_error_and_leaves_no_half_file(t):
    directory = nearly_full(t)
    for extension in ("json", "csv", "wkw"):
        target = os.path.join(directory, f"full.{extension}")
        done = t.tool.run(["crowd", 400, 1, 1000], ["-o", target, "-q"])
        check_no_space(t, done, target, ["filler"])


@test
def a_full_disk_is_an_error_in_every_format(t):
    """Without a page left: some formats need no more than one."""
    recording = t.path("hog.wkw")
    t.tool.run(["hog", 100, 2000], ["-o", recording, "-q", "--stacks", "--sample"])
    directory = nearly_full(t)
    with open(os.path.join(directory, "filler"), "ab") as file:
        file.write(bytes(4096))
    for extension in extensions(t):
        target = os.path.join(directory, f"full{extension}")
        check_no_space(t, t.tool.call("report", "-o", target, recording), target, ["filler"])


@test
def an_earlier_result_survives_a_failed_one(t):
    target = os.path.join(nearly_full(t, "kept.json"), "kept.json")
    done = t.tool.run(["crowd", 400, 1, 1000], ["-o", target, "-q"])
    t.equal("status", done.status, 1)
    t.equal("contents", read_text(target), "{}")


@test
def a_place_that_cannot_be_written_is_said_before_measuring(t):
    ran = t.path("ran")
    for target in ("/nonexistent/x.json", "/proc/x.json"):
        done = t.tool.call("run", "-o", target, "--", "touch", ran)
        t.equal(f"status for {target}", done.status, 1)
        t.equal(f"lines for {target} ({done.err!r})", done.err.count("\n"), 1)
        t.check(target in done.err, f"the message does not name {target}: {done.err!r}")
        t.check(not os.path.exists(ran), "the command ran all the same")


@test
def a_full_standard_output_is_an_error(t):
    recording = t.path("r.wkw")
    t.tool.call("run", "-q", "-o", recording, "--", "true")
    for words in (["report", recording], ["report", "-f", "json", recording],
                  ["report", "-f", "csv", recording], ["list", "metrics"], ["--help"]):
        with open("/dev/full", "wb") as full:
            done = t.tool.call(*words, stdout=full)
        t.equal(f"status of {words[:3]}", done.status, 1)
        t.check("space" in done.err, f"{words[:3]}: no reason in {done.err!r}")


@test
def a_reader_that_has_gone_is_no_cause_for_words(t):
    recording = t.path("r.wkw")
    t.tool.call("run", "-q", "-o", recording, "--", "true")
    for words in (["report", recording], ["report", "-f", "json", recording], ["list", "metrics"]):
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "wb") as closed:
            done = t.tool.call(*words, stdout=closed)
        t.check(done.status in (1, -signal.SIGPIPE), f"status of {words[:3]}: {done.status}")
        t.equal(f"words of {words[:3]}", done.err, "")


@test
def a_finished_file_is_the_callers(t):
    path = t.path("mode.json")
    t.tool.call("run", "-q", "-o", path, "--", "true")
    info = os.stat(path)
    t.equal("mode", info.st_mode & 0o777, 0o644)
    t.equal("owner", info.st_uid, os.getuid())
    t.equal("files", [n for n in os.listdir(t.root) if n != "mode.json"], [])
