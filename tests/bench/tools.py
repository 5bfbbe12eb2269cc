"""What is attached while something is timed: nothing, empty programs, wakewhy, or one of its peers.

A configuration is a context: entering it starts its programs and waits until they are attached, leaving it
ends them and waits until they are gone. Its programs die with the bench, however that ends."""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
import time

import alone
import tool

HERE = os.path.dirname(os.path.abspath(__file__))
PATH = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
STACKS = {  # wakewhy's options, by the names that tables use; without a limit, or the limit would hide the cost
    "none": ["--stacks=no"],
    "k": ["--stacks=k", "--stack-limit", "0"],
    "k,u": ["--stacks=k,u", "--stack-limit", "0"],
    "dwarf": ["--stacks=k,dwarf", "--stack-limit", "0"],
    "sample": ["--stacks=no", "--sample"],
    "default": [],  # k,dwarf, 200 a second for each thread
}
PR_SET_PDEATHSIG = 1
BPF_ENABLE_STATS = 32
SYS_BPF = {"x86_64": 321, "aarch64": 280}
_libc = ctypes.CDLL(None, use_errno=True)


def which(name):
    return shutil.which(name, path=PATH)


def die_with_us():
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def launch(argv, cpus=None, **popen):
    """A process of the bench, killed by the kernel when the bench ends."""

    def prepare():
        die_with_us()
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored in whoever runs us in the background
        if cpus:
            os.sched_setaffinity(0, cpus)

    popen.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([str(word) for word in argv], preexec_fn=prepare,
                            start_new_session=True, **popen)


@contextlib.contextmanager
def timed_programs():
    """The kernel counts runs and time of BPF programs. The switch is a descriptor: it goes with us."""
    attr = ctypes.create_string_buffer(128)  # type 0: run time
    fd = _libc.syscall(SYS_BPF.get(os.uname().machine, 321), BPF_ENABLE_STATS, attr, 128)
    if fd < 0:
        raise SystemExit(f"bench: BPF programs cannot be timed: {os.strerror(ctypes.get_errno())}")
    try:
        yield
    finally:
        os.close(fd)


def await_attached(process, condition, what):
    def looked():
        if process.poll() is not None:
            raise SystemExit(f"bench: {what} ended with status {process.returncode} before it was attached")
        return condition(process.pid)

    tool.await_true(looked, f"{what} to be attached", limit_s=120)


def waits(pid):
    """Is it in a call that waits for events?"""
    words = tool.read_text(f"/proc/{pid}/syscall").split()
    return bool(words) and words[0].isdigit() and int(words[0]) in tool.WAITING_CALLS


def sleeps(pid):
    return tool.read_text(f"/proc/{pid}/stat").rpartition(")")[2].split()[:1] == ["S"]


def count_of(pid, what):
    return sum(what in target for _, target in alone.descriptors(pid))


def tracer_of_all(pid, tracer):
    tasks = os.listdir(f"/proc/{pid}/task")
    return all(tool.status_field(f"{pid}/task/{tid}", "TracerPid") == tracer for tid in tasks)


class Configuration:
    """Base of all, and alone the bare one: nothing attached."""

    name, kind, slowness = "bare", "bare", 1  # steps are divided by slowness

    def __init__(self):
        self.started = []
        self.folder = None
        self.start_ns = self.result_ns = self.bytes = 0

    def missing(self):
        """What it lacks to run here; None: nothing."""

    def attach(self, pid):
        pass

    def launch(self, argv, **popen):
        n = len(self.started)
        with open(self.path(f"out-{n}"), "wb") as out, open(self.path(f"err-{n}"), "wb") as err:
            popen.setdefault("stdout", out)
            popen.setdefault("stderr", err)
            process = launch(argv, **popen)
        self.started.append(process)
        return process

    def path(self, name):
        return os.path.join(self.folder.name, name)

    @contextlib.contextmanager
    def on(self, pid):
        """Attached to the process, or to none where it looks at all."""
        self.started = []
        self.folder = tempfile.TemporaryDirectory(prefix="wakewhy-bench-tool-")
        try:
            begun = time.monotonic_ns()
            self.attach(pid)
            self.start_ns = time.monotonic_ns() - begun
            yield self
            self.end()
            self.bytes = sum(entry.stat().st_size for entry in os.scandir(self.folder.name))
        finally:
            self.kill()
            self.folder.cleanup()

    def end(self):
        """Asks all to end; result_ns is how long that took."""
        begun = time.monotonic_ns()
        for process in self.started:
            if process.poll() is not None:
                raise SystemExit(f"bench: {self.name} ended on its own, status {process.returncode}: "
                                 + self.said())
            process.send_signal(signal.SIGINT)
        for process in self.started:
            self.await_end(process)
        self.result_ns = time.monotonic_ns() - begun

    def await_end(self, process):
        """bpftrace has been seen to sleep over its first interrupt."""
        for limit_s in (30, 30, 30):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(limit_s)
                return
            process.send_signal(signal.SIGINT)
        raise SystemExit(f"bench: {self.name} does not end when it is interrupted: {self.said()}")

    def kill(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait(60)

    def said(self):
        return " ".join(tool.read_text(self.path(f"err-{i}"))[-300:] for i in range(len(self.started)))

    # ---- what its programs used so far

    def tasks(self):
        for process in self.started:
            with contextlib.suppress(OSError):
                for tid in os.listdir(f"/proc/{process.pid}/task"):
                    yield f"{process.pid}/task/{tid}"

    def usage(self):
        """{"cpu_ns", "wakeups"} since they began."""
        cpu_ns = wakeups = 0
        for task in self.tasks():
            words = tool.read_text(f"/proc/{task}/schedstat").split()
            cpu_ns += int(words[0]) if words else 0
            wakeups += tool.status_field(task, "voluntary_ctxt_switches") or 0
        return {"cpu_ns": cpu_ns, "wakeups": wakeups}

    def rss_bytes(self):
        return sum((tool.status_field(p.pid, "VmHWM") or 0) * 1024 for p in self.started)

    def probes_ns(self):
        """Time of its BPF programs by the kernel's count; None: it has none."""
        programs = {}
        for process in self.started:
            for number, target in alone.descriptors(process.pid):
                if "bpf-prog" in target or "bpf_prog" in target:
                    info = alone.fdinfo(process.pid, number)
                    programs[info.get("prog_id")] = int(info.get("run_time_ns", 0))
        return sum(programs.values()) if programs else None


class Empty(Configuration):
    name, kind = "empty", "empty"

    def __init__(self, build):
        super().__init__()
        self.program = os.path.join(build, "bench", "empty")

    def attach(self, pid):
        process = self.launch([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if process.stdout.readline() != b"ready\n":
            raise SystemExit("bench: the empty programs cannot be attached (are you root?)")

    def end(self):
        self.started[0].stdin.close()
        self.started[0].wait(60)


class Wakewhy(Configuration):
    """On the process that is timed, or with `idler` on that one, which sleeps."""

    def __init__(self, binary, options_name, idler=None):
        super().__init__()
        self.binary, self.options, self.idler = binary, STACKS[options_name], idler
        self.kind = "bystander" if idler else "target"
        self.name = f"{self.kind} {options_name}"

    def attach(self, pid):
        process = self.launch([self.binary, "attach", "-p", self.idler or pid, "-d", "1h", "-q",
                               *self.options, "-o", self.path("result.wkw")])
        await_attached(process, lambda pid: waits(pid) and count_of(pid, "bpf-prog"), self.name)

    def end(self):
        super().end()
        if self.started[0].returncode not in (0, 5):  # 5: measured, on a noisy machine
            raise SystemExit(f"bench: wakewhy attach: status {self.started[0].returncode}: {self.said()}")


class Peer(Configuration):
    kind = "peer"
    programs = ()

    def missing(self):
        absent = [name for name in self.programs if not which(name)]
        return f"{' and '.join(absent)} not installed (make bench-peers)" if absent else None


class Bpftrace(Peer):
    """A script of ours that makes the same sums."""

    name, programs = "bpftrace", ("bpftrace",)

    def missing(self):
        if not os.path.exists(f"{alone.TRACEFS}/events"):
            return "tracefs is not mounted, which bpftrace needs"
        return super().missing()

    def attach(self, pid):
        process = self.launch([which("bpftrace"), os.path.join(HERE, "peer.bt"), pid])
        await_attached(process, lambda pid: waits(pid) and count_of(pid, "perf_event") >= 3, self.name)


class BpfTools(Peer):
    """libbpf-tools' wakeuptime, which looks at all (it takes the id of a thread only), and with it, where
    they are wanted, cpudist and syscount on the process."""

    def __init__(self, *programs):
        super().__init__()
        self.programs = programs
        self.name = " + ".join(programs)

    def argv(self, program, pid):
        return {"wakeuptime": ["3600"], "cpudist": ["-p", pid, "3600"],
                "syscount": ["-p", pid]}[program]

    def attach(self, pid):
        processes = [self.launch([which(name), *self.argv(name, pid)]) for name in self.programs]
        for name, process in zip(self.programs, processes):
            links = 2 if name == "wakeuptime" else 1
            await_attached(process, lambda pid, links=links: sleeps(pid) and links_of(pid) >= links, name)


def links_of(pid):
    """How many BPF links the process holds. (bpftool lists those of all, and fails where one of them goes
    meanwhile.)"""
    return sum("link_id" in alone.fdinfo(pid, number) for number, _ in alone.descriptors(pid))


class PerfSched(Peer):
    name, programs = "perf sched record", ("perf",)
    ends = ()

    def attach(self, pid):
        # On a busy machine it never sleeps; it answers once it records.
        ask_read, ask = os.pipe()
        answer, answer_write = os.pipe()
        self.ends = [ask_read, ask, answer, answer_write]
        process = self.launch([which("perf"), "sched", "record", "-o", self.path("perf.data"),
                               f"--control=fd:{ask_read},{answer_write}"],
                              pass_fds=(ask_read, answer_write))
        os.write(ask, b"ping\n")
        await_attached(process, lambda _pid: tool.readable(answer, 0.01), self.name)

    def kill(self):
        super().kill()
        while self.ends:  # it gives up when somebody hangs up before
            os.close(self.ends.pop())


class PerfTrace(Peer):
    name, programs, slowness = "perf trace -s", ("perf",), 20

    def attach(self, pid):
        process = self.launch([which("perf"), "trace", "-s", "-p", pid])
        await_attached(process, lambda pid: waits(pid) and count_of(pid, "perf_event"), self.name)


class Strace(Peer):
    name, programs, slowness = "strace -c -f", ("strace",), 50

    def attach(self, pid):
        process = self.launch([which("strace"), "-c", "-f", "-p", pid])
        await_attached(process, lambda tracer: tracer_of_all(pid, tracer), self.name)


def peers():
    return [Bpftrace(), BpfTools("wakeuptime", "cpudist", "syscount"), BpfTools("wakeuptime"),
            PerfSched(), PerfTrace(), Strace()]
