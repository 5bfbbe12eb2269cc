"""Runs the cases on other kernels: run.py BUILD ARCH SERIES..."""

import os
import shutil
import struct
import sys
import time
import traceback
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))

from cases import CASES, Left  # noqa: E402
from harness import Test  # noqa: E402
from image import Image, ImageError  # noqa: E402
from machine import ARCHES, Machine, MachineError  # noqa: E402
from packages import NotThere, busybox, kernel  # noqa: E402


def machine_of(path):
    """The number of the architecture that an ELF file is for; None: there is none."""
    try:
        with open(path, "rb") as file:
            return struct.unpack_from("<H", file.read(20), 18)[0]
    except (OSError, struct.error):
        return None


def find_build(build, arch):
    """The folder of what is built for an architecture: this one's own, or of a cross build beside it."""
    cross = f"{build}-{arch.debian}"
    for folder in (build, cross):
        if machine_of(os.path.join(folder, "wakewhy")) == arch.elf:
            return folder
    raise NotThere(f"nothing is built for {arch.debian} in {build} or {cross}")


def need(build, arch):
    """What could not be installed is told by who tried (prepare.sh)."""
    try:
        with open(os.path.join(build, "vm", f"missing-{arch.debian}"), encoding="utf-8") as file:
            raise NotThere(file.read().strip() or "something is missing")
    except FileNotFoundError:
        pass
    for name in (arch.qemu, "cpio", "dpkg"):
        if not shutil.which(name):
            raise NotThere(f"there is no {name} here")


def subjects_of(build):
    folder = os.path.join(build, "subjects")
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))
            if os.path.isfile(os.path.join(folder, name)) and os.access(os.path.join(folder, name), os.X_OK)]


def make_image(build, cache, arch):
    """One for all kernels of an architecture. Returns its path."""
    image = Image(os.path.join(cache, f"root-{arch.debian}"), arch.triple)
    image.copy(busybox(cache, arch.debian), "bin/busybox")
    image.program(os.path.join(build, "wakewhy"), "bin/wakewhy")
    image.library("libgcc_s.so.1")  # for pthread_exit()
    for path in subjects_of(build):
        image.program(path, f"subjects/{os.path.basename(path)}")
    for name, script, _ in CASES:
        image.text(f"cases/{name}", script + "\n")
    path = os.path.join(cache, f"root-{arch.debian}.cpio")
    image.pack(path)
    return path


class Count:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def ok(self, name, seconds):
        self.passed += 1
        print(f"ok - {name} ({seconds:.1f} s)", flush=True)

    def fail(self, name, reasons):
        self.failed += 1
        print(f"not ok - {name}", flush=True)
        for reason in reasons:
            print("    " + reason.replace("\n", "\n    "), flush=True)

    def skip(self, name, why):
        self.skipped += 1
        print(f"skip - {name}: {why}", flush=True)

    def line(self):
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def judge(function, folder):
    """Reasons why what a case left is wrong."""
    t = Test(SimpleNamespace(), folder)
    try:
        function(t, Left(folder))
    except Exception:
        t.failures.append(traceback.format_exc().rstrip())
    if t.failures:
        t.failures.append(f"what it left: {folder}")
    return t.failures


def run_kernel(count, arch, series, image, initramfs, cache):
    """Boots one kernel and judges case by case."""
    label = f"{series} {arch.debian}"
    out = os.path.join(cache, f"out-{series}-{arch.debian}")
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    waiting = {name: function for name, _, function in CASES}
    machine = Machine(arch, image, initramfs, os.path.join(out, "console"))
    begun = time.monotonic()
    try:
        for name, folder, seconds in machine.cases(out):
            if name == "kernel":
                print(f"# {label}: Linux {folder}, up after {time.monotonic() - begun:.0f} s", flush=True)
                continue
            told = f"{label}: {name.replace('_', ' ')}"
            reasons = judge(waiting.pop(name), folder)
            if reasons:
                count.fail(told, reasons)
            else:
                count.ok(told, seconds)
    except MachineError as error:
        count.fail(f"{label}: {error}", [f"its console: {os.path.join(out, 'console')}"])
    finally:
        machine.end()
    if waiting:
        count.fail(f"{label}: {len(waiting)} cases did not run", list(waiting))


def main():
    if len(sys.argv) < 4 or sys.argv[2] not in ARCHES:
        print(f"usage: run.py BUILD {'|'.join(ARCHES)} SERIES...", file=sys.stderr)
        return 2
    arch = ARCHES[sys.argv[2]]
    count = Count()
    try:
        build = os.path.abspath(sys.argv[1])
        need(build, arch)
        build = find_build(build, arch)
        cache = os.path.join(build, "vm")
        os.makedirs(cache, exist_ok=True)
        initramfs = make_image(build, cache, arch)
        for series in sys.argv[3:]:
            try:
                run_kernel(count, arch, series, kernel(cache, series, arch.debian), initramfs, cache)
            except NotThere as why:
                count.skip(f"{series} {arch.debian}", why)
    except NotThere as why:
        count.skip(f"kernels for {arch.debian}", why)
    except ImageError as error:
        count.fail(f"{arch.debian}: {error}", [])
    print(count.line(), flush=True)
    return 1 if count.failed or not (count.passed or count.skipped) else 0


if __name__ == "__main__":
    sys.exit(main())
