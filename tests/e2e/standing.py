"""Threads that stand asleep at both ends of a window: the kernel's figures of each, to the last switch."""

import os

from tool import await_true, read_text


class Standing:
    """The kernel's figures of every thread of a process: {tid: (voluntary, preempted, on-CPU ns, wait ns)}."""

    def __init__(self, pids):
        self.of = {}
        for pid in pids:
            await_all_asleep(pid)
            for tid in os.listdir(f"/proc/{pid}/task"):
                self.of[int(tid)] = kernel_figures(f"/proc/{pid}/task/{tid}")

    def since(self, before):
        nothing = (0, 0, 0, 0)
        return {tid: tuple(new - old for new, old in zip(now, before.of.get(tid, nothing)))
                for tid, now in self.of.items()}

    def total(self, index):
        return sum(now[index] for now in self.of.values())


def kernel_figures(task):
    status = {}
    for line in read_text(f"{task}/status").splitlines():
        name, _, value = line.partition(":")
        status[name] = value
    schedstat = read_text(f"{task}/schedstat").split()
    return (int(status["voluntary_ctxt_switches"]), int(status["nonvoluntary_ctxt_switches"]),
            int(schedstat[0]), int(schedstat[1]))


def is_asleep(task):
    return read_text(f"{task}/stat").rpartition(")")[2].split()[:1] == ["S"]


def await_all_asleep(pid, limit_s=60):
    """One after the other: each of them, once asleep, sleeps until it is told to go on."""
    for tid in os.listdir(f"/proc/{pid}/task"):
        await_true(lambda: is_asleep(f"/proc/{pid}/task/{tid}"), f"thread {tid} to stand", limit_s)


class Differences:
    """Says the first few of many alike, and how many there were."""

    SAID = 3

    def __init__(self, t, what):
        self.t, self.what, self.n, self.said = t, what, 0, []

    def equal(self, who, got, wanted):
        if got != wanted:
            self.n += 1
            self.said.append(f"{who}: {got!r}, should be {wanted!r}")

    def end(self):
        self.t.check(not self.n, f"{self.what} of {self.n} threads: {'; '.join(self.said[:self.SAID])}")


def check_exact(t, run, before, after):
    """Switches of both kinds and wakeups of every thread that stood at both ends, one by one."""
    own = {th["tid"]: th for th in run.threads}
    checks = [(name, index, Differences(t, name)) for name, index in
              (("switches_voluntary", 0), ("switches_preempted", 1), ("wakeups", 0))]
    since = after.since(before)
    for tid, kernel in since.items():
        for name, index, differences in checks:
            differences.equal(tid, own[tid][name] if tid in own else None, kernel[index])
    for _name, _index, differences in checks:
        differences.end()
    return since
