"""Requests per second: against the load generator's own words, on real runtimes, and where it fails."""

import glob
import os
import shutil
import signal
import sys

from harness import test
from test_runtimes import LABELS, alive_with, check_runs, measure, pinned
from tool import Started, await_true, need_program, read_text

NOT_COMPARABLE = "(not comparable)"
# One window of each, however busy the machine is.
ONCE = ("--no-bare", "--retries", "0")


def with_wrk(t, script):
    """An environment in which wrk is this script of sh; real wrk is $WRK in it."""
    folder = t.path("bin")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "wrk")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nWRK={shutil.which('wrk')}\n{script}\n")
    os.chmod(path, 0o755)
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


def open_folder(t):
    """Where the workload's user may write, whoever that is."""
    folder = t.path("open")
    os.makedirs(folder)
    os.chmod(folder, 0o1777)
    return folder


def fake_server(t, name, text):
    """A program that passes for bun, in Python: it says its version, else runs the text."""
    path = t.path(name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"""#!{sys.executable}
import http.server, os, sys
if sys.argv[1] == "--version":
    print("1.0")
    sys.exit()
asked = 0

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def do_GET(self):
        global asked
        asked += 1
        status = 200
        {text}
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_port, flush=True)
server.serve_forever()
""")
    os.chmod(path, 0o755)
    return f"{name}=bun:{path}"


def cores_here():
    """Physical cores of the CPUs that we may use; None where the machine does not say."""
    cores = set()
    for cpu in os.sched_getaffinity(0):
        text = read_text(f"/sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list")
        if not text:
            return None
        cores.add(text)
    return len(cores)


def need_cores(t):
    """Server and load generator are told apart as the machine lets us."""
    need_program("wrk")
    return [] if (cores_here() or 0) > 1 else ["--force"]


@test
def serve_counts_what_wrk_and_the_kernel_count(t):
    """An identity, not a rate. Every request that wrk counts was written by the server in the window; an
    answer that wrk did not count any more was under way when it ended, one at most on a connection."""
    force = need_cores(t)
    said = os.path.join(open_folder(t), "said")
    for connections in (1, 64):
        done = measure(t, "serve", "-d", "2", *ONCE, "--connections", connections, *force,
                       "floor", env=with_wrk(t, f'"$WRK" "$@" > {said}; cat {said}'))
        check_runs(t, done, ("floor",), 1)
        run = done.run
        calls = run.threads[0]["syscall_counts"]
        line = next(line for line in read_text(said).splitlines() if " requests in " in line)
        requests = run["result"]["operations"]
        t.equal("requests of wrk and ours", requests, int(line.split()[0]))
        t.check(requests > 100, f"only {requests} requests")
        t.between("writes", calls["write"], requests, requests + connections)
        # Each connection ends with a read of nothing; wrk makes one to try whether somebody listens.
        t.between("reads", calls["read"], requests, requests + 2 * connections + 1)
        t.between("calls in all", run["totals"]["syscalls"], calls["write"] + calls["read"],
                  3 * calls["write"] + 10 * connections + 100)
        t.equal("errors", run["result"]["errors"], 0)
        t.near("requests a second", run["result"]["operations_per_s"],
               requests / (run["window_ns"] / 1e9), 1e-9)
        t.check(run["outer_ns"] >= 2e9, f"wrk ran for {run['outer_ns']} ns")
        t.near("window, and wrk's life in it", run["window_ns"], run["outer_ns"], 0.02)
        t.equal("processes", [p["comm"] for p in run["processes"]], ["floor"])
        t.check(f", {connections} connection" in run["conditions"], run["conditions"])


@test
def serve_of_the_pinned_runtimes(t):
    force = need_cores(t)
    done = measure(t, "serve", "-d", "1", *ONCE, *force, "floor", *pinned(*LABELS))
    check_runs(t, done, ("floor", *LABELS), 1)
    for run in done.runs:
        label, memory = run["label"], run["memory"]
        t.equal(f"errors of {label}", run["result"]["errors"], 0)
        t.check(run["result"]["operations"] > 50, f"{label}: {run['result']}")
        t.check(memory["rss_start_bytes"] >= memory["pss_start_bytes"] > 100_000,
                f"memory of {label} at the start: {memory}")
        t.check(memory["rss_bytes"] >= memory["pss_bytes"] > 100_000,
                f"memory of {label} at the end: {memory}")
        # Two system calls at least for each request: one that reads and one that writes.
        t.check(run["totals"]["syscalls"] >= 2 * run["result"]["operations"],
                f"{label}: {run['totals']['syscalls']} calls")


@test
def serve_of_what_is_on_path(t):
    """Their servers end each connection: wrk makes a new one for each request."""
    force = need_cores(t)
    names = [name for name in ("python3", "perl", "ruby", "php") if shutil.which(name)]
    done = measure(t, "serve", "-d", "1", *ONCE, "--connections", "8", *force, *names)
    check_runs(t, done, names, 1)
    for run in done.runs:
        t.equal(f"errors of {run['label']}", run["result"]["errors"], 0)


@test
def serve_marks_what_must_not_be_compared(t):
    need_program("wrk")
    if (cores_here() or 0) < 2:
        done = t.tool.call("serve", "-d", "1", "floor")
        t.equal("status with one core", done.status, 4)
        t.check("--force" in done.err, done.err)
        return
    recording = t.path("serve.wkw")
    done = measure(t, "serve", "-d", "1", *ONCE, "-o", recording, "floor", *pinned("node-22"))
    few = cores_here() < 4
    for run in done.runs:
        t.check(not few or "physical core" in run["not_comparable"],
                f"{cores_here()} cores, and {run['not_comparable']!r}")
    text = t.tool.call("report", recording).out
    part = text.split("\n\nthreads")[0].split("\n\nwhy ")[0]
    marked = any(run["not_comparable"] for run in done.runs)
    for label in ("floor", "node-22"):
        rows = [line for line in part.splitlines() if line.strip().startswith(label)
                and " / " not in line]
        t.check(len(rows) >= 2, f"no rows of {label} in:\n{part}")
        for row in rows:
            t.check(NOT_COMPARABLE in row or not marked, f"bare: {row}")
    t.equal("there are ratios", "×" in part, not marked)
    if marked:
        t.check("not comparable: " in part, part)
        for comparison in done.document["comparisons"]:
            t.equal("verdict", comparison["verdict"], "unclear")


@test
def serve_without_probes_tells_what_they_cost(t):
    force = need_cores(t)
    done = measure(t, "serve", "-d", "1", "-r", "2", "--retries", "0", *force, "floor")
    bare = done.document["bare"]
    t.equal("bare runs", [(b["label"], b["workload"], b["repeat"]) for b in bare],
            [("floor", "serve", 0), ("floor", "serve", 1)])
    for run in bare:
        t.check(run["outer_ns"] >= 1e9 and run["operations"] > 100, f"bare run {run}")
    t.equal("runs", len(done.runs), 2)


@test
def serve_accepts_a_shared_core_by_force_only(t):
    need_program("wrk")
    cpu = min(os.sched_getaffinity(0))
    same = ("--cpus", cpu, "--load-cpus", cpu)
    done = t.tool.call("serve", "-d", "1", *same, "floor")
    t.equal("status", done.status, 2)
    t.check(f"CPU {cpu} is in both --cpus and --load-cpus" in done.err, done.err)
    done = measure(t, "serve", "-d", "1", *ONCE, "--force", *same, "floor")
    t.equal(f"status by force ({done.err})", done.status, 0)
    t.check(f"share CPU {cpu} (--force)" in done.run["not_comparable"], done.run["not_comparable"])


@test
def serve_refuses_siblings(t):
    """On machines that have them."""
    pairs = {read_text(path).strip() for path in
             glob.glob("/sys/devices/system/cpu/cpu*/topology/core_cpus_list")}
    allowed = os.sched_getaffinity(0)
    for pair in pairs:
        cpus = [int(cpu) for cpu in pair.replace("-", ",").split(",")]
        if len(cpus) != 2 or not allowed.issuperset(cpus):
            continue
        done = t.tool.call("serve", "--cpus", cpus[0], "--load-cpus", cpus[1], "floor")
        t.equal("status", done.status, 2)
        t.check(f"CPU {cpus[0]} of --cpus and CPU {cpus[1]} of --load-cpus are one physical core"
                in done.err, done.err)
        return


@test(needs_bpf=False)
def serve_in_wrong_usage(t):
    cases = {
        ("-d", "1500ms", "floor"): "-d: the load generator runs for whole seconds",
        ("--connections", "0", "floor"): "--connections",
        ("--cpus", "8000", "floor"): "CPU 8000 is not among those that may be used here",
        ("--load-cpus", "8000", "floor"): "CPU 8000 is not among those that may be used here",
        ("--cpus", "x", "floor"): "--cpus",
        ("--parallel", "floor"): "--parallel",
        (): "which runtimes?",
    }
    for words, what in cases.items():
        done = t.tool.call("serve", *words)
        t.equal(f"status of {words}", done.status, 2)
        t.check(what in done.err and done.err.count("\n") == 1, f"{words}: {done.err!r}")
    done = t.tool.call("serve", "floor", env={**os.environ, "PATH": t.path("nothing")})
    t.equal("status without wrk", done.status, 4)
    t.check("apt-get install wrk" in done.err and done.err.count("\n") <= 2, repr(done.err))


@test
def serve_with_a_load_generator_that_fails(t):
    force = need_cores(t)
    cases = {
        "echo some words >&2; exit 3": "wrk ended with status 3: some words",
        "kill -SEGV $$": "wrk was killed by signal 11",
        "echo nonsense": "wrk printed what it never prints: nonsense",
        '"$WRK" "$@" | sed "s/[0-9]* requests in/-1 requests in/"': "wrk printed what it never",
        '"$WRK" "$@" | head -n 3': "wrk printed what it never prints",
        '"$WRK" "$@" | sed "s/[0-9]* requests in/0 requests in/"': "wrk got no answer",
        "exec cat /dev/zero": "wrk was killed by signal 25",
    }
    for script, what in cases.items():
        done = t.tool.call("serve", "-d", "1", *ONCE, *force, "floor", env=with_wrk(t, script))
        t.equal(f"status with {script}", done.status, 1)
        t.check(what in done.err, f"{script}: {done.err!r}")
        t.equal(f"lines with {script} ({done.err!r})", done.err.count("\n"), 1)


@test
def serve_of_a_server_that_fails_goes_on_with_the_others(t):
    force = need_cores(t)
    dies = fake_server(t, "dies", "if asked > 50: print('last words', file=sys.stderr, flush=True); "
                                  "os._exit(3)")
    done = measure(t, "serve", "-d", "1", *ONCE, *force, dies, "floor")
    t.equal("status", done.status, 1)
    t.check("serve dies: ended with status 3" in done.err and "last words" in done.err, done.err)
    t.equal("measured", [run["label"] for run in done.runs], ["floor"])
    t.equal("failures", [f["label"] for f in done.document["failures"]], ["dies"])
    await_true(lambda: not alive_with(t.root), "all of them to be gone", 10)


@test
def serve_with_errors_is_not_trusted(t):
    force = need_cores(t)
    word = fake_server(t, "sorry", "status = 500 if asked % 2 else 200")
    done = measure(t, "serve", "-d", "1", *ONCE, "--connections", "1", *force, word)
    t.equal(f"status ({done.err})", done.status, 5)
    result, trust = done.run["result"], done.run["trust"]
    t.check(result["operations"] > 10, f"result {result}")
    # Every second answer of one server on one connection, warm-up or not.
    t.between("errors", result["errors"], result["operations"] // 2, result["operations"] // 2 + 1)
    t.check(not trust["ok"] and "failed" in trust["reasons"][0], f"trust {trust}")
    t.check(done.out.startswith("not trusted: serve of sorry"), done.out[:200])


def start_serve(t, script, *words):
    path = t.path("cut.json")
    return Started(t.tool, [t.tool.binary, "serve", "-o", path, *words], path,
                   env=with_wrk(t, script))


@test
def serve_leaves_nobody_behind(t):
    """Whether a signal ends it or kill -9: neither the load generator nor the server outlives it."""
    force = need_cores(t)
    folder = open_folder(t)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        said = os.path.join(folder, f"pid-{number}")
        started = start_serve(t, f"echo $$ > {said}.new; mv {said}.new {said}; sleep 1000",
                              "-d", "60", *force, "floor")
        await_true(lambda: read_text(said), "the load generator to be started")
        (shop,) = {os.path.dirname(os.readlink(f"/proc/{int(read_text(said))}/cwd"))}
        started.signal(number)
        if number != signal.SIGKILL:
            done = started.finish()
            t.equal(f"status after signal {number}", done.status, 1)
            t.check("interrupted after 0 of 1 runs" in done.err, done.err)
        await_true(lambda: not alive_with(t.root) and not alive_with(shop), "all to be gone", 20)
        await_true(lambda: not os.path.exists(shop), "its files to be gone", 20)
