"""Wrong usage, wrong files, missing privileges: one clear line and the right status."""

import os
import random
import subprocess

from harness import test
from tool import NOBODY, Subject


def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


WRONG = (
    ["frobnicate"],
    ["atach"],
    ["--frobnicate"],
    ["run"],
    ["run", "--frobnicate", "--", "true"],
    ["run", "-d", "--", "true"],
    ["run", "-d", "soon", "--", "true"],
    ["run", "-d", "-1", "--", "true"],
    ["run", "-p", "1", "--", "true"],
    ["run", "-f", "xml", "--", "true"],
    ["run", "-o", "x.unknown", "--", "true"],
    ["run", "-o", "", "--", "true"],
    ["run", "--max-threads", "0", "--", "true"],
    ["run", "--cpus", "9999", "--", "true"],
    ["run", "--cpus", "x", "--", "true"],
    ["run", "--max-startup", "5ms", "--", "true"],
    ["attach"],
    ["attach", "-p", ""],
    ["attach", "-p", "x"],
    ["attach", "-p", "1,,2"],
    ["attach", "-p", "-5"],
    ["attach", "-p", "0"],
    ["attach", "-p", "99999999999999999999"],
    ["attach", "-p", "1", "extra"],
    ["attach", "-p", "1", "-d", "0"],
    ["attach", "-p", "1", "-d", "1e99"],
    ["attach", "-a", "-p", "1"],
    ["startup"],
    ["startup", "-r", "0", "floor"],
    ["startup", "-r", "many", "floor"],
    ["idle"],
    ["idle", "--parallel", "--until", "5%", "floor"],
    ["idle", "--parallel", "--retries", "1", "floor"],
    ["hash"],
    ["hash", "--variant", "nonsense", "floor"],
    ["hash", "--ops", "0", "floor"],
    ["startup", "=floor"],
    ["startup", "--cmd", "no-equals-sign"],
    ["report"],
    ["report", "-f", "nonsense", "x.wkw"],
    ["list"],
    ["list", "nonsense"],
)


@test(needs_bpf=False)
def wrong_usage_is_one_line_and_status_2(t):
    for words in WRONG:
        done = t.tool.call(*words, cwd=t.root)
        name = " ".join(words)
        t.equal(f"status of '{name}' ({done.err.strip()})", done.status, 2)
        t.equal(f"standard output of '{name}'", done.out, "")
        t.equal(f"lines of '{name}' ({done.err!r})", done.err.count("\n"), 1)
        t.equal(f"left by '{name}'", os.listdir(t.root), [])


@test(needs_bpf=False)
def help_and_version_go_to_standard_output(t):
    for words in (["--help"], ["--version"], ["-h"], ["-V"],
                  *([c, "--help"] for c in ("run", "attach", "startup", "idle", "hash", "study", "report",
                                            "list", "doctor", "selftest"))):
        done = t.tool.call(*words)
        t.equal(f"status of {words}", done.status, 0)
        t.check(done.out and not done.err, f"{words}: out {done.out!r}, err {done.err!r}")
    nothing = t.tool.call()
    t.check("usage" in (nothing.out + nothing.err).lower(), f"no usage without words: {nothing.out!r}")


@test(needs_bpf=False)
def lists_are_there(t):
    wanted = {"runtimes": ("bun", "node", "deno", "python", "perl", "ruby", "php", "floor"),
              "workloads": ("startup", "idle", "hash"), "formats": ("text", "json", "csv", "html", "wkw", "folded", "folded-wakeups",
                                                                    "folded-oncpu", "speedscope"),
              "metrics": ("wakeups", "oncpu")}
    for what, words in wanted.items():
        done = t.tool.call("list", what)
        t.equal(f"status of list {what}", done.status, 0)
        for word in words:
            t.check(word in done.out, f"list {what} lacks {word}")


@test
def without_privileges_the_reason_is_said(t):
    subject = Subject(t.tool, ["idler", 1], waits=False)
    for words in (["attach", "--backend", "bpf", "-p", str(subject.pid), "-d", "1s"],
                  ["attach", "--backend", "bpf", "-a", "-d", "1s"],
                  ["run", "--backend", "bpf", "--", "true"], ["startup", "-r", "1", "floor"],
                  ["idle", "--backend", "bpf", "floor"],
                  ["hash", "floor"], ["selftest"]):
        done = t.tool.call(*words, binary=t.tool.public, preexec_fn=as_nobody, cwd="/")
        name = " ".join(words)
        t.equal(f"status of '{name}' ({done.err.strip()})", done.status, 4)
        t.between(f"lines of '{name}' ({done.err!r})", done.err.count("\n"), 1, 2)
        t.check("root" in done.err or "CAP_" in done.err or "sudo" in done.err,
                f"'{name}' does not say what is missing: {done.err!r}")


@test
def a_command_that_may_not_measure_is_not_run(t):
    path = t.path("ran")
    os.chmod(t.root, 0o777)
    t.tool.call("run", "--backend", "bpf", "--", "touch", path, binary=t.tool.public,
                preexec_fn=as_nobody, cwd="/")
    t.check(not os.path.exists(path), "the command ran although nothing could be measured")


def absurd_files(t):
    """Names of files that are no recordings."""
    made = t.path("real.wkw")
    t.tool.call("run", "-q", "-o", made, "--", t.tool.subject("sleeper"), "3", "1000")
    with open(made, "rb") as file:
        real = file.read()
    random.seed(7)
    flipped = bytearray(real)
    flipped[len(flipped) // 2] ^= 0x10
    contents = {
        "empty": b"", "one-byte": real[:1], "magic": real[:8], "header": real[:40],
        "cut": real[:-1], "half": real[: len(real) // 2], "flipped": bytes(flipped),
        "random": random.randbytes(5000), "zeros": bytes(5000), "longer": real + b"x",
        "twice": real + real, "json": b'{"schema": "wakewhy/1", "runs": []}',
        "text": b"what is this\n" * 20,
    }
    for name, data in contents.items():
        with open(t.path(f"{name}.wkw"), "wb") as file:
            file.write(data)
        yield t.path(f"{name}.wkw")
    os.mkdir(t.path("folder.wkw"))
    yield t.path("folder.wkw")
    yield t.path("missing.wkw")
    yield "/dev/null"
    yield "/dev/zero"


@test
def an_absurd_recording_is_refused_in_one_line(t):
    for path in absurd_files(t):
        done = t.tool.call("report", path, limit_s=20)
        name = os.path.basename(path)
        t.equal(f"status of {name} ({done.err.strip()})", done.status, 1)
        t.equal(f"standard output of {name}", done.out, "")
        t.between(f"lines of {name} ({done.err!r})", done.err.count("\n"), 1, 2)
        t.check(name in done.err, f"the message does not name {name}: {done.err!r}")


@test(needs_bpf=False)
def doctor_says_whether_this_machine_measures(t):
    root = t.tool.call("doctor")
    t.check(root.status in (0, 4), f"status {root.status}: {root.err}")
    t.check(os.uname().release in root.out, "the kernel's release is missing")
    nobody = subprocess.run([t.tool.public, "doctor"], capture_output=True, text=True,
                            preexec_fn=as_nobody, cwd="/", timeout=60)
    t.equal("status as nobody", nobody.returncode, 4)
