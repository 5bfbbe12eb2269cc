"""What the kernel side hands out about stacks, before anybody makes names of it: see stackdump.c."""

import os
import platform
import signal
import subprocess

from harness import Skip, test
from tool import Subject

SAMPLE = 1 << 31
KERNEL_FROM = 1 << 63


class Dump:
    """stackdump on a process; the window is open when this is made."""

    def __init__(self, t, pid, *options):
        self.process = subprocess.Popen(
            [t.tool.subject("stackdump"), *map(str, options), "-p", str(pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        t.cleanup(self.kill)
        self.lines = []
        self.await_line("ready")

    def await_line(self, wanted):
        for line in self.process.stdout:
            self.lines.append(line.decode().split())
            if self.lines[-1] == [wanted]:
                return
        raise AssertionError(f"stackdump ended with {self.process.wait()} before it said {wanted}")

    def finish(self):
        self.process.stdin.close()
        return self.windows()[0]

    def windows(self):
        """What was handed out in each window (-t), when all are over."""
        self.lines += [line.decode().split() for line in self.process.stdout]
        if self.process.wait(60):
            raise AssertionError(f"stackdump: status {self.process.returncode}")
        self.process.stdout.close()
        ends = [i for i, line in enumerate(self.lines) if line == ["end"]]
        return [Handed(self.lines[a:b]) for a, b in zip([0, *ends], ends)]

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(20)


class Handed:
    """The lines of one window."""

    def __init__(self, lines):
        self.stacks, self.regs, self.counts, self.causes, self.threads = {}, {}, [], {}, {}
        self.lost, self.sent = {}, 0
        for word, *values in lines:
            if word == "stack":
                self.stack_add(values)
            elif word == "regs":
                self.regs[int(values[0])] = [int(v, 16) for v in values[1:]]
            elif word == "count":
                self.counts.append(tuple(map(int, values)))
            elif word == "cause":
                self.causes[int(values[0])] = tuple(map(int, values[1:]))
            elif word == "thread":
                self.threads[int(values[0])] = tuple(map(int, values[1:4]))
            elif word == "lost":
                self.lost[values[0]] = int(values[1])
            elif word == "copies":
                self.copies, self.copy_ids = map(int, values)
            elif word == "collector":
                self.wakeups = int(values[0])

    def stack_add(self, values):
        split = values.index("u")
        self.sent += 1
        self.stacks[int(values[0])] = {
            "pid": int(values[1]),
            "time_ns": int(values[2]),
            "copied": int(values[3]),
            "kernel": [int(v, 16) for v in values[5:split]],
            "user": [int(v, 16) for v in values[split + 1 :]],
        }

    def wakes(self, cause):
        """(count with a sleeper's stack, count in all) of a cause."""
        rows = [row for row in self.counts if row[0] == cause]
        return sum(row[3] for row in rows if row[1]), sum(row[3] for row in rows)

    def ids(self):
        return {i for row in self.counts for i in row[1:3] if i}


def mappings(text):
    """[(begin, end, rights, name)] of a /proc/PID/maps."""
    found = []
    for line in text.splitlines():
        words = line.split(None, 5)
        begin, end = (int(v, 16) for v in words[0].split("-"))
        found.append((begin, end, words[1], words[5] if len(words) > 5 else ""))
    return found


def maps_of(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as file:
        return mappings(file.read())


def check_books(t, handed):
    """What always holds: each cause's rows are all its wakes, and every number has its stack."""
    for number, (_serial, wakeups, *_more) in handed.causes.items():
        t.equal(f"wakes of cause {number}", handed.wakes(number)[1], wakeups)
    unknown = handed.ids() - set(handed.stacks)
    t.check(not unknown, f"{len(unknown)} stacks are counted that never came")
    t.equal("stacks that came twice", handed.sent, len(handed.stacks))
    t.check(handed.copy_ids <= 3 * len(handed.threads), f"{handed.copy_ids} ids of copies")
    # A copy is of one sleep, one waking or one sample: who names another's names it a second time.
    named = [(i, row[3]) for row in handed.counts for i in row[1:3] if i >> 31]
    t.check(
        all(count == 1 for _i, count in named) and len(named) == len(dict(named)),
        "a copy is counted more than once",
    )


@test
def stacks_are_counted_with_every_wake(t):
    """A known depth: 16 calls below main."""
    subject = Subject(t.tool, ["stackpaths", 300])
    dump = Dump(t, subject.pid, "-ku")
    maps = maps_of(subject.pid)
    subject.go()
    subject.process.wait(20)
    handed = dump.finish()
    check_books(t, handed)
    t.equal("lost", handed.lost, {})
    # Some of 300 sleeps may be over before they began.
    slept = [n for n, (_s, wakeups, *_m) in handed.causes.items() if wakeups >= 250]
    t.equal("causes of the sleeps", len(slept), 1)
    wakeups = handed.causes[slept[0]][1]
    t.equal("wakes with the sleeper's stack", handed.wakes(slept[0])[0], wakeups)
    rows = [row for row in handed.counts if row[0] == slept[0]]
    t.equal("stacks, one for each path", len({row[1] for row in rows}), wakeups)
    t.check(not any(row[2] for row in rows), "a timer's wakes have a waker's stack")
    t.check(sum(row[4] for row in rows) > 0, "no time asleep")
    for row in rows:
        stack = handed.stacks[row[1]]
        if not t.equal("process", stack["pid"], subject.pid):
            break
        text = [m for m in maps if m[3].endswith("/stackpaths") and "x" in m[2]][0]
        own = [a for a in stack["user"] if text[0] <= a < text[1]]
        # leaf()'s caller is the first that a frame pointer tells of; then 15 calls and main.
        if not t.equal("frames of the program", len(own), 16):
            break
        if not t.check(all(a >= KERNEL_FROM for a in stack["kernel"]), "a kernel frame is none"):
            break


@test
def stacks_of_each_window_come_in_it(t):
    """A probe remembers stacks it knows; not beyond a reset, after which their numbers begin anew."""
    subject = Subject(t.tool, ["sleeper", 100000, 1000])
    dump = Dump(t, subject.pid, "-ku", "-d", 0.4, "-t", 3)
    subject.go()
    for handed in dump.windows():
        check_books(t, handed)
        t.check(handed.wakes(max(handed.causes, default=0))[0] > 0, "no wake with a stack")
        t.check(handed.stacks, "no stack came")


@test
def many_distinct_stacks_none_lost_uncounted(t):
    """30,000 call paths."""
    subject = Subject(t.tool, ["stackpaths", 30000])
    dump = Dump(t, subject.pid, "-ku")
    subject.go()
    subject.process.wait(60)
    handed = dump.finish()
    check_books(t, handed)
    wakes = sum(row[3] for row in handed.counts)
    with_stack = sum(row[3] for row in handed.counts if row[1])
    lost = handed.lost.get("stacks", 0)
    t.check(wakes > 25000, f"{wakes} wakes of 30,000 sleeps")
    t.between("wakes with a stack, and those lost", with_stack + lost, wakes - 5, wakes + 5)
    t.between("stacks, and those lost", len(handed.stacks) + lost, wakes - 5, wakes + 10)
    contents = {(*s["kernel"], *s["user"]) for s in handed.stacks.values()}
    t.equal("distinct stacks", len(contents), len(handed.stacks))
    t.between("wakeups of the collector", handed.wakeups, 0, 200)


@test
def stacks_that_find_no_room_are_counted_as_lost(t):
    """Nobody reads the ring: it fills up, the books stay right."""
    subject = Subject(t.tool, ["stackpaths", 12000])
    dump = Dump(t, subject.pid, "-ku")
    dump.process.send_signal(signal.SIGSTOP)
    subject.go()
    subject.process.wait(60)
    dump.process.send_signal(signal.SIGCONT)
    handed = dump.finish()
    check_books(t, handed)
    lost = handed.lost.get("stacks", 0)
    t.check(lost > 1000, f"{lost} lost of 12,000 in a ring of 1 MB")
    wakes = sum(row[3] for row in handed.counts)
    with_stack = sum(row[3] for row in handed.counts if row[1])
    t.between("wakes with a stack, and those lost", with_stack + lost, wakes - 5, wakes + 5)


@test
def copies_that_find_no_room_leave_stacks_behind(t):
    """Nobody reads the ring: frame pointers stand in, and every wake has a stack."""
    subject = Subject(t.tool, ["sleeper", 8000, 100])
    dump = Dump(t, subject.pid, "-kc")
    dump.process.send_signal(signal.SIGSTOP)
    subject.go()
    subject.process.wait(60)
    dump.process.send_signal(signal.SIGCONT)
    handed = dump.finish()
    check_books(t, handed)
    t.equal("stacks lost", handed.lost.get("stacks", 0), 0)
    t.check(handed.lost.get("copies", 0) > 100, "all copies of 8,000 had room in a ring of 16 MB")
    wakes = sum(row[3] for row in handed.counts)
    with_stack = sum(row[3] for row in handed.counts if row[1])
    t.check(wakes > 7000, f"{wakes} wakes of 8,000 sleeps")
    t.between("wakes with a stack", with_stack, wakes - 5, wakes)
    copied = [i for i, stack in handed.stacks.items() if stack["copied"]]
    t.check(all(i >> 31 for i in copied), "a copy has the number of a stack of frames")
    frames = [s for s in handed.stacks.values() if s["pid"] == subject.pid and not s["copied"]]
    t.check(any(s["user"] for s in frames), "no frame pointers stand in")


@test
def stacks_are_limited_by_the_second(t):
    subject = Subject(t.tool, ["sleeper", 1500, 1000])
    dump = Dump(t, subject.pid, "-ku", "-l", 10)
    subject.go()
    subject.process.wait(60)
    handed = dump.finish()
    check_books(t, handed)
    t.equal("lost", handed.lost, {})
    with_stack = sum(row[3] for row in handed.counts if row[1])
    seconds = sum(row[4] for row in handed.counts) / 1e9
    t.between("sleeps with a stack", with_stack, 10, 10 * (seconds + 3) + 10)
    t.check(sum(row[3] for row in handed.counts) >= 1500, "wakes are missing")


@test
def copied_stacks_come_with_registers(t):
    """Each copy has a number of its own, is at most 16 KB long, and shorter where the stack ends."""
    if platform.machine() != "x86_64":
        raise Skip("numbers of registers are those of x86-64")
    subject = Subject(t.tool, ["sleeper", 100, 1000], stay=True)
    dump = Dump(t, subject.pid, "-kuc")
    subject.go()
    subject.await_ready()
    maps = maps_of(subject.pid)
    handed = dump.finish()
    check_books(t, handed)
    stack_map = [m for m in maps if m[3] == "[stack]"][0]
    copies = [i for i in handed.ids() if handed.stacks[i]["pid"] == subject.pid]
    t.check(len(copies) >= 100, f"{len(copies)} copies of 100 sleeps")
    for i in copies:
        regs, stack = handed.regs[i], handed.stacks[i]
        ip, sp = regs[16], regs[7]
        t.equal("instruction pointer", ip, stack["user"][0])
        if not t.check(stack_map[0] <= sp < stack_map[1], f"stack pointer {sp:x}"):
            break
        # Between the strings at the top and what lies below them the kernel leaves up to 8 KB that nobody has
        # touched (arch_align_stack()): a page there may not exist.
        whole, copied = min(16384, stack_map[1] - sp), stack["copied"]
        gap = (sp + copied) % 4096 == 0 and whole - copied <= 3 * 4096
        if not t.check(copied == whole or gap, f"{copied} bytes of {whole}"):
            break


@test
def copies_of_sleeper_and_waker_come_to_their_wake(t):
    """Three threads wake each other: each wake by a thread has two copies, which no other wake has."""
    subject = Subject(t.tool, ["whychain", 3, 300, 1000, "futex"])
    dump = Dump(t, subject.pid, "-kc")
    subject.go()
    subject.process.wait(60)
    handed = dump.finish()
    check_books(t, handed)
    t.equal("lost", handed.lost, {})
    both = [row for row in handed.counts if row[1] >> 31 and row[2] >> 31]
    t.check(len(both) >= 550, f"{len(both)} of 600 wakes have a copy of both")
    for _what, sleeper, waker, _count, sleep_ns in both:
        asleep, waking = handed.stacks[sleeper], handed.stacks[waker]
        # By the same looks at the clock, whoever came in between.
        if not t.equal("sleep", waking["time_ns"] - asleep["time_ns"], sleep_ns):
            break


@test
def samples_are_time_on_cpu(t):
    subject = Subject(t.tool, ["spinner", 2000])
    dump = Dump(t, subject.pid, "-ku", "-z", 500)
    subject.go()
    subject.process.wait(60)
    handed = dump.finish()
    check_books(t, handed)
    t.equal("lost", handed.lost, {})
    for serial, (_pid, _tid, oncpu_ns) in handed.threads.items():
        samples = sum(row[3] for row in handed.counts if row[0] == SAMPLE | serial)
        t.near("samples", samples, oncpu_ns / 1e9 * 500, 0.05, 10)
    user = [s for s in handed.stacks.values() if s["user"] and not s["kernel"]]
    t.check(user, "no sample of a program's own code is without kernel frames")


def storm(t, seconds):
    """Stacks under a storm of timers: (Handed, {pid: (ns of its begin, [(begin, end)])})."""
    folder = t.path("mappings")
    os.mkdir(folder)
    subject = Subject(t.tool, ["stackstorm", folder, seconds])
    dump = Dump(t, subject.pid, "-ku")
    subject.go()
    subject.process.wait(seconds + 60)
    handed = dump.finish()
    ranges = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding="ascii") as file:
            since_ns = int(file.readline(), 16)
            ranges[int(name)] = since_ns, [tuple(int(v, 16) for v in line.split()) for line in file]
    return handed, ranges


def lies_in(address, ranges):
    return any(begin <= address < end for begin, end in ranges)


@test
def every_stack_belongs_to_its_process_under_a_timer_storm(t):
    """No address is another process's code. Frame pointers that are none lead to data now and then, never at the
    innermost frame: what lies in no code is dropped when stacks are put together."""
    seconds = int(os.environ.get("WAKEWHY_STORM_S", "5"))
    handed, ranges = storm(t, seconds)
    check_books(t, handed)
    t.equal("lost", handed.lost, {})
    checked, misled = {}, 0
    everyone = sorted(set(piece for _since, pieces in ranges.values() for piece in pieces))
    for number, stack in handed.stacks.items():
        pid = stack["pid"]
        since_ns, own = ranges.get(pid, (0, []))
        if not own or not stack["user"] or stack["time_ns"] < since_ns:
            continue
        strange = [a for a in stack["user"] if not lies_in(a, own)]
        checked[pid] = checked.get(pid, 0) + 1
        misled += bool(strange)
        foreign = [a for a in strange if a == stack["user"][0] or lies_in(a, everyone)]
        if not t.check(not foreign, f"stack {number} of {pid} has {foreign[0]:x}" if foreign else ""):
            break
    t.check(misled * 100 <= sum(checked.values()), f"{misled} stacks were misled by frame pointers")
    t.equal("processes with stacks", len(checked), len(ranges))
    wakes = sum(row[3] for row in handed.counts)
    t.check(wakes > seconds * 2000, f"{wakes} wakes are no storm")
    print(f"# {wakes} wakes, {len(handed.stacks)} stacks of {len(checked)} processes in {seconds} s")
