"""What wakewhy costs beside nothing, empty programs and its peers: bench.py BUILD [--seconds N] [--anyway].

One table: each configuration (tools.py) under each load (loads.py), in a new random order in every round.
What a configuration adds is its time for a step less the bare time of the same round; medians over the
rounds, with quartiles. Every fourth round has all, the others those four that the narrow goals are about.
Then what the tools themselves use, what one event costs among many threads, and how long a result takes.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import alone  # noqa: E402
import loads  # noqa: E402
import tables  # noqa: E402
import tools  # noqa: E402
from tools import Configuration, Empty, Wakewhy, launch  # noqa: E402

CHECKOUT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECONDS = 270  # of the table; the rest takes some three minutes
WIDE_EVERY = 4  # rounds
LOOPS = {"pingpong": 20000, "getppid": 100000}  # steps of one measurement
CORE = ("bare", "empty", "target none", "bystander none")
# A bystander pays for stacks on the loops alone if at all: nothing of it depends on what is timed.
EVERYWHERE = CORE + ("bystander default",)
TOOL_ROUNDS, TOOL_WINDOW_S = 3, 1.5
SERVER_WINDOW_S = 3
RATES = (10, 100, 1000)  # wakes a second
RINGS = (10, 100, 1000, 10000)  # threads
RING_ROUNDS, RING_STEPS = 5, 20000
CROWD, CROWD_ROUNDS = 10000, 3
START_UPS = 15


def tell(text):
    """Where it is, for whoever waits for minutes at a terminal."""
    if sys.stderr.isatty():
        print(f"bench: {text}", file=sys.stderr, flush=True)


def quartiles(values):
    # Of one value alone there are no quartiles: it is all three.
    low, middle, high = statistics.quantiles(
        values if len(values) > 1 else list(values) * 2, n=4, method="inclusive")
    return {"median": middle, "q1": low, "q3": high, "n": len(values)}


# ---- the table ---------------------------------------------------------------------------------------


class Bench:
    """The loads, and what may be attached: each process is there for the whole bench, so that every
    configuration meets the same one."""

    def __init__(self, build, quick, stack):
        self.build, self.binary = build, os.path.abspath(os.path.join(build, "wakewhy"))
        self.quick = quick
        self.cpus = sorted(os.sched_getaffinity(0))
        self.stack, self.left_out = stack, []
        loops = self.keep(loads.Talking([os.path.join(build, "bench", "loops"), self.cpus[0]]))
        self.idler = self.keep(loads.Threads(build, self.cpus[0], 1, 1000000)).pid
        self.groups = [[loads.Loop(loops, name, steps) for name, steps in LOOPS.items()]]
        self.add_redis()
        self.add_node()
        self.configurations = [Configuration(), Empty(build)]
        for idler in (None, self.idler):
            self.configurations += [Wakewhy(self.binary, name, idler) for name in tools.STACKS]
        for peer in tools.peers():
            if peer.missing():
                self.left_out.append(f"{peer.name}: {peer.missing()}")
            else:
                self.configurations.append(peer)

    def times(self, n):
        """How often to do what is done n times for figures: once where nobody wants them."""
        return range(1 if self.quick else n)

    def keep(self, load):
        self.stack.callback(load.end)
        return load

    def add_redis(self):
        absent = [name for name in loads.PACKAGES if not tools.which(name)]
        if absent:
            self.left_out.append(f"redis: {' and '.join(absent)} not installed (make bench-peers)")
            return
        folder = self.stack.enter_context(tempfile.TemporaryDirectory(prefix="wakewhy-bench-redis-"))
        self.groups.append([self.keep(loads.Redis(folder, self.cpus[0], self.cpus[-1]))])

    def add_node(self):
        pinned = os.path.join(CHECKOUT, "runtimes", "node-22")
        node = pinned if os.access(pinned, os.X_OK) else tools.which("node")
        if not node:
            self.left_out.append("webcrypto: node is neither in runtimes/ nor on PATH")
            return
        self.groups.append([self.keep(loads.Digests(node))])

    def round(self, wide):
        """{(load, configuration): {"ns", …}} of one round."""
        chosen = [c for c in self.configurations if wide or c.name in CORE]
        times = {}
        for configuration in random.sample(chosen, len(chosen)):
            everywhere = configuration.kind != "bystander" or configuration.name in EVERYWHERE
            for group in self.groups if wide and everywhere else self.groups[:1]:
                with configuration.on(group[0].pid):
                    for load in group:
                        times[load.name, configuration.name] = load.measure(configuration.slowness)
        return times

    def rounds(self, seconds):
        """Rounds until the time is over; one at least."""
        begun, rounds = time.monotonic(), []
        while not rounds or time.monotonic() - begun < seconds:
            tell(f"round {len(rounds) + 1}, {time.monotonic() - begun:.0f} of {seconds:.0f} s")
            rounds.append(self.round(len(rounds) % WIDE_EVERY == 0))
        return rounds

    def summarise(self, rounds):
        """[{"load", "configuration", "kind", "ns", "added_ns", "ratio_to_empty", "ratio_to_target"}]"""
        rows = []
        for load in [load.name for group in self.groups for load in group]:
            for configuration in self.configurations:
                key = load, configuration.name
                seen = [r for r in rounds if key in r]
                if not seen:
                    continue
                row = {"load": load, "configuration": configuration.name, "kind": configuration.kind}
                for unit in seen[0][key]:
                    row[unit] = quartiles([r[key][unit] for r in seen])
                    row[f"added_{unit}"] = quartiles(
                        [r[key][unit] - r[load, "bare"][unit] for r in seen])
                rows.append(row)
        for row in rows:
            for name, base in (("ratio_to_empty", "empty"), ("ratio_to_target", "target none")):
                at = next(r for r in rows if r["load"] == row["load"] and r["configuration"] == base)
                base_ns = at["added_ns"]["median"]
                row[name] = row["added_ns"]["median"] / base_ns if base_ns > 0 else None
        return rows


# ---- the tools themselves ----------------------------------------------------------------------------


def watch(configuration, pid, window_s):
    """What a tool used in a window on a process that does little, and what it left."""
    with tools.timed_programs(), configuration.on(pid):
        usage, probes_ns, begun = configuration.usage(), configuration.probes_ns(), time.monotonic()
        time.sleep(window_s)  # the window itself
        took_s = time.monotonic() - begun
        later = configuration.usage()
        row = {
            "cpu_ns_per_s": (later["cpu_ns"] - usage["cpu_ns"]) / took_s,
            "wakeups_per_s": (later["wakeups"] - usage["wakeups"]) / took_s,
            "rss_bytes": configuration.rss_bytes(),
        }
        if probes_ns is not None:
            row["probes_ns_per_s"] = (configuration.probes_ns() - probes_ns) / took_s
    row["start_ns"], row["result_ns"] = configuration.start_ns, configuration.result_ns
    row["bytes_per_s"] = configuration.bytes / took_s
    return row


def watched(rows):
    return {figure: quartiles([row[figure] for row in rows if figure in row]) for figure in rows[0]}


def tools_on_idle(bench):
    """{tool: figures} on a thread that wakes ten times a second."""
    subject = bench.keep(loads.Threads(bench.build, bench.cpus[0], 1, 100))
    chosen = [c for c in bench.configurations if c.kind == "peer" or c.kind == "target"]
    kept = {c.name: [] for c in chosen}
    for _ in bench.times(TOOL_ROUNDS):
        for configuration in random.sample(chosen, len(chosen)):
            kept[configuration.name].append(watch(configuration, subject.pid, TOOL_WINDOW_S))
    return {name: watched(rows) for name, rows in kept.items()}


def stacks_at_rates(bench):
    """[{"rate", "stacks", …}]: what wakewhy and its probes take where a thread wakes so often."""
    rows = []
    for rate in RATES:
        subject = loads.Threads(bench.build, bench.cpus[0], 1, 1000 // rate)
        with contextlib.ExitStack() as stack:
            stack.callback(subject.end)
            for name in ("none", "k", "k,u", "dwarf", "sample"):
                figures = watch(Wakewhy(bench.binary, name), subject.pid, TOOL_WINDOW_S)
                rows.append({"rate": rate, "stacks": name, **figures})
    return rows


def idle_servers(bench):
    """[{"server", "stacks", …}]: a server that nobody talks to, without stacks and with wakewhy's defaults."""
    rows = []
    for label, script in loads.SERVERS.items():
        path = os.path.join(CHECKOUT, "runtimes", label)
        if not os.access(path, os.X_OK):
            bench.left_out.append(f"idle {label}: not in runtimes/ (make demo fetches it)")
            continue
        server = launch([path, "-e", script])
        try:
            time.sleep(2)  # what a server does at its start is not idling
            for name in ("none", "default"):
                configuration = Wakewhy(bench.binary, name)
                watch(configuration, server.pid, 0.5)  # files read, pages there
                windows = [watch(configuration, server.pid, SERVER_WINDOW_S)
                           for _ in bench.times(2)]
                rows.append({"server": label, "stacks": name, **watched(windows)})
            if server.poll() is not None:
                raise SystemExit(f"bench: {label} ended with status {server.returncode}")
        finally:
            server.kill()
            server.wait()
    return rows


# ---- many threads ------------------------------------------------------------------------------------


def rings(bench):
    """[{"threads", "configuration", "ns", "added_ns"}]: a step of a ring of so many threads."""
    rows = []
    for n in RINGS:
        ring = loads.Threads(bench.build, bench.cpus[0], n)
        kept = {}
        try:
            ring.measure(max(2 * n, RING_STEPS))
            for _ in bench.times(RING_ROUNDS):
                chosen = [Configuration(), Empty(bench.build), Wakewhy(bench.binary, "none")]
                for configuration in random.sample(chosen, len(chosen)):
                    with configuration.on(ring.pid):
                        ring.measure(n if n > 1000 else 1000)  # each thread has been seen
                        kept.setdefault(configuration.name, []).append(ring.measure(RING_STEPS))
        finally:
            ring.end()
        for name, times in kept.items():
            added = [ns - bare for ns, bare in zip(times, kept["bare"])]
            rows.append({"threads": n, "configuration": name, "ns": quartiles(times),
                         "added_ns": quartiles(added)})
    return rows


def result_after(bench, subject, fmt, steps):
    """(ns until the last byte of the result, ns until the exit) from the window's end."""
    process = launch([bench.binary, "attach", "-p", subject.pid, "-d", "1h", "-q", "--stacks=no",
                      "-f", fmt], stdout=subprocess.PIPE)
    try:
        tools.await_attached(process, lambda pid: tools.waits(pid) and tools.count_of(pid, "bpf-prog"),
                             "wakewhy")
        if steps:
            subject.measure(steps)
        else:
            time.sleep(1.2)  # each sleeper has woken
        begun = last = time.monotonic_ns()
        process.send_signal(signal.SIGINT)
        while os.read(process.stdout.fileno(), 1 << 20):
            last = time.monotonic_ns()
        status = process.wait(120)
        if status not in (0, 5):
            raise SystemExit(f"bench: wakewhy attach: status {status}")
        return last - begun, time.monotonic_ns() - begun
    finally:
        process.kill()
        process.wait()


def crowd_results(bench):
    """[{"crowd", "format", "result_ns", "exit_ns"}] for ten thousand threads."""
    rows = []
    for crowd, nap_ms, steps in (("ring", None, 2 * CROWD), ("sleepers", 1000, 0)):
        subject = loads.Threads(bench.build, bench.cpus[0], CROWD, nap_ms)
        try:
            for fmt in ("text", "json"):
                times = [result_after(bench, subject, fmt, steps) for _ in bench.times(CROWD_ROUNDS)]
                rows.append({"crowd": crowd, "threads": CROWD, "format": fmt,
                             "result_ns": quartiles([t[0] for t in times]),
                             "exit_ns": quartiles([t[1] for t in times])})
        finally:
            subject.end()
    return rows


# ---- start-up, and each probe ------------------------------------------------------------------------


def start_up(bench):
    """ns from wakewhy's exec to the target's first instructions, stamped by the same clock; and, in turn
    with it, what loading and attaching the empty programs takes."""
    loops = os.path.join(bench.build, "bench", "loops")
    ours, floor = [], []
    for _ in bench.times(START_UPS):
        argv = [loops, "stamp", bench.binary, "run", "-q", "--", loops, "stamp"]
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
        before, after = map(int, done.stdout.split())
        ours.append(after - before)
        empty = Empty(bench.build)
        with empty.on(None):
            floor.append(empty.start_ns)
    return {"wakewhy": quartiles(ours), "empty": quartiles(floor)}


def programs_of(configuration):
    """{name: (runs, ns)} of the programs that a configuration holds."""
    ids = {int(alone.fdinfo(process.pid, number).get("prog_id", 0))
           for process in configuration.started
           for number, target in alone.descriptors(process.pid) if "bpf-prog" in target}
    shown = subprocess.run([tools.which("bpftool") or "bpftool", "-j", "prog", "show"],
                           capture_output=True, check=True)
    return {program.get("name", ""): (program.get("run_cnt", 0), program.get("run_time_ns", 0))
            for program in json.loads(shown.stdout) if program["id"] in ids}


def probe_times(bench):
    """{configuration: {probe: {"per_step", "ns"}}} over one ping-pong."""
    loop, steps, times = bench.groups[0][0], 5 * LOOPS["pingpong"], {}
    for configuration in (Empty(bench.build), Wakewhy(bench.binary, "none")):
        with tools.timed_programs(), configuration.on(loop.pid):
            earlier = programs_of(configuration)
            loop.talking.ask(f"pingpong {steps}")
            later = programs_of(configuration)
        times[configuration.name] = {
            probe: {"per_step": (runs - was[0]) / steps, "ns": (ns - was[1]) / (runs - was[0])}
            for probe, (runs, ns) in later.items()
            for was in [earlier.get(probe, (runs, ns))]
            if runs - was[0] > steps / 10
        }
    return times


# ---- the whole ---------------------------------------------------------------------------------------


def machine():
    """What the figures belong to; nothing that names this very machine."""
    info = alone.read("/proc/cpuinfo").splitlines()
    model = next((line.partition(":")[2].strip() for line in info if line.startswith("model name")), "")
    flags = next((line for line in info if line.startswith("flags")), "")
    memory = alone.read("/proc/meminfo").split()
    return {
        "cpu": model or os.uname().machine,
        "cpus": os.cpu_count(),
        "virtual": " hypervisor" in flags,
        "memory_bytes": int(memory[1]) * 1024 if len(memory) > 1 else None,
        "kernel": os.uname().release.partition("-")[0],
    }


def versions(bench):
    """{peer's program: what it says of its version}"""
    said = {}
    for program, option in (("bpftrace", "--version"), ("wakeuptime", "--version"), ("perf", "--version"),
                            ("strace", "-V"), ("redis-server", "--version")):
        if tools.which(program):
            done = subprocess.run([tools.which(program), option], capture_output=True, text=True)
            said[program] = (done.stdout or done.stderr).strip().splitlines()[0][:60]
    done = subprocess.run([bench.binary, "-V"], capture_output=True, text=True)
    return {"wakewhy": done.stdout.strip(), **said}


def measure(bench, options, strangers):
    result = {
        "schema": "wakewhy-bench/2",
        "command": "sudo make bench",
        "measured": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": machine(),
        "versions": versions(bench),
        "left_out": bench.left_out,
        "not_alone": strangers,
    }
    rounds = bench.rounds(0 if options.quick else options.seconds)
    result["rounds"] = len(rounds)
    result["rows"] = bench.summarise(rounds)
    for name, part in (("tools", tools_on_idle), ("stacks_at_rates", stacks_at_rates), ("rings", rings),
                       ("crowds", crowd_results), ("start_up_ns", start_up), ("probe_ns", probe_times),
                       ("servers", idle_servers)):
        tell(name.replace("_", " "))
        result[name] = part(bench)
    result["load_average"] = os.getloadavg()[1]
    result["goals"] = tables.goals(result)
    return result


def check_alone(options):
    strangers = alone.others()
    if strangers and not options.anyway:
        raise SystemExit(f"bench: {'; '.join(strangers)} would be measured too: end them first, or say "
                         "--anyway to have worthless figures")
    return strangers


def main():
    parser = argparse.ArgumentParser(prog="run.sh", description=__doc__.splitlines()[0])
    parser.add_argument("build", help="the build directory, or the binary in it")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of the table (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="each once: to try the bench, not for figures")
    parser.add_argument("--anyway", action="store_true", help="though other tools are attached")
    options = parser.parse_args()
    build = options.build if os.path.isdir(options.build) else os.path.dirname(options.build) or "."
    if os.geteuid():
        raise SystemExit("bench: probes need root: sudo make bench")
    # A signal ends it as an error does: what was started is ended.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    strangers = check_alone(options)
    with contextlib.ExitStack() as stack:
        bench = Bench(build, options.quick, stack)
        for line in bench.left_out:
            print(f"left out: {line}", flush=True)
        result = measure(bench, options, strangers)
    print(tables.text(result))
    with open(os.path.join(build, "bench.json"), "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
