"""Files that lie in wait: results to read, places to write to, programs and debug files of what is watched."""

import os
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time
import zlib

from harness import Skip, test
from stacks import Stacks
from test_privileges import TWO, start_with
from test_proc import open_folder
from test_stacks import LEVELS
from tool import HERE, MOUNT_NAMESPACE, NOBODY, Subject, await_true, need_program

# Of address space. What 16 MB of numbers may take once they are read is some ten times as much.
MEMORY = 700 << 20


def small_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def recording(plain_pieces, says=None):
    """A sound envelope around these bytes; `says` is how many it claims to hold."""
    packer, packed, crc, n = zlib.compressobj(9), [], 0, 0
    for piece in plain_pieces:
        crc, n = zlib.crc32(piece, crc), n + len(piece)
        packed.append(packer.compress(piece))
    packed = b"".join([*packed, packer.flush()])
    header = b"\x89WKW\r\n\x1a\n" + struct.pack("<IIQQI", VERSION, 0, len(packed), says or n, crc)
    return header + struct.pack("<I", zlib.crc32(header)) + packed


VERSION = 1


def refused(t, what, *words):
    begun = time.monotonic()
    done = t.tool.call(*words, preexec_fn=small_memory, limit_s=60)
    t.check(done.status in (1, 2), f"{what}: status {done.status}: {done.err!r}")
    t.equal(f"{what}: standard output", done.out, "")
    t.between(f"{what}: lines ({done.err!r})", done.err.count("\n"), 1, 2)
    t.check("memory" not in done.err, f"{what}: {done.err!r}")
    t.between(f"{what}: bytes said", len(done.err), 1, 700)
    t.between(f"{what}: seconds", time.monotonic() - begun, 0, 30)


@test(needs_bpf=False)
def a_recording_that_inflates_without_end_is_refused(t):
    real = t.path("real.wkw")
    t.tool.call("run", "--backend", "proc", "-q", "-o", real, "--", "true")
    with open(real, "rb") as file:
        t.equal("version of recordings", struct.unpack("<I", file.read(12)[8:])[0], VERSION)
    megabyte = 1 << 20
    bombs = {"blanks": recording([b" " * megabyte] * 100), "nested": recording([b"[" * megabyte] * 100),
             "more-than-it-says": recording([b" " * megabyte] * 10, says=1000),
             "endless-by-its-word": recording([b"{}"], says=1 << 62),
             "deep": recording([b"[" * (15 * megabyte)]), "numbers": recording([b"[", b"0," * megabyte, b"0]"])}
    for name, data in bombs.items():
        path = t.path(f"{name}.wkw")
        with open(path, "wb") as file:
            file.write(data)
        refused(t, name, "report", path)
    refused(t, "the last as the second of two", "diff", real, path)


@test(needs_bpf=False)
def json_a_hundred_million_levels_deep_is_refused_everywhere(t):
    path, folder = t.path("deep.json"), t.path("study")
    os.mkdir(folder, 0o700)
    for begin, deep, times in ((b"[", b"[" * 1_000_000, 100), (b'{"schema":', b'{"a":' * 1000, 100)):
        with open(path, "wb") as file:
            file.write(begin)
            for _ in range(times):
                file.write(deep)
        what = f"{begin.decode()}… of {os.path.getsize(path)}"
        refused(t, f"diff of {what}", "diff", path, path)
        refused(t, f"baseline of {what}", "run", "--baseline", path, "--", "true")
        refused(t, f"claims of {what}", "study", "--quick", "--claims", path, "floor")
        os.link(path, os.path.join(folder, "study.json"))
        refused(t, f"study of {what}", "study", "--quick", "--resume", folder, "floor")
        os.unlink(os.path.join(folder, "study.json"))
        os.unlink(path)


@test(needs_bpf=False)
def a_result_never_goes_where_a_link_leads(t):
    """A directory as /tmp is, where somebody else was first."""
    shared, precious = t.path("shared"), t.path("precious")
    os.mkdir(shared)
    os.chmod(shared, 0o1777)
    with open(precious, "w", encoding="ascii") as file:
        file.write("mine")
    for lead in (precious, "/dev/full", "missing", shared + "/out.json"):
        path = os.path.join(shared, "out.json")
        os.symlink(lead, path)
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        done = t.tool.call("run", "--backend", "proc", "-q", "-o", path, "--", "true",
                           env={**os.environ, "SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)})
        t.equal(f"status with a link to {lead} ({done.err.strip()})", done.status, 0)
        with open(precious, encoding="ascii") as file:
            t.equal("what the link led to", file.read(), "mine")
        t.check(stat.S_ISREG(os.lstat(path).st_mode), "the result is no file")
        t.equal("whose it is", os.stat(path).st_uid, NOBODY)
        t.equal("left there", os.listdir(shared), ["out.json"])
        os.unlink(path)


# ---- what is watched -----------------------------------------------------------------------------------

def watch(t, subject, prefix_names=None):
    """Names of the subject's own frames, and what attach said; as root, or with these capabilities."""
    words = ["attach", "-s", "-p", subject.pid, "-d", "60s"]
    if prefix_names:
        attached = start_with(t, prefix_names, *words)
    else:
        attached = t.tool.start_attach(*words[1:])
    attached.await_window()
    subject.go()
    done = attached.finish(30)
    t.check(done.status in (0, 5), f"status {done.status}: {done.err.strip()}")
    stacks = Stacks(done.run)
    return {f["name"] for f in stacks.all_frames if f["kind"] == "file" and f["name"]}


@test
def a_program_that_moved_away_and_left_a_pipe_holds_nobody_up(t):
    folder = os.path.join(open_folder(t), "programs")
    os.mkdir(folder)
    for names in (None, (*TWO, "sys_ptrace")):
        program = os.path.join(folder, "mover")
        shutil.copy(t.tool.subject("stacks/chain-frameless"), program)
        subject = Subject(t.tool, [program, 10, 2000, "nanosleep"])
        os.rename(program, program + ".moved")
        os.mkfifo(program)
        found = watch(t, subject, names)
        if not names:
            t.check(set(LEVELS) <= found, f"names by the mapping itself: {sorted(found)}")
        os.unlink(program)


def build_id(path):
    text = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, check=True).stdout
    return re.search(r"Build ID: ([0-9a-f]+)", text).group(1)


@test
def a_mount_namespace_with_debug_files_of_its_own_holds_nobody_up(t):
    """/usr/lib/debug is what the program made of it: pipes, devices, files of any size, files of others."""
    need_program("readelf")
    program = t.tool.subject("stacks/chain-split")
    identity = build_id(program)
    os.makedirs("/usr/lib/debug", exist_ok=True)
    with open(program, "rb") as file:
        header = file.read(4096)
    makers = {
        "pipe": os.mkfifo,
        "link to a pipe": lambda path: (os.mkfifo(path + ".pipe"), os.symlink(path + ".pipe", path)),
        "link to zeros": lambda path: os.symlink("/dev/zero", path),
        "link to the kernel's messages": lambda path: os.symlink("/proc/kmsg", path),
        "link to itself": lambda path: os.symlink(path, path),
        "directory": os.mkdir,
        "of an exabyte": lambda path: (write(path, header), os.truncate(path, 1 << 42)),
        "cut": lambda path: write(path, header[:100]),
        "broken": lambda path: write(path, header[:64] + b"\xff" * 4000),
    }
    for kind, make in makers.items():
        debug = t.path(f"debug-{len(os.listdir(t.root))}")
        place = os.path.join(debug, ".build-id", identity[:2])
        os.makedirs(place)
        make(os.path.join(place, identity[2:] + ".debug"))
        subject = Subject(t.tool, [program, 10, 2000, "nanosleep"],
                          prefix=[*MOUNT_NAMESPACE, "sh", "-c", 'mount --bind "$1" /usr/lib/debug && shift && exec "$@"',
                                  "sh", debug])
        subject.pid = subject.process.pid
        found = watch(t, subject)
        t.equal(f"names with a debug file that is {kind}", found & set(LEVELS), set())
        subject.kill()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


class SilentFiles:
    """A mount where "program" is a file until hush(); whoever asks for anything then waits for ever."""

    def __init__(self, t, path):
        if not os.access("/dev/fuse", os.R_OK | os.W_OK):
            raise Skip("there is no /dev/fuse")
        self.folder = t.path("silent")
        os.mkdir(self.folder)
        self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "silent_files.py"), self.folder, path],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        t.cleanup(self.end)
        if self.process.stdout.readline() != "ready\n":
            raise Skip(f"no file system in user space: {self.process.stderr.read().strip()}")

    def hush(self):
        self.process.send_signal(signal.SIGUSR1)

    def end(self):
        self.process.kill()
        self.process.wait(20)
        subprocess.run(["umount", "-l", self.folder], capture_output=True)


@test
def a_file_system_that_never_answers_holds_nobody_up(t):
    """Its owner runs a program from it. Who asks for that file waits, and not even kill -9 ends that."""
    silent = SilentFiles(t, t.tool.subject("stacks/chain-static"))
    subject = Subject(t.tool, [os.path.join(silent.folder, "program"), 100000, 2000, "nanosleep"])
    subject.go()
    await_true(lambda: len(os.listdir(f"/proc/{subject.pid}/task")) == 2, "the subject to work")
    silent.hush()
    for words in (["-s", "-p", subject.pid], ["--stacks=k,u", "--sample", "-p", subject.pid]):
        done = t.tool.attach(*words, "-d", "300ms")
        t.check(done.status in (0, 5), f"status of {words}: {done.status}: {done.err.strip()}")
        own = [th for th in done.run.threads if th["pid"] == subject.pid]
        t.check(sum(th["wakeups"] for th in own) > 10, f"the subject's wakeups are missing with {words}")
        if done.run["stacks"]:
            t.equal("names from it", [f["name"] for f in Stacks(done.run).all_frames
                                      if f["kind"] == "file" and f["name"] in LEVELS], [])


# Of one file at one place, so that the kernel makes no two of them one.
MANY = """
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
file = os.open(sys.executable, os.O_RDONLY)
n = 0
while n < 60000 and libc.mmap(None, 4096, 5, 2, file, 0) not in (None, 2 ** 64 - 1):
    n += 1
print(n, flush=True)
sys.stdin.readline()
for _ in range(20):
    time.sleep(0.002)
"""


@test
def a_process_with_sixty_thousand_mappings_is_watched_as_any(t):
    process = subprocess.Popen(["python3", "-c", MANY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    t.cleanup(process.wait)
    t.cleanup(process.kill)
    t.between("mappings", int(process.stdout.readline()), 30000, 60000)
    attached = t.tool.start_attach("-s", "-p", process.pid, "-d", "60s")
    attached.await_window()
    process.stdin.write("go\n")
    process.stdin.flush()
    done = attached.finish(30)
    t.check(done.status in (0, 5), f"status {done.status}: {done.err.strip()}")
    t.between("wakeups", done.run.thread(tid=process.pid)["wakeups"], 20, 40)
    t.between("stacks", done.run["stacks"]["wakeups_with"], 18, 40)
