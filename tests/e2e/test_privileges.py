"""With the capabilities that it needs and no others; what it drops, and what its workloads never get."""

import os
import re
import shutil
import signal
import subprocess

from harness import Skip, test
from stacks import Stacks
from test_counts import check_trusted
from test_proc import as_nobody, check_seen_from_proc, open_folder
from test_stacks import LEVELS
from tool import CHECKOUT, NOBODY, Done, Started, Subject, await_true, need_program, read_text

# linux/capability.h
NUMBERS = {"chown": 0, "dac_override": 1, "dac_read_search": 2, "fowner": 3, "kill": 5, "setgid": 6, "setuid": 7,
           "sys_ptrace": 19, "sys_admin": 21, "syslog": 34, "perfmon": 38, "bpf": 39, "checkpoint_restore": 40}
TWO = ("bpf", "perfmon")
PROCESSES = ("sys_ptrace", "checkpoint_restore", "dac_read_search", "syslog")
LAUNCH = ("setuid", "setgid", "kill", "chown", "dac_override")


def mask(*names):
    return sum(1 << NUMBERS[name] for name in names)


def capabilities(pid="self"):
    """{"Inh", "Prm", "Eff", "Bnd", "Amb": number} of a process."""
    return {name: int(value, 16) for name, value in
            re.findall(r"^Cap(\w+):\s*([0-9a-f]+)$", read_text(f"/proc/{pid}/status"), re.M)}


def only(*names):
    """A prefix that makes a command another user's, with exactly these capabilities."""
    need_program("setpriv")
    wanted = ",".join(["-all", *("+" + name for name in names)])
    return ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", "--inh-caps", wanted,
            "--ambient-caps", wanted, "--bounding-set", wanted, "--"]


def start_with(t, names, *words, **more):
    """wakewhy as another user with these capabilities, left running; its JSON lands in an open folder."""
    path = os.path.join(open_folder(t), f"with-{len(t.cleanups)}.json")
    command, *rest = map(str, words)
    return Started(t.tool, [*only(*names), t.tool.public, command, "-o", path, *rest], path, cwd="/", **more)


def measure_with(t, names, *words, **more):
    done = start_with(t, names, *words, **more).finish()
    t.equal(f"status of '{' '.join(map(str, words))}' with {names} ({done.err.strip()})", done.status, 0)
    t.check("from /proc" not in done.err, f"measured by other means: {done.err!r}")
    check_trusted(t, done.run)
    return done


@test
def two_capabilities_count_a_command_as_root_does(t):
    sleeper = t.tool.subject("sleeper")
    for options in ((), ("--stacks=u,dwarf",), ("--stacks=u", "--sample")):
        run = measure_with(t, TWO, "run", *options, "--", sleeper, 50, 1000).run
        own = run.thread(comm="sleeper")
        t.between(f"wakeups with {options}", own["wakeups"], 50, 52)
        t.equal(f"sleeps with {options}", run.calls("clock_nanosleep"), 50)
        t.check(run["causes"], f"no causes with {options}")
        if options:
            t.between(f"stacks with {options}", run["stacks"]["wakeups_with"], 50, 52)


@test
def two_capabilities_name_the_places_of_a_stack(t):
    run = measure_with(t, TWO, "run", "-s", "--", t.tool.subject("stacks/chain-frameless"), "--truth",
                       os.path.join(open_folder(t), "truth"), 10, 1000, "nanosleep").run
    stacks = Stacks(run)
    names = {f["name"] for f in stacks.all_frames if f["kind"] == "file"}
    t.check(set(LEVELS) <= names, f"names: {sorted(names)}")


@test
def kernel_frames_have_names_or_are_left_out(t):
    """Never numbers, and never those of the probes."""
    sleeper = t.tool.subject("sleeper")
    with_syslog = measure_with(t, (*TWO, "syslog"), "run", "-s", "--", sleeper, 10, 1000)
    without = measure_with(t, TWO, "run", "-s", "--", sleeper, 10, 1000)
    for what, done in (("with", with_syslog), ("without", without)):
        frames = [f for f in Stacks(done.run).all_frames if f["kind"] == "kernel"]
        t.equal(f"nameless {what} CAP_SYSLOG", [f for f in frames if not f["name"]], [])
        if what == "with" and int(read_text("/proc/sys/kernel/kptr_restrict")) < 2:
            t.check(any(f["name"] == "schedule" for f in frames), "no kernel frame with CAP_SYSLOG")
        if not frames:
            t.check("kallsyms" in done.err, f"it is not said: {done.err!r}")
            alone = start_with(t, TWO, "run", "--stacks=k", "--", "true").finish()
            t.equal("status of --stacks=k alone", alone.status, 4)
            t.check("CAP_SYSLOG" in alone.err, f"it does not say what is missing: {alone.err!r}")


@test
def two_capabilities_watch_ones_own_process(t):
    for options in ((), ("--stacks=no",)):
        subject = Subject(t.tool, ["sleeper", 40, 1000], prefix=only())
        subject.pid = subject.process.pid
        attached = start_with(t, TWO, "attach", *options, "-p", subject.pid, "-d", "60s")
        attached.await_window()
        t.equal("what it keeps", capabilities(attached.pid)["Prm"], mask(*TWO))
        t.equal("in effect", capabilities(attached.pid)["Eff"], mask(*TWO))
        subject.go()
        done = attached.finish()
        check_trusted(t, done.run)
        t.equal(f"status ({done.err.strip()})", done.status, 0)
        t.between(f"wakeups with {options}", done.run.thread(tid=subject.pid)["wakeups"], 40, 42)


@test
def sys_ptrace_reads_the_process_of_another_user(t):
    subject = Subject(t.tool, ["stacks/chain-frameless", 20, 1000, "nanosleep"])
    attached = start_with(t, (*TWO, "sys_ptrace"), "attach", "-s", "-p", subject.pid, "-d", "60s")
    attached.await_window()
    t.equal("what it keeps", capabilities(attached.pid)["Prm"], mask(*TWO, "sys_ptrace"))
    subject.go()
    done = attached.finish()
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    stacks = Stacks(done.run)
    names = {f["name"] for f in stacks.all_frames if f["kind"] == "file"}
    t.check(set(LEVELS) <= names, f"names of another user's program: {sorted(names)}")
    t.between("wakeups", sum(th["wakeups"] for th in done.run.threads if th["comm"] == "nanosleep"), 20, 22)


@test
def two_capabilities_let_a_server_stand_idle(t):
    for options in ((), ("--stacks=no",)):
        run = measure_with(t, TWO, "idle", "-d", "500ms", "--retries", 0, *options, "floor").run
        t.equal("wakeups", run["totals"]["wakeups"], 0)


@test
def a_workload_gets_none_of_them(t):
    path = os.path.join(open_folder(t), "status")
    done = measure_with(t, (*TWO, "sys_ptrace", "net_raw"), "run", "--", "cp", "/proc/self/status", path)
    t.equal("status", done.status, 0)
    with open(path, encoding="ascii") as file:
        held = dict(re.findall(r"^Cap(\w+):\s*([0-9a-f]+)$", file.read(), re.M))
    for name in ("Inh", "Prm", "Eff", "Amb"):
        t.equal(f"Cap{name} of the command", int(held[name], 16), 0)


@test
def root_keeps_what_it_still_needs_and_no_more(t):
    """CAP_SYS_ADMIN, the network, devices, modules and all the rest are gone while the window is open."""
    full = capabilities()["Prm"]
    subject = Subject(t.tool, ["idler", 1], waits=False)
    cases = ((["attach", "-p", subject.pid, "-d", "60s"], TWO + PROCESSES),
             (["attach", "-p", subject.pid, "-d", "60s", "-o", t.path("kept.json")],
              TWO + PROCESSES + ("dac_override", "fowner")),
             (["run", "--", t.tool.subject("idler"), "1"], TWO + PROCESSES + LAUNCH),
             (["idle", "-d", "60s", "floor"], TWO + PROCESSES + LAUNCH))
    for words, names in cases:
        started = Started(t.tool, [t.tool.binary, *map(str, words)])
        started.await_window()
        held = capabilities(started.pid)
        needed = mask(*names) & full
        t.equal(f"CapEff of {words[0]}", f"{held['Eff']:x}", f"{needed:x}")
        t.equal(f"CapPrm of {words[0]}", f"{held['Prm']:x}", f"{needed if words[0] == 'attach' else full:x}")
        t.equal(f"CapAmb and CapInh of {words[0]}", (held["Amb"], held["Inh"]), (0, 0))
        started.signal(signal.SIGINT)
        started.finish()


@test
def the_proc_backend_keeps_no_right_to_load(t):
    subject = Subject(t.tool, ["idler", 1], waits=False)
    started = Started(t.tool, [t.tool.binary, "attach", "--backend", "proc", "-p", str(subject.pid), "-d", "60s"])
    full = capabilities()["Prm"]
    await_true(lambda: capabilities(started.pid).get("Prm") != full, "it to drop")
    t.equal("CapPrm", f"{capabilities(started.pid)['Prm']:x}", f"{mask(*PROCESSES) & full:x}")
    started.signal(signal.SIGINT)
    started.finish()


@test
def what_root_still_does_needs_nothing_that_it_dropped(t):
    """A workload of another user in a directory of his own, ended by us, and results in his directory."""
    folder = open_folder(t)
    path = os.path.join(folder, "his.json")
    with open(path, "w", encoding="ascii") as file:
        file.write("{}")
    os.chown(folder, NOBODY, NOBODY)
    os.chmod(folder, 0o1700)
    os.chown(path, NOBODY, NOBODY)
    os.chmod(path, 0o400)
    done = t.tool.call("idle", "-u", NOBODY, "-d", "300ms", "--retries", 0, "-o", path, "floor")
    t.equal(f"status of idle ({done.err.strip()})", done.status, 0)
    done = t.tool.call("run", "-q", "-u", NOBODY, "-d", "300ms", "-o", path, "--", t.tool.subject("idler"), 1)
    t.equal(f"status of run ({done.err.strip()})", done.status, 0)
    run = Done([], 0, "", "", path, None).run
    t.equal("processes", [p["comm"] for p in run["processes"]], ["idler"])
    t.equal("left in the directory", os.listdir(folder), ["his.json"])


@test
def without_them_it_is_said_and_proc_does_where_it_can(t):
    sleeper = t.tool.subject("sleeper")
    for names, missing in ((("bpf",), "CAP_PERFMON"), (("perfmon",), "CAP_BPF"), ((), "CAP_BPF and CAP_PERFMON")):
        for words, can in ((["run", "--backend", "bpf", "--", "true"], True), (["startup", "-r", 1, "floor"], False)):
            done = start_with(t, names, *words).finish()
            t.equal(f"status of {words[0]} with {names}", done.status, 4)
            t.check(f"{missing} " in done.err, f"it does not say that {missing} is missing: {done.err!r}")
            t.equal(f"whether it names --backend proc: {done.err!r}", "--backend proc" in done.err, can)
    done = start_with(t, ("bpf",), "run", "--", sleeper, 50, 1000).finish()
    check_seen_from_proc(t, done)
    t.between("wakeups from /proc", done.run["totals"]["wakeups"], 45, 55)


def blocks_of(page):
    """The sh blocks of a page of the documents, by the reason for which they are not run with the others."""
    with open(os.path.join(CHECKOUT, "docs", page), encoding="utf-8") as file:
        text = file.read()
    return re.findall(r"<!-- test: skip (.*?) -->\n```sh\n(.*?)```", text, re.S)


@test
def the_ways_to_grant_them_that_the_documents_show(t):
    """Each block of docs/privileges.md as it stands, with sudo left out and a copy of the program."""
    need_program("setcap")
    folder = open_folder(t)
    wakewhy = os.path.join(folder, "wakewhy")
    shutil.copyfile(t.tool.binary, wakewhy)
    os.chmod(wakewhy, 0o755)
    blocks = [text for why, text in blocks_of("privileges.md") if "test_privileges" in why]
    t.check(len(blocks) >= 2, "the page has no such blocks")
    for text in blocks:
        script = 'sudo() { "$@"; }\nset -e\n' + text.replace("/usr/local/bin/wakewhy", wakewhy)
        done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=60)
        if "Operation not supported" in done.stderr:
            raise Skip("this file system holds no capabilities of files")
        t.equal(f"status of {text!r} ({done.stderr.strip()})", done.returncode, 0)
        if "setcap" in text:
            by_file = subprocess.run([wakewhy, "run", "--", t.tool.subject("sleeper"), "20", "1000"], cwd="/",
                                     preexec_fn=as_nobody, capture_output=True, text=True, timeout=60)
            t.equal(f"status as another user ({by_file.stderr.strip()[:300]})", by_file.returncode, 0)
            t.check("why sleeper wakes" in by_file.stderr, f"no causes: {by_file.stderr!r}")
