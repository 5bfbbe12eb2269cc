# SHA-256 of a short text to hex, over and over: VARIANT ops N | VARIANT ns N.
import os
import sys
import time
from hashlib import sha256

TEXT = b"Hello world!!!"
WARM_UP_NS = 200_000_000
SLICE_NS = 5_000_000  # between two looks at the clock


def batch(n):
    """Returns the last digest, and a sum over all of them so that none is dead code."""
    fold = 0
    last = ""
    for i in range(n):
        last = sha256(TEXT).hexdigest()
        fold += last[i & 63] == "a"
    return last, fold


def run_for_ns(ns, size=100):
    """Until ns have passed. The size of a batch follows the pace, so that the looks at the clock
    cost nothing that could be measured."""
    start = time.perf_counter_ns()
    done = elapsed = fold = 0
    last = ""
    while elapsed < ns:
        last, part = batch(size)
        fold += part
        done += size
        elapsed = time.perf_counter_ns() - start
        size = max(1, int(done / elapsed * min(SLICE_NS, ns - elapsed)))
    return done, last, fold


def read_line():
    line = b""
    while (byte := os.read(0, 1)) and byte != b"\n":
        line += byte
    return line


def say(text):
    os.write(1, text.encode() + b"\n")


def main():
    variant, unit, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if variant != "sync":
        say(f"unsupported no variant {variant}")
        return
    run_for_ns(WARM_UP_NS)
    say("ready")
    if read_line() != b"go":
        return
    if unit == "ops":
        done = limit
        last, fold = batch(limit)
    else:
        done, last, fold = run_for_ns(limit)
    say(f"done {done} {last}")
    if fold < 0:
        sys.stderr.write("fold\n")
    read_line()


main()
