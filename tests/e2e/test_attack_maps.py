"""Perf maps that lie in wait: what is no plain file of the program's own, or older than it, names nothing."""

import os
import stat
import time

from harness import test
from stacks import Stacks
from tool import NOBODY, Subject, status_field

NAME = "jit_sleeper"
LARGE_BYTES = 200 << 20
LARGE_LINES = b"1 1 a\n" * (1 << 16)
# Text and tables within the limit for perf maps of 256 MB, then the rest of wakewhy; never what so many lines take
# when each is kept.
PEAK_KB = 600_000


class Map:
    """The place of a live program's perf map, emptied afterwards whatever lies there."""

    def __init__(self, t, pid):
        self.path, self.other = f"/tmp/perf-{pid}.map", t.path(f"other-{pid}")
        self.remove()
        t.cleanup(self.remove)

    def remove(self):
        if os.path.exists(self.path + ".second"):
            os.unlink(self.path + ".second")
        if os.path.isdir(self.path) and not os.path.islink(self.path):
            os.rmdir(self.path)
        elif os.path.lexists(self.path):
            os.unlink(self.path)

    def write(self, path=None):
        """A line that names all of the lower half of the address space."""
        with open(path or self.path, "x", encoding="ascii") as file:
            file.write(f"1000 7ffffffff000 {NAME}\n")

    def plain(self):
        self.write()

    def link(self):
        self.write(self.other)
        os.symlink(self.other, self.path)

    def hard_link(self):
        self.write()
        os.link(self.path, self.path + ".second")

    def pipe(self):
        os.mkfifo(self.path)

    def device(self):
        os.mknod(self.path, stat.S_IFCHR | 0o644, os.makedev(1, 5))

    def directory(self):
        os.mkdir(self.path)

    def another_users(self):
        self.write()
        os.chown(self.path, NOBODY, NOBODY)

    def writable_by_all(self):
        self.write()
        os.chmod(self.path, 0o666)

    def of_an_earlier_process(self):
        self.write()
        before = time.time() - 3600
        os.utime(self.path, (before, before))

    def growing(self):
        """More than it said it has, once it is read."""
        self.write()
        os.truncate(self.path, 1 << 40)

    def large(self):
        with open(self.path, "xb") as file:
            for _ in range(LARGE_BYTES // len(LARGE_LINES)):
                file.write(LARGE_LINES)


def peak_kb(started):
    peak = 0
    while started.process.poll() is None:
        peak = max(peak, status_field(started.pid, "VmHWM") or 0)
        time.sleep(0.002)
    return peak


KINDS = ("link", "hard_link", "pipe", "device", "directory", "another_users", "writable_by_all",
         "of_an_earlier_process", "growing", "large")


@test
def a_perf_map_is_believed_only_as_the_programs_own_plain_file_of_its_time(t):
    """A program for each kind, all in one window; no kind waits, and none takes memory without bound."""
    subjects = {}
    for kind in ("plain", *KINDS):
        subject = Subject(t.tool, ["stacks/jit", 10, 2000], prefix=["env", "WAKEWHY_NO_MAP=1"])
        subject.pid = subject.process.pid
        getattr(Map(t, subject.pid), kind)()
        subjects[kind] = subject
    attached = t.tool.start_attach("-s", "-p", ",".join(str(s.pid) for s in subjects.values()), "-d", "60s", "-q")
    attached.await_window()
    for subject in subjects.values():
        subject.go()
    peak = peak_kb(attached)
    done = attached.finish()
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    stacks = Stacks(done.run)
    for kind, subject in subjects.items():
        made = [f["name"] for row in stacks.wakes(subject.pid) for f in stacks.user(row["sleeper"])
                if f["kind"] == "jit"]
        t.equal(f"names by a map that is {kind}", set(made), {NAME if kind == "plain" else ""})
    t.between("peak in kB", peak, 1000, PEAK_KB)
