"""The machine under test: qemu, emulating, with its console on our side."""

import base64
import io
import os
import queue
import re
import subprocess
import tarfile
import threading
import time

# The longest case is selftest, 20 s; a host that does other things too is slow.
CASE_S = 150


# What the kernel says, which may come in the middle of a line of base64; a '[' is none.
KERNEL_SAYS = re.compile(r"\[ *\d+\.\d{6}\].*")


class MachineError(Exception):
    pass


class Arch:
    """What differs between architectures: names, and the machine that qemu makes."""

    def __init__(self, debian, elf, triple, qemu, options, console):
        self.debian, self.elf, self.triple = debian, elf, triple  # elf: its number in an ELF file
        self.qemu, self.options, self.console = qemu, options, console


ARCHES = {
    "amd64": Arch("amd64", 62, "x86_64-linux-gnu", "qemu-system-x86_64", ["-cpu", "max"], "ttyS0"),
    "arm64": Arch("arm64", 183, "aarch64-linux-gnu", "qemu-system-aarch64",
                  ["-M", "virt", "-cpu", "max,pauth-impdef=on"], "ttyAMA0"),
}


def unpack(lines, folder):
    """What a case left, as it came over the console."""
    lines = [KERNEL_SAYS.sub("", line) for line in lines]
    with tarfile.open(fileobj=io.BytesIO(base64.b64decode("".join(lines))), mode="r:gz") as tar:
        for member in tar.getmembers():
            if member.isfile() and "/" not in member.name.removeprefix("./"):
                tar.extract(member, folder)


class Machine:
    def __init__(self, arch, kernel, initramfs, log):
        self.lines = queue.Queue()
        self.log = open(log, "w", encoding="utf-8")
        # no_timer_check: a kernel that counts ticks at its start gives up where the host has no time for it. tsc=reliable:
        # the scheduler's clock and the monotonic one are the same, as on most machines.
        # Never with kvm: what is emulated is the same everywhere, and needs nothing of the host. thread=single: with a
        # thread for each CPU, a CPU may go on for ever with a breakpoint that another one has taken out of the code.
        self.process = subprocess.Popen(
            ["nice", "-n", "5", arch.qemu, "-accel", "tcg,thread=single", *arch.options, "-m", "1024", "-smp", "2",
             "-nographic", "-nodefaults", "-no-reboot", "-serial", "stdio", "-kernel", kernel, "-initrd", initramfs,
             "-append", f"console={arch.console} loglevel=5 no_timer_check tsc=reliable panic=-1"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.decode(errors="replace").rstrip("\r\n"))
        self.lines.put(None)

    def line(self, deadline):
        """The next line of the console; None at its end."""
        try:
            line = self.lines.get(timeout=max(deadline - time.monotonic(), 0))
        except queue.Empty:
            raise MachineError(f"a case took longer than {CASE_S} s") from None
        if line is not None:
            self.log.write(line + "\n")
            self.log.flush()
        return line

    def cases(self, root):
        """(name, folder, seconds) of each case as it ends; what it left is in the folder. The first one is
        ("kernel", its release, None)."""
        begun, kept = time.monotonic(), None
        while (line := self.line(begun + CASE_S)) is not None:
            # What the firmware writes may stand before the first word.
            at = line.find("@")
            word, _, name = line[max(at, 0):].partition(" ")
            if word == "@kernel":
                yield "kernel", name, None
            elif word == "@start":
                begun = time.monotonic()
            elif word == "@begin":
                kept = []
            elif word == "@end":
                folder = os.path.join(root, name)
                os.makedirs(folder, exist_ok=True)
                try:
                    unpack(kept, folder)
                except (tarfile.TarError, ValueError, EOFError, OSError) as error:
                    raise MachineError(f"what {name} left came broken over the console: {error}") from None
                kept = None
                yield name, folder, time.monotonic() - begun
            elif word == "@done":
                return
            elif kept is not None:
                kept.append(line)
        raise MachineError("the machine went off before all was done")

    def end(self):
        """Off by itself, or by force; gone when this returns."""
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(20)
        self.log.close()
