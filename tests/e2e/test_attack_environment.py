"""The environment of whoever called sudo: nothing of his runs as root, and nothing of his leads root astray."""

import os
import subprocess

from harness import test
from test_proc import open_folder
from tool import NOBODY, Subject

# Whatever a program of this kind could think of calling.
NAMES = ("bun", "node", "deno", "python3", "python", "perl", "ruby", "php", "wrk", "git", "sh", "bash", "less", "more",
         "pager", "cat", "uname", "id", "sudo", "su", "env", "ps", "lscpu", "modprobe", "mount", "addr2line", "objdump",
         "debuginfod-find", "llvm-symbolizer", "gdb", "perf", "bpftool", "eu-unstrip", "openssl", "hostname", "nproc")
FAKE = """#!/bin/sh
echo "$(/usr/bin/id -u) ${0##*/} $*" >> %s
echo "v1.2.3"
"""


class Trap:
    """A folder of programs that write down who runs them."""

    def __init__(self, t):
        self.folder, self.log = os.path.join(open_folder(t), "bin"), t.path("log")
        os.mkdir(self.folder)
        os.chmod(self.folder, 0o755)
        for name in NAMES:
            path = os.path.join(self.folder, name)
            with open(path, "w", encoding="ascii") as file:
                file.write(FAKE % self.log)
            os.chmod(path, 0o755)
        with open(self.log, "w", encoding="ascii"):
            pass
        os.chmod(self.log, 0o666)

    def environment(self, **more):
        return {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "SUDO_UID": str(NOBODY),
                "SUDO_GID": str(NOBODY), "SUDO_USER": "nobody", "PAGER": os.path.join(self.folder, "pager"),
                "GIT_PAGER": "pager", "SHELL": os.path.join(self.folder, "sh"), "HOME": self.folder,
                "EDITOR": "cat", "DEBUGINFOD_URLS": "http://127.0.0.1:1/", "LESSOPEN": "|cat %s", **more}

    def calls(self):
        with open(self.log, encoding="utf-8") as file:
            return [line.split(maxsplit=2) for line in file.read().splitlines()]


@test
def nothing_on_the_callers_path_runs_as_root(t):
    trap = Trap(t)
    subject = Subject(t.tool, ["sleeper", 1000000, 1000])
    subject.go()
    for words in (["--version"], ["list", "runtimes"], ["doctor"], ["attach", "-s", "-p", subject.pid, "-d", "200ms"],
                  ["run", "-s", "--", "node"], ["startup", "-r", 1, "-w", 0, "node", "python3"],
                  ["idle", "-d", "100ms", "--retries", 0, "bun"], ["hash", "-d", "100ms", "--variant", "sync", "perl"],
                  ["serve", "-d", 1, "--force", "floor"], ["selftest"]):
        done = t.tool.call(*words, env=trap.environment())
        t.check(done.status in (0, 1, 4, 5), f"{words}: status {done.status}: {done.err!r}")
    calls = trap.calls()
    t.equal("calls by another than who called sudo", [call for call in calls if call[0] != str(NOBODY)], [])
    t.check({"node", "python3", "bun", "perl", "wrk"} <= {call[1] for call in calls}, f"the trap saw: {calls}")


@test
def the_callers_variables_reach_what_runs_as_he_and_no_workload(t):
    """A command has his environment; runtimes that are compared have a plain one, asked for their version too."""
    trap = Trap(t)
    seen = t.path("seen")
    with open(os.path.join(trap.folder, "node"), "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\n/usr/bin/env | /usr/bin/sort >> {trap.log}\necho v1.2.3\n")
    his = {"LD_PRELOAD": "/nowhere/evil.so", "LD_LIBRARY_PATH": trap.folder, "NODE_OPTIONS": "--require=/nowhere/evil.js",
           "PYTHONPATH": trap.folder, "PERL5LIB": trap.folder, "RUBYOPT": "-r/nowhere/evil", "BUN_OPTIONS": "--evil",
           "BASH_ENV": "/nowhere/evil", "ENV": "/nowhere/evil"}
    his_plain = {name: value for name, value in his.items() if not name.startswith("LD_")}
    t.tool.call("startup", "-r", 1, "-w", 0, "node", env=trap.environment(**his_plain))
    with open(trap.log, encoding="utf-8") as file:
        text = file.read()
    t.check("PATH=" in text, "the runtime was not called")
    t.equal("of his in the environment of a runtime", [n for n in his_plain if f"\n{n}=" in "\n" + text], [])
    os.chmod(os.path.dirname(seen), 0o777)
    t.tool.call("run", "-q", "--", "/bin/sh", "-c", f"/usr/bin/env > {seen}; /usr/bin/id -u >> {seen}",
                env=trap.environment(NODE_OPTIONS="his"))
    with open(seen, encoding="utf-8") as file:
        lines = file.read().splitlines()
    t.check("NODE_OPTIONS=his" in lines and lines[-1] == str(NOBODY), f"a command has his, as he: {lines}")


@test
def sudo_variables_that_are_no_numbers_run_nothing_as_root(t):
    path = t.path("ran")
    os.chmod(t.root, 0o777)
    for uid in ("-1", "0x0", "4294967295", "4294967296", "", "nobody", "0 ", "1000;0", "18446744073709551616"):
        done = t.tool.call("run", "--", "touch", path, env={**os.environ, "SUDO_UID": uid, "SUDO_GID": "1"})
        t.check(done.status not in (0, 128), f"SUDO_UID={uid!r}: status {done.status}")
        t.check("SUDO_UID" in done.err, f"SUDO_UID={uid!r}: {done.err!r}")
        t.check(not os.path.exists(path), f"SUDO_UID={uid!r}: the command ran")


def start_in(t, tmpdir):
    return t.tool.call("startup", "-u", NOBODY, "-r", 1, "-w", 0, "--no-bare", "floor",
                       env={**os.environ, "TMPDIR": tmpdir})


@test
def a_directory_for_scripts_is_never_where_others_can_swap_it(t):
    """Another place is taken: floor, a program of ours, would run from there."""
    os.chmod(t.root, 0o755)
    places = {name: t.path(name) for name in ("sticky", "swapped", "another", "inner", "closed")}
    for path in places.values():
        os.mkdir(path)
    os.chmod(places["sticky"], 0o1777)
    os.chmod(places["swapped"], 0o777)
    os.chown(places["another"], 4242, 4242)
    os.chmod(places["another"], 0o1777)
    os.chmod(places["inner"], 0o777)
    os.mkdir(os.path.join(places["inner"], "tmp"))
    os.chmod(os.path.join(places["inner"], "tmp"), 0o1777)
    os.symlink(places["sticky"], t.path("link"))
    os.chmod(places["closed"], 0o700)
    tries = {places["sticky"]: True, t.path("link"): True, places["swapped"]: False, places["another"]: False,
             os.path.join(places["inner"], "tmp"): False, places["closed"]: False, "relative": False,
             "/dev/null": False, "/" + "x" * 5000: False}
    for path, taken in tries.items():
        before = os.stat(path).st_mtime_ns if os.path.isdir(path) and os.path.isabs(path) else 0
        done = start_in(t, path)
        t.equal(f"status with TMPDIR={path[:60]!r} ({done.err.strip()})", done.status in (0, 5), True)
        if before and not path.startswith("/proc"):
            t.equal(f"whether {path} was used", os.stat(path).st_mtime_ns != before, taken)
            t.equal(f"left in {path}", os.listdir(path), [])
    t.check(not os.path.exists(os.path.join(os.getcwd(), "relative")), "a relative TMPDIR was taken")


@test
def who_may_not_change_the_user_is_told(t):
    done = subprocess.run([t.tool.public, "run", "--backend", "proc", "-u", "root", "--", "id"], capture_output=True, text=True,
                          cwd="/", user=NOBODY, group=NOBODY, extra_groups=[], env={**os.environ, "SUDO_UID": "0"})
    t.check(done.returncode == 2 and "root" in done.stderr, f"{done.returncode}: {done.stderr!r}")
    t.equal("what ran", done.stdout, "")

