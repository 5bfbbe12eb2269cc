"""The tool under test and the subjects it measures: starting, waiting by conditions, reading."""

import json
import os
import platform
import select
import shutil
import signal
import subprocess
import time

from harness import Skip

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKOUT = os.path.dirname(os.path.dirname(HERE))
NOBODY = 65534

# Before a command: namespaces of its own, also in a chroot.
MOUNT_NAMESPACE = [os.path.join(HERE, "namespace.sh")]
PID_NAMESPACE = [*MOUNT_NAMESPACE, "-p"]

# The calls in which wakewhy waits while a window is open, by their numbers.
WAITING_CALLS = {
    "x86_64": {7, 271, 232, 281, 441},  # poll ppoll epoll_wait epoll_pwait epoll_pwait2
    "aarch64": {73, 22, 441},  # ppoll epoll_pwait epoll_pwait2
}.get(platform.machine(), set())


class Run:
    """One entry of "runs" of the JSON contract."""

    def __init__(self, data):
        self.data = data

    def __getitem__(self, key):
        return self.data[key]

    @property
    def threads(self):
        return self.data["threads"]

    def threads_of(self, **wanted):
        """Those whose fields have these values, in the order of the file."""
        return [t for t in self.threads if all(t[k] == v for k, v in wanted.items())]

    def thread(self, **wanted):
        found = self.threads_of(**wanted)
        if len(found) != 1:
            raise AssertionError(f"{len(found)} threads with {wanted}, should be one")
        return found[0]

    def calls(self, name, threads=None):
        """How often a call was made, over all threads or some."""
        chosen = self.threads if threads is None else threads
        return sum(t["syscall_counts"].get(name, 0) for t in chosen)

    def lost(self):
        return {name: n for name, n in self.data["trust"]["lost"].items() if n}


class Done:
    """What an invocation of wakewhy left: status, streams, and its JSON where it wrote one."""

    def __init__(self, argv, status, out, err, json_path, truth_path):
        self.argv, self.status, self.out, self.err = argv, status, out, err
        self.document = self.truth = None
        if json_path and os.path.exists(json_path):
            with open(json_path, "rb") as file:
                self.document = json.load(file)
        if truth_path and os.path.exists(truth_path):
            with open(truth_path, "rb") as file:
                self.truth = json.load(file)

    @property
    def run(self):
        if self.document is None:
            raise AssertionError(f"no JSON from {' '.join(self.argv)} ({self.status}): {self.err}")
        if len(self.document["runs"]) != 1:
            raise AssertionError(f"{len(self.document['runs'])} runs, should be one")
        return Run(self.document["runs"][0])

    @property
    def runs(self):
        if self.document is None:
            raise AssertionError(f"no JSON from {' '.join(self.argv)} ({self.status}): {self.err}")
        return [Run(data) for data in self.document["runs"]]


def await_true(condition, what, limit_s=20.0):
    """Waits for a condition that no descriptor tells of, by looking again and again."""
    deadline = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {limit_s} s in vain: {what}")
        time.sleep(0.002)


def read_text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def status_field(pid, name):
    """A number of /proc/PID/status; None when the process has gone."""
    for line in read_text(f"/proc/{pid}/status").splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    return None


def is_alive(pid):
    text = read_text(f"/proc/{pid}/stat")
    return bool(text) and text.rpartition(")")[2].split()[0] not in "ZX"


def children_of(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        found += [int(p) for p in read_text(f"/proc/{pid}/task/{task}/children").split()]
    return found


class Subject:
    """A live subject that stands at its start until go() is called; with stay, also at its end."""

    def __init__(self, tool, argv, prefix=(), waits=True, stay=False):
        self.truth_path = tool.test.path(f"truth-{len(tool.test.cleanups)}.json")
        ready_read, ready_write = os.pipe()
        go_read, self._go = os.pipe()
        options = ["--truth", self.truth_path, "--ready", str(ready_write)]
        if waits:
            options += ["--go", str(go_read)]
        if stay:
            options += ["--stay", "1"]
        self.process = subprocess.Popen(
            [*prefix, tool.subject(argv[0]), *options, *map(str, argv[1:])],
            pass_fds=(ready_write, go_read),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(ready_write)
        os.close(go_read)
        self._ready = os.fdopen(ready_read)
        tool.test.cleanup(self.kill)
        self.inner_pid = self.await_ready()  # as the subject itself sees it
        self.pid = self.process.pid if not prefix else None

    def await_ready(self):
        said = self._ready.readline().split()
        if said[:1] != ["ready"]:
            raise AssertionError(f"{self.process.args} did not become ready")
        return int(said[1])

    def await_asleep(self):
        """Until it sleeps in the kernel: what it said it is about to do."""
        await_true(
            lambda: read_text(f"/proc/{self.pid}/stat").rpartition(")")[2].split()[0] == "S",
            "a subject to fall asleep",
        )

    def go(self):
        os.write(self._go, b"g")

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)

    def truth(self):
        self.process.wait(120)
        return self.truth_so_far()

    def truth_so_far(self):
        """Of one that stays: what it wrote before."""
        with open(self.truth_path, "rb") as file:
            return json.load(file)

    def kill(self):
        if self._go >= 0:
            os.close(self._go)
            self._go = -1
            self._ready.close()
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(20)


class Started:
    """wakewhy while it runs."""

    def __init__(self, tool, argv, json_path=None, truth_path=None, **popen):
        self.argv, self.json_path, self.truth_path = argv, json_path, truth_path
        popen.setdefault("stdout", subprocess.PIPE)
        popen.setdefault("stderr", subprocess.PIPE)
        popen.setdefault("stdin", subprocess.DEVNULL)
        self.process = subprocess.Popen(argv, start_new_session=True, **popen)
        self.pid = self.process.pid
        tool.test.cleanup(self.kill)

    def await_window(self, limit_s=60):
        """Until wakewhy sleeps in the call in which it waits for the window's end, probes attached."""
        def waiting():
            if self.process.poll() is not None:
                raise AssertionError(f"wakewhy ended: {self.process.communicate()}")
            words = read_text(f"/proc/{self.pid}/syscall").split()
            return words and words[0].isdigit() and int(words[0]) in WAITING_CALLS and (
                bool(self.bpf_ids()["prog"])
            )

        if not WAITING_CALLS:
            raise Skip(f"the waiting calls of {platform.machine()} are not known to this test")
        await_true(waiting, "the window to open", limit_s)

    def bpf_ids(self):
        """Ids of what this process holds in the kernel: {"prog": {…}, "map": {…}}."""
        ids = {"prog": set(), "map": set()}
        try:
            descriptors = os.listdir(f"/proc/{self.pid}/fdinfo")
        except FileNotFoundError:
            return ids
        for fd in descriptors:
            for line in read_text(f"/proc/{self.pid}/fdinfo/{fd}").splitlines():
                name, _, value = line.partition(":")
                if name in ("prog_id", "map_id"):
                    ids[name[:-3]].add(int(value))
        return ids

    def signal(self, number):
        self.process.send_signal(number)

    def finish(self, limit_s=60):
        out, err = self.process.communicate(timeout=limit_s)
        return Done(
            self.argv,
            self.process.returncode,
            out.decode(errors="replace") if out is not None else "",
            err.decode(errors="replace") if err is not None else "",
            self.json_path,
            self.truth_path,
        )

    def kill(self):
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(20)


class Tool:
    def __init__(self, binary):
        self.binary = os.path.abspath(binary)
        self.subjects = os.environ.get(
            "WAKEWHY_SUBJECTS", os.path.join(os.path.dirname(self.binary), "subjects")
        )
        self.test = None
        self._why_not = None
        self.root = None

    def problem(self):
        if not os.access(self.binary, os.X_OK):
            return f"{self.binary} is no program: make builds it"
        if not os.path.isdir(self.subjects):
            return f"no subjects in {self.subjects}: 'make subjects' builds them"
        return None

    def set_up(self, root):
        """Once: where everybody may run it, pages read in, and whether this machine measures."""
        self.root = root
        self.public = os.path.join(root, "wakewhy")
        shutil.copyfile(self.binary, self.public)
        os.chmod(self.public, 0o755)
        for name in os.listdir(self.subjects):
            path = os.path.join(self.subjects, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    file.read()
        tried = subprocess.run(
            [self.binary, "run", "--", "true"], capture_output=True, text=True, timeout=60
        )
        if tried.returncode == 4:
            self._why_not = tried.stderr.strip().split("\n")[0]

    def need_bpf(self):
        if self._why_not:
            raise Skip(self._why_not)

    def subject(self, name):
        path = os.path.join(self.subjects, name)
        if not os.access(path, os.X_OK):
            raise AssertionError(f"{path} is not built")
        return path

    def call(self, *arguments, limit_s=60, binary=None, **options):
        """wakewhy with these arguments, whatever they are."""
        argv = [binary or self.binary, *map(str, arguments)]
        options.setdefault("stdin", subprocess.DEVNULL)
        if "stdout" not in options:
            options["stdout"] = subprocess.PIPE
        if "stderr" not in options:
            options["stderr"] = subprocess.PIPE
        done = subprocess.run(argv, timeout=limit_s, **options)
        return Done(
            argv,
            done.returncode,
            (done.stdout or b"").decode(errors="replace"),
            (done.stderr or b"").decode(errors="replace"),
            None,
            None,
        )

    def start_run(self, command, options=(), prefix=(), **popen):
        """wakewhy run on a command, left running."""
        path = self.test.path(f"run-{len(self.test.cleanups)}.json")
        argv = [*prefix, self.binary, "run", "-o", path, *map(str, options), "--"]
        return Started(self, argv + [str(word) for word in command], path, **popen)

    def start_subject(self, argv, options=(), prefix=(), wrapper=(), **popen):
        """wakewhy run on a subject, which writes its truth."""
        truth = self.test.path(f"truth-{len(self.test.cleanups)}.json")
        command = [*wrapper, self.subject(argv[0]), "--truth", truth, *argv[1:]]
        started = self.start_run(command, options, prefix, **popen)
        started.truth_path = truth
        return started

    def run(self, argv, options=(), limit_s=60, **more):
        return self.start_subject(argv, options, **more).finish(limit_s)

    @staticmethod
    def load(path):
        """The one run of a JSON file."""
        with open(path, "rb") as file:
            return Run(json.load(file)["runs"][0])

    def start_attach(self, *options, prefix=(), **popen):
        path = self.test.path(f"attach-{len(self.test.cleanups)}.json")
        argv = [*prefix, self.binary, "attach", "-o", path, *map(str, options)]
        return Started(self, argv, path, **popen)

    def attach(self, *options, limit_s=60, **popen):
        return self.start_attach(*options, **popen).finish(limit_s)


def need_program(name):
    if not shutil.which(name):
        raise Skip(f"{name} is not installed")


def readable(fd, limit_s):
    return bool(select.select([fd], [], [], limit_s)[0])
