"""What wakewhy's probes add to a switch and to a system call: bench.py BUILD [ROUNDS].

Four configurations are measured in turn, in a new random order in every round:
    bare        no probe of ours
    empty       programs that do nothing on the same hooks: the least that any tool can cost
    target      wakewhy attached to the loop itself
    bystander   wakewhy attached to another process, which sleeps
What a configuration adds is its time for a step less the bare time of the same round; the median over
the rounds is shown with the quartiles. Stacks have a table of their own: what they add on ping-pong, and
what a wake and wakewhy itself cost at the rates of idle programs.
"""

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import harness  # noqa: E402
import tool  # noqa: E402

LOOPS = {"pingpong": 20000, "getppid": 100000}  # steps of one measurement
GOALS = {
    ("pingpong", "target"): 1.5,
    ("pingpong", "bystander"): 1.2,
    ("getppid", "target"): 1.25,
}
ROUNDS = 40
STACKS = {  # on ping-pong, each to be seen beside the same without stacks
    "none": ["--stacks=no"],
    "k": ["--stacks=k", "--stack-limit", "0"],
    "k,u": ["--stacks=k,u", "--stack-limit", "0"],
    "k,u, 200/s": ["--stacks=k,u"],
    "k,dwarf": ["--stacks=k,dwarf", "--stack-limit", "0"],
    "k,dwarf, 200/s": ["--stacks=k,dwarf"],
}
STACK_ROUNDS = 12
RATES = (10, 100, 1000)  # wakes a second
RATE_S = 3
STATS = "/proc/sys/kernel/bpf_stats_enabled"


class Loops:
    """The loop process: one for the whole bench, so that every configuration meets the same one."""

    def __init__(self, program):
        self.process = subprocess.Popen(
            [program, "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.pid = self.process.pid
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit("bench: loops did not start")

    def measure(self, loop, steps):
        self.process.stdin.write(f"{loop} {steps}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Empty:
    """The programs that do nothing, while they are attached."""

    def __init__(self, program):
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit("bench: the empty programs cannot be attached (are you root?)")

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Attached:
    """wakewhy on a process."""

    def __init__(self, wakewhy, pid, *options):
        self.started = wakewhy.start_attach("-p", pid, "-d", "1h", "-q", *options)
        self.started.await_window()

    def end(self):
        self.started.signal(2)
        done = self.started.finish()
        if done.status != 0:
            raise SystemExit(f"bench: wakewhy attach: status {done.status}: {done.err}")
        return done


class WakeupTime:
    """libbpf-tools' wakeuptime, where it is installed: kernel stacks of wakers alone. It takes the id of a thread
    only, and the loop has two: it looks at all."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["wakeuptime", "3600"], stdout=subprocess.DEVNULL
        )
        tool.await_true(lambda: links_of(self.process.pid) >= 2, "wakeuptime to attach")

    def end(self):
        self.process.send_signal(2)
        self.process.wait()


class Bare:
    def end(self):
        pass


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return {"median": middle, "q1": low, "q3": high, "n": len(values)}


def one_round(wakewhy, build, loops, idler):
    """{(loop, configuration): ns of a step} of one round."""
    makers = [
        ("bare", Bare),
        ("empty", lambda: Empty(os.path.join(build, "bench", "empty"))),
        ("target", lambda: Attached(wakewhy, loops.pid, "--stacks=no")),
        ("bystander", lambda: Attached(wakewhy, idler, "--stacks=no")),
    ]
    random.shuffle(makers)
    times = {}
    for name, make in makers:
        configuration = make()
        for loop, steps in LOOPS.items():
            loops.measure(loop, steps // 10)  # warm: the first steps find cold caches
            times[loop, name] = loops.measure(loop, steps)
        configuration.end()
    return times


def summarise(rounds):
    """Per loop and configuration: the step's time, what was added, and the ratio to the empty ones."""
    rows = []
    for loop in LOOPS:
        empty = statistics.median(r[loop, "empty"] - r[loop, "bare"] for r in rounds)
        for name in ("bare", "empty", "target", "bystander"):
            row = {
                "loop": loop,
                "configuration": name,
                "step_ns": quartiles([r[loop, name] for r in rounds]),
            }
            if name != "bare":
                row["added_ns"] = quartiles([r[loop, name] - r[loop, "bare"] for r in rounds])
            if name in ("target", "bystander"):
                row["ratio_to_empty"] = row["added_ns"]["median"] / empty if empty > 0 else None
                row["goal"] = GOALS.get((loop, name))
            rows.append(row)
    return rows


def links_of(pid):
    """How many BPF links the process holds. (bpftool lists those of all, and fails where one of them goes
    meanwhile.)"""
    infos = f"/proc/{pid}/fdinfo"
    return sum("link_id:" in tool.read_text(os.path.join(infos, fd)) for fd in os.listdir(infos))


def stacks_on_pingpong(wakewhy, loops, n_rounds):
    """{configuration: {"added_ns", "over_none_ns"}}: over bare, and over wakewhy without stacks."""
    makers = {"bare": Bare}
    for name, options in STACKS.items():
        makers[name] = lambda options=options: Attached(wakewhy, loops.pid, *options)
    if shutil.which("wakeuptime"):
        makers["wakeuptime"] = WakeupTime
    rounds = []
    for _ in range(n_rounds):
        times = {}
        for name in random.sample(list(makers), len(makers)):
            configuration = makers[name]()
            loops.measure("pingpong", LOOPS["pingpong"] // 10)
            times[name] = loops.measure("pingpong", LOOPS["pingpong"])
            configuration.end()
        rounds.append(times)
    return {
        name: {
            "added_ns": quartiles([r[name] - r["bare"] for r in rounds]),
            "over_none_ns": quartiles([r[name] - r["none"] for r in rounds]),
        }
        for name in makers
        if name != "bare"
    }


def stacks_at_rates(wakewhy):
    """[{"rate", "stacks", …}]: what the probes of the scheduler take for each wake, and wakewhy itself."""
    rows = []
    for rate in RATES:
        for name in ("none", "k", "k,u", "k,dwarf"):
            subject = tool.Subject(wakewhy, ["sleeper", rate * RATE_S, 1000000 // rate])
            # -v has the probes timed; what it says besides would fill a pipe that nobody reads.
            started = wakewhy.start_attach(
                "-p", subject.pid, "-v", *STACKS[name][:1], stderr=subprocess.DEVNULL
            )
            started.await_window()
            subject.go()
            run = started.finish().run
            probes = {p["name"]: p["ns"] for p in run["trust"]["probes"]}
            observer, window_s = run["trust"]["observer"], run["window_ns"] / 1e9
            rows.append(
                {
                    "rate": rate,
                    "stacks": name,
                    "probes_ns_per_s": (probes["sched_switch"] + probes["sched_waking"]) / window_s,
                    "observer_ns_per_s": observer["oncpu_ns"] / window_s,
                    "observer_wakeups": observer["wakeups"],
                }
            )
    return rows


def tracing_programs():
    """{name: (runs, ns)} of the tracing programs that are loaded, by the kernel's own count."""
    shown = subprocess.run(["bpftool", "-j", "prog", "show"], capture_output=True, check=True)
    return {
        program.get("name", ""): (program.get("run_cnt", 0), program.get("run_time_ns", 0))
        for program in json.loads(shown.stdout)
        if program["type"] == "tracing"
    }


def probe_times(wakewhy, build, loops):
    """{configuration: {probe: {"per_step", "ns"}}} over one ping-pong; the switch is put back."""
    with open(STATS, encoding="ascii") as file:
        before = file.read()
    makers = {
        "empty": lambda: Empty(os.path.join(build, "bench", "empty")),
        "target": lambda: Attached(wakewhy, loops.pid),
    }
    steps, times = 10 * LOOPS["pingpong"], {}
    for name, make in makers.items():
        configuration = make()
        try:
            with open(STATS, "w", encoding="ascii") as file:
                file.write("1")
            earlier = tracing_programs()
            loops.measure("pingpong", steps)
            later = tracing_programs()
        finally:
            with open(STATS, "w", encoding="ascii") as file:
                file.write(before)
        configuration.end()
        times[name] = {
            probe: {"per_step": (runs - was[0]) / steps, "ns": (ns - was[1]) / (runs - was[0])}
            for probe, (runs, ns) in later.items()
            for was in [earlier.get(probe, (runs, ns))]
            if runs - was[0] > steps / 10
        }
    return times


def start_up(wakewhy, build, repeats=15):
    """ns from wakewhy's exec to the target's first instructions, stamped by the same clock; and, in
    turn with it, what loading and attaching the empty programs takes, from fork to "ready"."""
    loops, empty = (os.path.join(build, "bench", name) for name in ("loops", "empty"))
    ours, floor = [], []
    for _ in range(repeats):
        argv = [loops, "stamp", wakewhy.binary, "run", "-q", "--", loops, "stamp"]
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
        before, after = map(int, done.stdout.split())
        ours.append(after - before)
        begun = time.monotonic_ns()
        programs = Empty(empty)
        floor.append(time.monotonic_ns() - begun)
        programs.end()
    return {"wakewhy": quartiles(ours), "empty": quartiles(floor)}


def observer(wakewhy, idler):
    """Memory and wakeups of wakewhy itself over a window of two seconds without a terminal."""
    started = wakewhy.start_attach("-p", idler, "-d", "2s", "-q", "--stacks=no")
    started.await_window()
    peak_kb = tool.status_field(started.pid, "VmHWM")
    done = started.finish()
    return {
        "max_rss_bytes": peak_kb * 1024,
        "wakeups": done.run["trust"]["observer"]["wakeups"],
        "oncpu_ns": done.run["trust"]["observer"]["oncpu_ns"],
        "window_ns": done.run["window_ns"],
    }


def show_probes(times):
    print(f"{'':16}{'runs/step':>10}{'empty ns':>10}{'target ns':>11}")
    for probe, target in sorted(times["target"].items()):
        empty = times["empty"].get(probe)
        print(
            f"{probe:16}{target['per_step']:10.2f}{empty['ns'] if empty else float('nan'):10.1f}"
            f"{target['ns']:11.1f}"
        )
    print()


def show(rows, start, quiet):
    print(f"{'':12}{'':12}{'ns/step':>10}{'added':>9}{'quartiles':>16}{'ratio':>8}{'goal':>8}")
    for row in rows:
        line = f"{row['loop']:12}{row['configuration']:12}{row['step_ns']['median']:10.1f}"
        added = row.get("added_ns")
        if added:
            spread = f"{added['q1']:.1f}…{added['q3']:.1f}"
            line += f"{added['median']:9.1f}{spread:>16}"
        ratio, goal = row.get("ratio_to_empty"), row.get("goal")
        if ratio is not None:
            line += f"{ratio:7.2f}×"
        if goal:
            line += f"{'≤ ' + format(goal, '.2f') + '×':>8}{'' if ratio <= goal else '  missed'}"
        print(line)
    print()
    ours, floor = start["wakewhy"], start["empty"]
    print(
        f"start-up: {ours['median'] / 1e6:.1f} ms from wakewhy's exec to the target's first"
        f" instructions ({ours['q1'] / 1e6:.1f}…{ours['q3'] / 1e6:.1f}, goal 60);"
        f" the empty programs alone: {floor['median'] / 1e6:.1f} ms"
    )
    print(
        f"wakewhy itself: {quiet['max_rss_bytes'] / 1e6:.1f} MB resident (goal 24),"
        f" {quiet['wakeups']} wakeups and {quiet['oncpu_ns'] / 1e6:.2f} ms CPU in a window of"
        f" {quiet['window_ns'] / 1e9:.2f} s"
    )


def show_stacks(pingpong, rates):
    print(f"{'stacks, pingpong':18}{'added':>9}{'quartiles':>18}{'over none':>11}")
    for name, row in pingpong.items():
        added = row["added_ns"]
        spread = f"{added['q1']:.0f}…{added['q3']:.0f}"
        print(f"{name:18}{added['median']:9.0f}{spread:>18}{row['over_none_ns']['median']:11.0f}")
    theirs = pingpong.get("wakeuptime")
    if theirs:
        half = theirs["added_ns"]["median"] / 2
        ours = pingpong["k,u"]["added_ns"]["median"]
        print(f"k,u beside half of wakeuptime: {ours:.0f} and {half:.0f} ns"
              f"{'' if ours <= half else ', missed'}")
    print()
    print(f"{'wakes/s':>8} {'stacks':10}{'probes µs/s':>12}{'wakewhy µs/s':>14}{'its wakeups':>13}")
    for row in rates:
        print(
            f"{row['rate']:8} {row['stacks']:10}{row['probes_ns_per_s'] / 1e3:12.1f}"
            f"{row['observer_ns_per_s'] / 1e3:14.1f}{row['observer_wakeups']:13}"
        )
    print()


def main():
    if len(sys.argv) not in (2, 3):
        print("usage: run.sh BUILD [ROUNDS]", file=sys.stderr)
        return 2
    build = sys.argv[1] if os.path.isdir(sys.argv[1]) else os.path.dirname(sys.argv[1]) or "."
    n_rounds = int(sys.argv[2]) if len(sys.argv) == 3 else ROUNDS
    wakewhy = tool.Tool(os.path.join(build, "wakewhy"))
    if wakewhy.problem():
        raise SystemExit(f"bench: {wakewhy.problem()}")
    with tempfile.TemporaryDirectory(prefix="wakewhy-bench-") as root:
        test = harness.Test(wakewhy, root)
        loops = Loops(os.path.join(build, "bench", "loops"))
        try:
            idler = tool.Subject(wakewhy, ["idler"], waits=False).pid
            rounds = [one_round(wakewhy, build, loops, idler) for _ in range(n_rounds)]
            rows = summarise(rounds)
            times = probe_times(wakewhy, build, loops)
            stacks = stacks_on_pingpong(wakewhy, loops, min(n_rounds, STACK_ROUNDS))
            rates = stacks_at_rates(wakewhy)
            start, quiet = start_up(wakewhy, build), observer(wakewhy, idler)
        finally:
            loops.end()
            test.end()
    show(rows, start, quiet)
    show_probes(times)
    show_stacks(stacks, rates)
    with open(os.path.join(build, "bench.json"), "w", encoding="utf-8") as file:
        json.dump(
            {
                "schema": "wakewhy-bench/1",
                "kernel": os.uname().release,
                "measured": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "rows": rows,
                "probe_ns": times,
                "stacks_pingpong": stacks,
                "stacks_at_rates": rates,
                "start_up_ns": start,
                "observer": quiet,
            },
            file,
            indent=2,
        )
        file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
