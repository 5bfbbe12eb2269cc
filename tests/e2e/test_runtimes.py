"""Real runtimes: the pinned ones, those on PATH, and those that misbehave."""

import json
import os
import shutil
import statistics
import subprocess

from harness import Skip, test
from test_counts import check_sums
from test_output import validate
from tool import CHECKOUT, await_true, need_program

LABELS = ("bun-1.3.14", "bun-1.4.0", "node-22", "deno-2")


def pinned(*labels):
    """LABEL=FAMILY:PATH of each, as the command line takes it."""
    folder = os.environ.get("WAKEWHY_RUNTIMES", os.path.join(CHECKOUT, "runtimes"))
    words = []
    for label in labels:
        path = os.path.realpath(os.path.join(folder, label))
        if not os.access(path, os.X_OK):
            raise Skip(f"{label} is not in {folder}: tests/setup/runtimes.sh brings it, with npm")
        words.append(f"{label}={label.split('-')[0]}:{path}")
    return words


def measure(t, *words, limit_s=140, **options):
    path = t.path("result.json")
    done = t.tool.call(*words[:1], "-o", path, *words[1:], limit_s=limit_s, **options)
    if not os.path.exists(path):
        raise AssertionError(f"{words}: status {done.status}: {done.err}")
    with open(path, "rb") as file:
        done.document = json.load(file)
    return done


def check_runs(t, done, labels, repeats):
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    for label in labels:
        # A window that others disturbed was measured again.
        of_label = [r for r in done.runs if r["label"] == label and not r["replaced"]]
        t.equal(f"runs of {label}", len(of_label), repeats)
        for run in of_label:
            check_sums(t, run)
            t.check(run["trust"]["ok"], f"{label} is not trusted: {run['trust']['reasons']}")
    t.equal("schema", validate(done.document), [])


@test
def startup_of_the_pinned_runtimes(t):
    done = measure(t, "startup", "-r", "5", "-w", "1", "floor", *pinned(*LABELS))
    check_runs(t, done, ("floor", *LABELS), 5)
    for run in done.runs:
        start, label = run["startup"], run["label"]
        t.check(0 < start["exec_to_first_output_ns"] < start["exec_to_exit_ns"],
                f"{label}: times {start}")
        t.between(f"{label}: minor faults", start["minor_faults"], 10, 1_000_000)
        t.between(f"{label}: peak memory", start["max_rss_bytes"], 100_000, 2_000_000_000)
        t.equal(f"{label}: exit status", run["exit_status"], 0)
    medians = {s["label"]: s["median"] for s in done.document["summary"]
               if s["metric"].startswith("exec_to_exit")}
    t.equal("labels with a median", sorted(medians), sorted(("floor", *LABELS)))
    t.check(medians["floor"] < medians["bun-1.4.0"] < medians["bun-1.3.14"], f"order: {medians}")


@test
def startup_of_what_is_on_path(t):
    names = [name for name in ("python3", "perl", "ruby", "php") if shutil.which(name)]
    done = measure(t, "startup", "-r", "3", "-w", "1", "--cmd", "shell=echo hello", *names)
    check_runs(t, done, ("shell", *names), 3)


@test
def idle_shows_what_the_second_article_could_not_say(t):
    done = measure(t, "idle", "-d", "10s", "floor", *pinned("bun-1.3.14", "bun-1.4.0"))
    check_runs(t, done, ("floor", "bun-1.3.14", "bun-1.4.0"), 1)
    runs = {run["label"]: run for run in done.runs}

    def per_second(figures, run):
        return figures["wakeups"] / (run["window_ns"] / 1e9)

    old, new = runs["bun-1.3.14"], runs["bun-1.4.0"]
    old_rate, new_rate = per_second(old["totals"], old), per_second(new["totals"], new)
    t.check(old_rate > 2 * new_rate, f"wakeups a second: {old_rate} and {new_rate}")
    rates = [per_second(thread, old) for thread in old.threads]
    t.equal(f"threads with about ten wakeups a second of {rates}",
            sum(9 <= rate <= 11 for rate in rates), 1)
    t.equal("wakeups of floor", runs["floor"]["totals"]["wakeups"], 0)
    t.equal("active seconds of floor", runs["floor"]["totals"]["active_seconds"], 0)
    t.between("active seconds of bun 1.3.14", old["totals"]["active_seconds"], 9, 11)
    for label, run in runs.items():
        t.near(f"window of {label}", run["window_ns"], 10e9, 0.01)
        t.check(run["memory"]["rss_bytes"] > 100_000, f"memory of {label}: {run['memory']}")


@test
def idle_in_parallel_keeps_the_runtimes_apart(t):
    done = measure(t, "idle", "-d", "5s", "--parallel", *pinned("node-22", "deno-2"))
    check_runs(t, done, ("node-22", "deno-2"), 1)
    runs = {run["label"]: run for run in done.runs}
    t.check(runs["node-22"].threads and runs["deno-2"].threads, "a runtime has no threads")
    shared = {th["pid"] for th in runs["node-22"].threads} & {
        th["pid"] for th in runs["deno-2"].threads
    }
    t.equal("processes in both", shared, set())


@test
def hash_shows_the_wakeups_of_an_operation(t):
    done = measure(t, "hash", "-d", "1s", "floor", *pinned("bun-1.4.0", "node-22"))
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    t.equal("schema", validate(done.document), [])
    for run in done.runs:
        check_sums(t, run)
        operations = run["result"]["operations"]
        wakeups = run["totals"]["wakeups"] / operations
        name = f"{run['label']} {run['variant']}"
        t.between(f"operations of {name}", operations, 1000, 1e9)
        if run["label"] == "node-22" and run["variant"] == "webcrypto":
            t.between(f"wakeups an operation of {name}", wakeups, 1.5, 2.6)
        else:
            t.between(f"wakeups an operation of {name}", wakeups, 0, 0.05)
        t.check(run["trust"]["ok"], f"{name} is not trusted: {run['trust']['reasons']}")
    found = {(run["label"], run["variant"]) for run in done.runs}
    for wanted in (("node-22", "webcrypto"), ("bun-1.4.0", "webcrypto"), ("node-22", "sync"),
                   ("floor", "sync")):
        t.check(wanted in found, f"{wanted} was not measured")


@test
def hash_of_a_fixed_number_of_operations(t):
    done = measure(t, "hash", "--ops", "20000", "--variant", "sync", *pinned("node-22", "deno-2"))
    t.equal("operations", {r["result"]["operations"] for r in done.runs}, {20000})


def fake(t, name, text):
    path = t.path(name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + text + "\n")
    os.chmod(path, 0o755)
    return f"{name}=bun:{path}"


def alive_with(words):
    """Processes whose command line has these words in it."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if words.encode() in file.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


@test
def a_runtime_that_fails_is_one_line_and_the_others_go_on(t):
    cases = {
        "exits": 'case $1 in --version) echo 1.0;; *) echo last words >&2; exit 3;; esac',
        "crashes": 'case $1 in --version) echo 1.0;; *) kill -SEGV $$;; esac',
        "babbles": 'case $1 in --version) echo 1.0;; *) echo nonsense;; esac',
    }
    for name, script in cases.items():
        for workload in ("startup", "idle", "hash"):
            options = {"startup": ["-r", "2", "-w", "0"], "idle": ["-d", "300ms"],
                       "hash": ["-d", "200ms", "--variant", "sync"]}[workload]
            done = measure(t, workload, *options, fake(t, name, script), "floor")
            what = f"{workload} of one that {name}"
            t.equal(f"status of {what}", done.status, 1)
            t.check(name in done.err, f"{what}: not named: {done.err!r}")
            t.between(f"lines of {what} ({done.err!r})", done.err.count("\n"), 1, 3)
            if name == "exits":
                t.check("last words" in done.err, f"{what}: no last words: {done.err!r}")
            t.equal(f"labels measured beside {what}", {r["label"] for r in done.runs}, {"floor"})
    await_true(lambda: not alive_with(t.root), "all of them to be gone", 10)


@test
def a_runtime_that_is_missing_or_no_program(t):
    done = t.tool.call("startup", "-r", "1", "bun=/nonexistent/bun")
    t.check(done.status in (1, 2), f"status {done.status}")
    t.check("/nonexistent/bun" in done.err, f"the message does not name it: {done.err!r}")


def hyperfine_times(t, commands, runs):
    """The times of each command, in s."""
    path = t.path("hyperfine.json")
    subprocess.run(["hyperfine", "-N", "--warmup", "1", "--runs", str(runs), "--export-json", path,
                    *commands], check=True, capture_output=True, timeout=120)
    with open(path, "rb") as file:
        return [result["times"] for result in json.load(file)["results"]]


def ours_block(t, labels, words):
    """{label: median exec to exit in s} of a few starts, and of a program that does next to nothing."""
    done = measure(t, "startup", "-r", "3", "-w", "1", "--no-bare", *words)
    block = {label: statistics.median(run["startup"]["exec_to_exit_ns"] / 1e9
                                      for run in done.runs if run["label"] == label)
             for label in labels}
    block["trivial"] = t.tool.run(["sleeper", 0]).run["window_ns"] / 1e9
    return block


def theirs_block(t, labels, words, script):
    commands = [f"{word.split(':', 1)[1]} {script}" for word in words]
    commands.append(f"{t.tool.subject('sleeper')} 0")
    times = hyperfine_times(t, commands, 3)
    return dict(zip((*labels, "trivial"), map(statistics.median, times)))


def startup_round(t, labels, words, script):
    """Blocks of both in turn, and which is first alternates, so that a machine that drifts favours
    none: [(ours, theirs)]."""
    blocks = []
    for number in range(12):
        if number % 2:
            theirs = theirs_block(t, labels, words, script)
            ours = ours_block(t, labels, words)
        else:
            ours = ours_block(t, labels, words)
            theirs = theirs_block(t, labels, words, script)
        blocks.append((ours, theirs))
    return blocks


@test
def startup_agrees_with_hyperfine(t):
    """hyperfine's time has its fork and its wait in it, ours begins at the exec call and ends with the
    last exit. A program that does next to nothing shows how much that is, and it is taken off. The
    ratio of a label is the median over the blocks of their ratios. On a noisy machine up to three
    rounds are made, and one that agrees is enough."""
    need_program("hyperfine")
    labels = ("node-22", "bun-1.3.14")
    words = pinned(*labels)
    script = t.path("hello.cjs")
    with open(script, "w", encoding="ascii") as file:
        file.write('console.log("hello");\n')
    seen = []
    for _round in range(3):
        blocks = startup_round(t, labels, words, script)
        around = statistics.median(b["trivial"] - a["trivial"] for a, b in blocks)
        ratios = {label: statistics.median(a[label] / (b[label] - around) for a, b in blocks)
                  for label in labels}
        if all(abs(ratio - 1) <= 0.05 for ratio in ratios.values()):
            return
        seen.append(f"ratios {ratios}, fork and wait {around * 1e3:.2f} ms, blocks {blocks}")
    t.failures += ["startup beside hyperfine:", *seen]


@test
def the_very_starts_that_hyperfine_times_take_as_long_here(t):
    """hyperfine runs inside the window, so both time the same starts: no noise between them. Its times
    hold the fork, and the end of the process's memory, which comes behind the exit probe."""
    need_program("hyperfine")
    (word,) = pinned("node-22")
    program, script, path = word.split(":", 1)[1], t.path("hello.cjs"), t.path("times.json")
    with open(script, "w", encoding="ascii") as file:
        file.write('console.log("hello");\n')
    run = t.tool.start_run(["hyperfine", "-N", "--warmup", "1", "--runs", "10", "--export-json",
                            path, f"{program} {script}"]).finish().run
    with open(path, "rb") as file:
        theirs = [time * 1e9 for time in json.load(file)["results"][0]["times"]]
    ours = [p["exit_ns"] - p["exec_ns"] for p in run["processes"]
            if p["exec_ns"] and (p["argv"] or [])[:1] == [program]][-10:]
    t.equal("starts", len(ours), 10)
    ratio = statistics.median(a / b for a, b in zip(ours, theirs))
    t.between(f"ours to hyperfine's, {ours} to {theirs}", ratio, 0.85, 1.001)
