"""What stacks of an idle program cost wakewhy itself: result_time.py BUILD.

A server that nobody talks to is watched for some seconds, in turn with stacks and without. Shown are the
time from the end of the window to the end of wakewhy, when the result is written, and its own CPU time
in each second of the window; the median over the rounds with the quartiles.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import harness  # noqa: E402
import test_runtimes  # noqa: E402
import tool  # noqa: E402
from bench import quartiles  # noqa: E402

ROUNDS = 3
WINDOW_S = 3
LISTS = ("no", "k,dwarf")
GOALS = {"result_ms": 500, "own_cpu_ms_per_s": 5}
SERVERS = {
    "bun-1.3.14": "Bun.serve({ port: 0, fetch: () => new Response('hola') });",
    "node-22": "require('http').createServer((q, a) => a.end('hola')).listen(0);",
}


def servers():
    """{label: command line} of those that are here."""
    found = {}
    for label, script in SERVERS.items():
        try:
            path = test_runtimes.pinned(label)[0].split(":", 1)[1]
        except harness.Skip as reason:
            print(f"{label} is left out: {reason}")
            continue
        found[label] = [path, "-e", script]
    return found


def one_window(wakewhy, pid, stacks):
    """Watches a process: {figure: value}."""
    started = wakewhy.start_attach("-p", pid, "-d", "1h", "-q", f"--stacks={stacks}",
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    started.await_window()
    time.sleep(WINDOW_S)  # the window itself
    begun = time.monotonic_ns()
    started.signal(signal.SIGINT)
    done = started.finish()
    took_ns = time.monotonic_ns() - begun
    if done.status not in (0, 5):
        raise SystemExit(f"bench: wakewhy attach: status {done.status}: {done.err}")
    own = done.run["trust"]["observer"]
    return {
        "result_ms": took_ns / 1e6,
        "own_cpu_ms_per_s": own["oncpu_ns"] / 1e6 / (done.run["window_ns"] / 1e9),
        "wakeups": done.run["totals"]["wakeups"],
    }


def measure(wakewhy, label, argv):
    """[{"server", "stacks", figure: quartiles}] of one server."""
    server = subprocess.Popen(argv, stdin=subprocess.DEVNULL)
    try:
        time.sleep(2)  # what a server does at its start is not idling
        if server.poll() is not None:
            raise SystemExit(f"bench: {label} ended")
        one_window(wakewhy, server.pid, LISTS[-1])  # files read, pages there
        kept = {stacks: [] for stacks in LISTS}
        for _ in range(ROUNDS):
            for stacks in LISTS:
                kept[stacks].append(one_window(wakewhy, server.pid, stacks))
    finally:
        server.kill()
        server.wait()
    return [{"server": label, "stacks": stacks,
             **{figure: quartiles([w[figure] for w in windows]) for figure in windows[0]}}
            for stacks, windows in kept.items()]


def show(rows):
    print(f"{'':12}{'stacks':10}{'wakeups':>9}{'result ms':>11}{'quartiles':>16}{'own CPU ms/s':>14}"
          f"{'quartiles':>16}")
    for row in rows:
        line = f"{row['server']:12}{row['stacks']:10}{row['wakeups']['median']:9.0f}"
        for figure, width, digits in (("result_ms", 11, 1), ("own_cpu_ms_per_s", 14, 3)):
            q = row[figure]
            spread = f"{q['q1']:.{digits}f}…{q['q3']:.{digits}f}"
            line += f"{q['median']:{width}.{digits}f}{spread:>16}"
            if q["median"] > GOALS[figure]:
                line += f"  above {GOALS[figure]}"
        print(line)
    print()


def main():
    if len(sys.argv) != 2:
        print("usage: result_time.py BUILD", file=sys.stderr)
        return 2
    build = sys.argv[1] if os.path.isdir(sys.argv[1]) else os.path.dirname(sys.argv[1]) or "."
    wakewhy = tool.Tool(os.path.join(build, "wakewhy"))
    if wakewhy.problem():
        raise SystemExit(f"bench: {wakewhy.problem()}")
    rows = []
    with tempfile.TemporaryDirectory(prefix="wakewhy-bench-") as root:
        test = harness.Test(wakewhy, root)
        try:
            for label, argv in servers().items():
                rows += measure(wakewhy, label, argv)
        finally:
            test.end()
    show(rows)
    with open(os.path.join(build, "bench-stacks.json"), "w", encoding="utf-8") as file:
        json.dump({"schema": "wakewhy-bench-stacks/1", "rows": rows}, file, indent=2)
        file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
