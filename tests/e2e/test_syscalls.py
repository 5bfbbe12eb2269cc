"""System calls by name, beside the other tools that count every one of them."""

import json
import re
import subprocess

from harness import Skip, test
from tool import MOUNT_NAMESPACE, need_program

# What another tracer may see differently, and why.
ONLY_STARTED = {
    "execve",  # strace and perf see the one that starts the program; our window begins after it
    "exit", "exit_group",  # never return, so tools that count at the return do not have them
    "futex",  # whether pthread_join has to wait is a race
}


# perf counts at the return, and these return twice: in the child without any time spent.
FORKS = {"clone", "clone3", "fork", "vfork"}

# The first calls of a new task: perf may not watch it yet. strace has them all.
FIRST_OF_A_TASK = {"set_robust_list", "rseq"}

PERF_TRIES = 5


def strace_counts(t, command):
    path = t.path("strace.txt")
    subprocess.run(["strace", "-f", "-c", "-U", "name,calls", "-o", path, *command], check=True,
                   timeout=120)
    counts = {}
    with open(path, encoding="ascii") as file:
        for line in file:
            words = line.split()
            if len(words) == 2 and words[1].isdigit() and words[0] != "total":
                counts[words[0]] = int(words[1])
    return counts


def perf_counts(t, command):
    """perf needs tracefs; on a fresh machine, which has not mounted it, it gets one of its own."""
    path = t.path("perf.txt")
    script = (
        "[ -d /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing &&"
        " p=$1 && shift &&"
        ' exec perf trace -m 8M -s -o "$p" -- "$@"'
    )
    subprocess.run([*MOUNT_NAMESPACE, "sh", "-c", script, "sh", path, *command], check=True,
                   timeout=120, capture_output=True)
    counts = {}
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    for line in text.splitlines():
        match = re.match(r"\s+([a-z_0-9]+)\s+(\d+)\s+\d+\s+([\d.]+)\s", line)
        if not match or (match[1] in FORKS and float(match[3]) == 0):
            continue
        counts[match[1]] = counts.get(match[1], 0) + int(match[2])
    return counts, text


def trusted_perf_counts(t):
    """perf may miss calls of a task that was just born without saying so. Only a run whose getppid are
    those that the program itself counted is a witness."""
    truth = t.path("perf-truth.json")
    command = [t.tool.subject("calls"), "--truth", truth, "1000"]
    seen = []
    for _ in range(PERF_TRIES):
        theirs, text = perf_counts(t, command)
        with open(truth, encoding="ascii") as file:
            made = json.load(file)["said"]["getppid"]
        if "LOST" not in text and theirs.get("getppid") == made:
            return theirs
        seen.append(theirs.get("getppid"))
    raise Skip(f"perf trace counted {seen} getppid of {made} made: it is no witness here")


def compare(t, name, ours, theirs, missed=frozenset()):
    """missed: calls of which the other tool may lack one for each task that was started."""
    t.check(theirs.get("getppid"), f"{name} counted nothing: {theirs}")
    for call in sorted(set(ours) | set(theirs)):
        if call in missed:
            low = theirs.get(call, 0)
            t.between(f"{call} beside {name}", ours.get(call, 0), low, low + 4)
        elif call not in ONLY_STARTED:
            t.equal(f"{call} beside {name}", ours.get(call, 0), theirs.get(call, 0))


def our_counts(t):
    done = t.tool.run(["calls", 1000])
    run = done.run
    t.equal("getppid", run.calls("getppid"), done.truth["said"]["getppid"])
    names = {name for th in run.threads for name in th["syscall_counts"]}
    return {name: run.calls(name) for name in names}


@test
def strace_counts_the_same_calls_by_name(t):
    need_program("strace")
    command = [t.tool.subject("calls"), "--truth", t.path("strace-truth.json"), "1000"]
    theirs = strace_counts(t, command)
    ours = our_counts(t)
    compare(t, "strace", ours, theirs)
    t.equal("execve beside strace", ours.get("execve", 0), theirs["execve"] - 1)
    t.equal("exit_group", ours.get("exit_group"), 3)
    t.equal("exit", ours.get("exit"), 1)


@test
def perf_trace_counts_the_same_calls_by_name(t):
    need_program("perf")
    compare(t, "perf trace", our_counts(t), trusted_perf_counts(t), missed=FIRST_OF_A_TASK)
