"""Kernels that lack what the probes need, as their type information (BTF) tells it.

The running kernel's is changed in a mount namespace: a name that is another one there is a type, a field or a
tracepoint that the kernel does not have.
"""

import os
import subprocess

from harness import Skip, test
from tool import MOUNT_NAMESPACE

BTF = "/sys/kernel/btf/vmlinux"

# Name that is missing, what doctor says, what loading says (None: it loads, as the kernel itself has it).
MISSING = (
    (b"bpf_storage", "this kernel lacks task storage for tracing programs, which came with 5.13", True),
    (b"BPF_FUNC_task_pt_regs", "this kernel lacks the BPF helper task_pt_regs, which came with 5.15", False),
    (b"btf_trace_sched_waking", "the kernel has no tracepoint sched_waking (wake-ups)", True),
    (b"btf_trace_softirq_exit", "the kernel has no tracepoint softirq_exit (wakes by interrupts)", True),
)


def without(t, name):
    """A file with the kernel's type information, but for a name."""
    with open(BTF, "rb") as file:
        data = file.read()
    other = name[:-1] + b"~"
    if b"\0" + name + b"\0" not in data:
        raise Skip(f"{BTF} has no {name.decode()} as a name of its own")
    path = t.path(f"without-{name.decode()}")
    with open(path, "wb") as file:
        file.write(data.replace(b"\0" + name + b"\0", b"\0" + other + b"\0"))
    return path


def call(t, mount, *words):
    """wakewhy where `mount` has been done: (status, both streams on one line each)."""
    done = subprocess.run([*MOUNT_NAMESPACE, "sh", "-c", f'{mount} && exec "$@"', "sh", t.tool.binary, *words],
                          capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, " ".join(done.stdout.split()), done.stderr.strip()


def check_refused(t, mount, sentence, loads):
    status, said, _ = call(t, mount, "doctor")
    t.equal(f"status of doctor where '{sentence}'", status, 4)
    t.check(sentence in said, f"doctor does not say '{sentence}': {said}")
    if loads:
        return
    path = t.path("ran")
    status, _, said = call(t, mount, "run", "--backend", "bpf", "--", "touch", path)
    t.equal(f"status of run where '{sentence}'", status, 4)
    t.check(sentence.split(" (")[0].removeprefix("the kernel ") in said, f"not '{sentence}', but: {said}")
    t.between(f"lines of '{said}'", said.count("\n") + 1, 1, 2)
    t.check(not os.path.exists(path), f"the command ran although: {said}")


@test
def what_a_kernel_lacks_is_named(t):
    for name, sentence, refused in MISSING:
        check_refused(t, f"mount --bind {without(t, name)} {BTF}", sentence, not refused)


@test
def a_kernel_without_type_information_is_named(t):
    empty = f"mount -t tmpfs none {os.path.dirname(BTF)}"
    status, said, _ = call(t, empty, "doctor")
    t.equal("status of doctor", status, 4)
    t.check("this kernel carries no type information (BTF)" in said, said)
    status, _, said = call(t, empty, "run", "--backend", "bpf", "--", "true")
    t.equal("status of run", status, 4)
    t.check("this kernel gives no type information (BTF), which the probes need" in said, said)
    # Without having to measure by probes, it goes on with what /proc tells.
    status, _, said = call(t, empty, "run", "--", "true")
    t.check(status in (0, 5) and "BTF" in said, f"status {status}: {said}")


@test
def broken_type_information_is_named(t):
    path = t.path("broken")
    with open(BTF, "rb") as whole, open(path, "wb") as part:
        part.write(whole.read(100_000))
    status, said, _ = call(t, f"mount --bind {path} {BTF}", "doctor")
    t.equal("status of doctor", status, 4)
    t.check("the kernel's type information cannot be read" in said, said)
    status, _, said = call(t, f"mount --bind {path} {BTF}", "run", "--backend", "bpf", "--", "true")
    t.equal("status of run", status, 4)
    t.between(f"lines of '{said}'", said.count("\n") + 1, 1, 2)
    t.check("type information" in said, said)
