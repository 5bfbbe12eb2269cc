"""How long stretches and waits were, and what others did to the window."""

import json
import os
import subprocess
import time

from harness import Skip, test
from tool import MOUNT_NAMESPACE, Run, Subject, await_true, read_text

MS = 1_000_000
LIMIT = 0.10  # of others' share, model/noise.h


# ---- spans --------------------------------------------------------------------------------------


def spans_sum(pairs):
    return sum(count for _low, count in pairs)


def span_limits(pairs):
    """The least and the most that all spans together can have lasted: a bucket ends where the next
    one begins, which is 4/3 or 3/2 of its beginning. The last one has no end."""
    low = sum(count * begin for begin, count in pairs)
    high = sum(count * (begin * 3 / 2 if begin else 384) for begin, count in pairs)
    return low, high


def check_spans(t, run):
    """Every stretch and every wait that the counters hold is in a bucket, and lasted what it says.
    ns of stretches that the window's end has cut are in oncpu_ns and in a bucket; waits that it has
    cut are in runq_ns alone: none is left where all threads have ended."""
    totals, spans = run["totals"], run["spans"]
    switches = totals["switches_voluntary"] + totals["switches_preempted"]
    running = spans_sum(spans["oncpu"]) - switches
    alive = len(run.threads) if run["exit_status"] is None else 0
    t.between("stretches less switches: threads that ran at the end", running, 0, alive)
    t.equal("waits", spans_sum(spans["runq"]), sum(th["runq_waits"] for th in run.threads))
    low, high = span_limits(spans["oncpu"])
    t.between("on-CPU time", totals["oncpu_ns"], low, high)
    if not alive:
        low, high = span_limits(spans["runq"])
        t.between("run-queue wait", totals["runq_ns"], low, high)


@test
def spans_of_a_sleeper_are_short_and_as_many_as_its_switches(t):
    run = t.tool.run(["sleeper", 500, 2000]).run
    check_spans(t, run)
    spans = run["spans"]
    t.between("stretches", spans_sum(spans["oncpu"]), 501, 2000)
    # It computes next to nothing after each sleep; whatever interrupts it does not last so long.
    long = sum(count for begin, count in spans["oncpu"] if begin >= 1 * MS)
    t.between("stretches of a millisecond and more", long, 0, 25)


@test
def spans_of_a_spinner_hold_its_time_in_the_long_ones(t):
    spinner = Subject(t.tool, ["spinner", 0], waits=False)
    done = t.tool.attach("-p", spinner.pid, "-d", "2s")
    run = done.run
    check_spans(t, run)
    # It leaves its CPU when others get their turn, after milliseconds, and never of its own accord.
    long = sum(begin * count for begin, count in run["spans"]["oncpu"] if begin >= 0.5 * MS)
    t.between("ns in long stretches", long, 0.5 * run["totals"]["oncpu_ns"], 2000 * MS)


@test
def spans_of_many_threads_that_come_and_go_add_up(t):
    check_spans(t, t.tool.run(["crowd", 300, 20, 5000]).run)
    check_spans(t, t.tool.run(["hog", 100, 2000]).run)
    check_spans(t, t.tool.run(["spawner", 200, 1]).run)


@test
def spans_of_each_repeat_begin_at_nothing(t):
    path = t.path("startup.json")
    done = t.tool.call("startup", "-r", 3, "-w", 1, "-q", "-o", path, "floor")
    t.equal("status", done.status, 0)
    with open(path, "rb") as file:
        runs = [Run(data) for data in json.load(file)["runs"]]
    t.equal("runs", len(runs), 3)
    for run in runs:
        check_spans(t, run)


@test
def spans_of_the_whole_machine_add_up(t):
    """On a quiet machine next to nobody runs in a second: the sleepers are ours."""
    Subject(t.tool, ["crowd", 10, 3000, 5000], waits=False)
    run = t.tool.attach("-a", "-d", "1s").run
    check_spans(t, run)
    t.between("stretches", spans_sum(run["spans"]["oncpu"]), 10, 10**9)


# ---- others -------------------------------------------------------------------------------------


def first_cpu():
    return min(os.sched_getaffinity(0))


def cpu_ns(pid):
    """On-CPU time of a process of one thread."""
    return int(read_text(f"/proc/{pid}/schedstat").split()[0])


def busy_ticks(cpu):
    """Ticks of a CPU that somebody used, interrupts included."""
    for line in read_text("/proc/stat").splitlines():
        words = line.split()
        if words[0] == f"cpu{cpu}":
            return sum(int(words[i]) for i in (1, 2, 3, 6, 7))
    raise AssertionError(f"no CPU {cpu}")


def check_told(t, run):
    """Disturbed exactly where the limit is passed, and then in the first lines with the share."""
    share, steal = run["trust"]["noise"]["used_other_share"], run["trust"]["noise"]["steal_share"]
    if steal <= 0.05 and not run["trust"]["noise"]["throttled_ns"]:
        t.equal(f"disturbed by {share}", run["disturbed"] is not None, share > LIMIT)
    if share > LIMIT:
        t.check(f"others used {share * 100:.3g} % of its CPUs (limit 10 %)" in run["disturbed"],
                f"what disturbed: {run['disturbed']}")


@test
def a_hog_on_the_workloads_cpu_disturbs_the_window(t):
    hog = Subject(t.tool, ["spinner", 0, 0], waits=False)
    idler = Subject(t.tool, ["idler", 1], waits=False, prefix=["taskset", "-c", str(first_cpu())])
    begun_ns, before = time.monotonic_ns(), cpu_ns(hog.process.pid)
    done = t.tool.attach("-p", idler.inner_pid, "-d", "2s", "-o", "-")
    ran = (cpu_ns(hog.process.pid) - before) / (time.monotonic_ns() - begun_ns)
    run = done.run
    noise = run["trust"]["noise"]
    t.equal("CPUs used", noise["cpus_used"], 1)
    # The hog ran before and after the window too: its share over all of that, and some room.
    t.between("share of others", noise["used_other_share"], max(LIMIT, ran / 2), 1)
    check_told(t, run)
    t.check(done.out.startswith("disturbed: attach of idler"), f"first line: {done.out[:200]}")
    t.check("busy machine: others used up to" in done.out, f"the effect is missing: {done.out}")


@test
def idle_says_that_a_hog_disturbed_it(t):
    Subject(t.tool, ["spinner", 0, 0], waits=False)
    path = t.path("idle.json")
    done = t.tool.call("idle", "-d", "3s", "--retries", 0, "--cpus", first_cpu(), "-o", path, "-o",
                       "-", "floor")
    run = t.tool.load(path)
    t.between("share of others", run["trust"]["noise"]["used_other_share"], LIMIT, 1)
    check_told(t, run)
    t.check(done.out.startswith("disturbed: idle of floor"), f"first line: {done.out[:200]}")


@test
def own_threads_are_no_others(t):
    """The workload fills its CPU itself: what is left for others is what they really had."""
    spinner = Subject(t.tool, ["spinner", 0, 0], waits=False)
    cpu, tick = first_cpu(), 1 / os.sysconf("SC_CLK_TCK")

    def others():
        return busy_ticks(cpu) * tick - cpu_ns(spinner.pid) / 1e9

    started = t.tool.start_attach("-p", spinner.pid, "-d", "4s")
    started.await_window()
    before, begun = others(), time.monotonic()
    done = started.finish()
    seconds, had = time.monotonic() - begun, others() - before
    window = done.run["window_ns"] / 1e9
    # The test's own look begins after the window and ends after it, and wakewhy works meanwhile; ticks
    # are rounded in each of five counters.
    room = 5 * tick + abs(seconds - window) + 0.02 * window
    t.between("seconds of others", done.run["trust"]["noise"]["used_other_share"] * window,
              had - room, had + room)
    check_told(t, done.run)


@test
def a_quiet_machine_disturbs_nothing(t):
    idler = Subject(t.tool, ["idler", 1], waits=False)
    cpus, ticks_per_s = sorted(os.sched_getaffinity(0)), os.sysconf("SC_CLK_TCK")
    started = t.tool.start_attach("-p", idler.pid, "-d", "2s")
    started.await_window()
    before = sum(busy_ticks(cpu) for cpu in cpus)
    done = started.finish()
    busy = (sum(busy_ticks(cpu) for cpu in cpus) - before) / ticks_per_s / len(cpus) / 2
    if busy > LIMIT / 2:
        raise Skip(f"others use {busy * 100:.0f} % of this machine")
    t.between("share of others", done.run["trust"]["noise"]["used_other_share"], 0, LIMIT)
    if done.run["trust"]["noise"]["steal_share"] <= 0.05:
        t.equal("disturbed", done.run["disturbed"], None)


@test
def a_short_window_does_not_know_what_others_did(t):
    run = t.tool.run(["sleeper", 1, 1000]).run
    t.between("window", run["window_ns"], 0, 500 * MS - 1)
    t.equal("share of others", run["trust"]["noise"]["used_other_share"], None)
    t.equal("disturbed", run["disturbed"], None)


# ---- limits and places --------------------------------------------------------------------------


def make_cgroup(t, quota_us, period_us):
    """A cgroup that may use so much; the path of its cgroup.procs."""
    for line in read_text("/proc/self/mountinfo").splitlines():
        words, _, kind = line.partition(" - ")
        point, (name, _source, options) = words.split()[4], kind.split()[:3]
        directory = os.path.join(point, f"wakewhy-test-{os.getpid()}")
        try:
            if name == "cgroup2" and "cpu" in read_text(f"{point}/cgroup.subtree_control").split():
                os.mkdir(directory)
                limits = {"cpu.max": f"{quota_us} {period_us}"}
            elif name == "cgroup" and "cpu" in options.split(","):
                os.mkdir(directory)
                limits = {"cpu.cfs_period_us": period_us, "cpu.cfs_quota_us": quota_us}
            else:
                continue
        except OSError as error:
            raise Skip(f"no cgroup can be made in {point}: {error}") from error
        t.cleanup(os.rmdir, directory)
        for file, value in limits.items():
            with open(os.path.join(directory, file), "w", encoding="ascii") as out:
                out.write(str(value))
        return directory
    raise Skip("no cgroup hierarchy here has the cpu controller")


@test
def a_cpu_limit_and_what_it_held_back_are_told(t):
    directory = make_cgroup(t, 5000, 100000)
    spinner = Subject(t.tool, ["spinner", 0], waits=False)
    with open(os.path.join(directory, "cgroup.procs"), "w", encoding="ascii") as out:
        out.write(str(spinner.pid))
    # It must be gone before the cgroup can be removed: clean-ups run backwards.
    t.cleanup(await_true, lambda: not read_text(f"{directory}/cgroup.procs").strip(),
              "the cgroup to be empty")
    t.cleanup(spinner.kill)
    done = t.tool.attach("-p", spinner.pid, "-d", "2s", "-o", "-")
    noise = done.run["trust"]["noise"]
    t.equal("CPUs that it may use", noise["quota_cpus"], 0.05)
    # It is held back in each of twenty periods for most of its length, if others let it run at all.
    t.between("throttled", noise["throttled_ns"], 100 * MS, 2 * 2000 * MS)
    first, said = (" ".join(text.split()) for text in (done.out.split("\n\n")[0], done.out))
    t.check("the CPU limit of its cgroup held it back for" in first, f"first lines: {first}")
    t.check("its cgroup may use 0.05 CPUs" in said, f"the limit is missing: {said}")
    t.between("on-CPU time", done.run["totals"]["oncpu_ns"], 0, 2 * 21 * 5 * MS)


def made_up_cpus(t):
    """A folder to be mounted over /sys/devices/system/cpu: all CPUs are one core, and so on."""
    cpus = f"0-{os.cpu_count() - 1}\n" if os.cpu_count() > 1 else "0\n"
    files = {"online": cpus, "possible": cpus, "isolated": "0\n", "cpufreq/boost": "1\n"}
    for cpu in range(os.cpu_count()):
        files[f"cpu{cpu}/topology/core_cpus_list"] = cpus
        files[f"cpu{cpu}/cpufreq/scaling_governor"] = "powersave\n"
    for name, text in files.items():
        path = os.path.join(t.root, "cpu", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as out:
            out.write(text)
    return [*MOUNT_NAMESPACE, "sh", "-c",
            'mount --bind "$1" /sys/devices/system/cpu && shift && exec "$@"', "sh",
            os.path.join(t.root, "cpu")]


@test
def a_machine_whose_cpus_are_one_core_says_so(t):
    if os.cpu_count() < 2 or len(os.sched_getaffinity(0)) < os.cpu_count():
        raise Skip("not all CPUs are to be had, or there is one only")
    prefix = made_up_cpus(t)
    run = t.tool.run(["sleeper", 1, 1000], prefix=prefix).run
    noise = run["trust"]["noise"]
    t.equal("cores", noise["cores_used"], 1)
    t.equal("siblings", noise["siblings_shared"], os.cpu_count())
    t.equal("isolated", noise["isolated_used"], 1)
    t.equal("turbo", noise["turbo"], True)
    t.equal("governor", noise["governor"], "powersave")
    said = subprocess.run([*prefix, t.tool.binary, "doctor"], capture_output=True, text=True,
                          timeout=60, check=True).stdout
    said = " ".join(said.split())
    for line in (f"CPUs that share a core slow each other (0-{os.cpu_count() - 1}): pin with --cpus",
                 "the frequency governor is powersave: clocks change while it measures: cpupower",
                 "turbo is on: clocks depend on heat and on what the other cores do: echo 0 >"):
        t.check(line in said, f"doctor does not say '{line}': {said}")
