"""Looking things up in the stacks of a run, and what independent tools say of the same code."""

import os
import re
import subprocess

from tool import await_true


class Stacks:
    """"stacks" of a run. A frame is one of its dictionaries, with "" for no name and a number for its
    offset."""

    def __init__(self, run):
        self.run, self.data = run, run["stacks"]
        if self.data is None:
            raise AssertionError("no stacks were taken")
        self.all_frames = [{**f, "name": f["name"] or "", "offset": int(f["offset"], 16)}
                           for f in self.data["frames"]]

    def frames(self, stack):
        """Of a place in "stacks", innermost first; none where no stack was taken."""
        if stack is None:
            return []
        return [self.all_frames[i] for i in self.data["stacks"][stack]["frames"]]

    def kernel(self, stack):
        return [f["name"] for f in self.frames(stack) if f["kind"] == "kernel"]

    def user(self, stack):
        return [f for f in self.frames(stack) if f["kind"] != "kernel"]

    def path(self, frame):
        """Of the file that the frame is in; "" for the kernel and made code."""
        return self.data["modules"][frame["module"]]["path"] if frame["kind"] == "file" else ""

    def names_in(self, stack, path):
        """Names of the frames in one file (by the end of its path) and of made code, innermost first."""
        return [f["name"] for f in self.user(stack)
                if f["kind"] == "jit" or self.path(f).endswith(path)]

    def truncated(self, stack):
        return self.data["stacks"][stack]["truncated"]

    def wakes(self, tid, **wanted):
        """Rows of "wakes" of a thread, whose cause has these values."""
        causes = self.run["causes"]
        return [w for w in self.data["wakes"] if w["tid"] == tid and
                all(causes[w["cause"]][k] == v for k, v in wanted.items())]


def ends_of(path):
    """A path's last two parts: tells files apart, however the folder is reached."""
    return "/" + "/".join(os.path.realpath(path).split("/")[-2:])


# ---- readelf: which function a byte of a file is in ---------------------------------------------------

class Functions:
    """The functions of an ELF file that has its symbols, by readelf."""

    def __init__(self, path):
        self.segments, self.functions = [], []
        for line in self._lines("-lW", path):
            words = line.split()
            if words[:1] == ["LOAD"]:
                offset, address, _, size = (int(word, 16) for word in words[1:5])
                self.segments.append((offset, address, size))
        for line in self._lines("-sW", path):
            words = line.split()
            if len(words) >= 8 and words[3] == "FUNC" and words[6] != "UND":
                self.functions.append((int(words[1], 16), int(words[2], 0), words[7]))
        if not self.segments or not self.functions:
            raise AssertionError(f"readelf tells nothing of {path}")

    @staticmethod
    def _lines(option, path):
        done = subprocess.run(["readelf", option, path], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    def at(self, offset):
        """{name: distance from its beginning} of all functions that hold this byte of the file."""
        found = {}
        for begin, address, size in self.segments:
            if begin <= offset < begin + size:
                at = address + offset - begin
                found.update({name: at - start for start, length, name in self.functions
                              if start <= at < start + length})
        return found


# ---- eu-stack: the stack of a live thread --------------------------------------------------------------

def mapped(pid):
    """[(start, end, offset, path)] of what a process has mapped executable."""
    rows = []
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
        for line in file:
            words = line.split(None, 5)
            if "x" in words[1]:
                start, end = (int(word, 16) for word in words[0].split("-"))
                rows.append((start, end, int(words[2], 16),
                             words[5].rstrip("\n") if len(words) > 5 else ""))
    return rows


def eu_stack(pid, tid):
    """[(path, offset, name)] of a thread now, innermost first; path "" where no file is mapped."""
    done = subprocess.run(["eu-stack", "-p", str(pid)], capture_output=True, text=True)
    rows, mine = [], False
    for line in done.stdout.splitlines():
        thread = re.match(r"TID (\d+):", line)
        frame = re.match(r"#\d+\s+0x([0-9a-f]+)(?:\s+-\s+\d+)?\s*(.*)", line)
        if thread:
            mine = int(thread.group(1)) == tid
        elif mine and frame:
            rows.append((int(frame.group(1), 16), frame.group(2).strip()))
    places = mapped(pid)
    return [next(((path, at - start + offset, name) for start, end, offset, path in places
                  if start <= at < end and path.startswith("/")), ("", at, name))
            for at, name in rows]


def eu_stack_in(pid, tid, function, limit_s=20):
    """That of a thread while a function is on it."""
    kept = []

    def is_there():
        kept[:] = eu_stack(pid, tid)
        return any(plain(name) == function for _, _, name in kept)

    await_true(is_there, f"eu-stack to find {tid} in {function}", limit_s)
    return kept


def plain(name):
    """Without the version that eu-stack adds."""
    return name.split("@")[0]


def bare(name):
    """One of the names that glibc gives a function: read of __libc_read."""
    return name.lstrip("_").removeprefix("libc_")


def difference(stacks, stack, oracle):
    """What keeps the user part of a stack from being eu-stack's; "" when it is the same.

    eu-stack gives the address behind a call, a frame the call's last byte; an interrupted call that will be
    made anew is two bytes before where it returns.
    """
    frames = stacks.user(stack)
    if len(frames) != len(oracle):
        return f"{len(frames)} frames, eu-stack has {len(oracle)}"
    for i, (frame, (path, offset, name)) in enumerate(zip(frames, oracle)):
        if frame["kind"] == "file" and not stacks.path(frame).endswith(os.path.basename(path)):
            return f"frame {i} is in {stacks.path(frame)}, eu-stack says {path}"
        if abs(frame["offset"] - offset) > 2:
            return f"frame {i} is at {frame['offset']:#x}, eu-stack says {offset:#x}"
        # What glibc gives several names to, each may choose another of: also in a static program.
        if "libc" not in path and path and bare(frame["name"]) != bare(plain(name)):
            return f"frame {i} is {frame['name']!r}, eu-stack says {plain(name)!r}"
    return ""


def nearest_difference(stacks, stack, pid, tid, function):
    """The difference from eu-stack's stack of a thread that sleeps in a function now; "" as soon as there is none.

    eu-stack stops the thread, which may interrupt its call: then it is seen on the way out of it or into it
    again, and is looked at once more.
    """
    for _ in range(10):
        told = difference(stacks, stack, eu_stack_in(pid, tid, function))
        if not told:
            break
    return told
