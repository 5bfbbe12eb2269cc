"""Where in the code: subjects whose call chains are known, built in every way."""

import os
import re
import shutil
import subprocess

from harness import test
from stacks import Functions, Stacks, ends_of, nearest_difference
from test_output import validate
from test_why import named, unseen
from tool import MOUNT_NAMESPACE, Subject, need_program

LEVELS = ["level_three", "level_two", "level_one", "chain_body"]
WAKERS = ["waker_inner", "waker_outer", "waker_body"]
COUNT, US = 20, 10000

# Kind of chain; cause and mechanism of its wakes; a function of the kernel that it sleeps in, and that wakes it.
KINDS = {
    "nanosleep": ("timeout", "sleep", r"hrtimer_nanosleep|do_nanosleep", None),
    "cond": ("timeout", "futex", r"(__)?futex_wait", None),
    "signalled": ("thread", "futex", r"(__)?futex_wait", r"futex_wake"),
    "futex": ("thread", "futex", r"(__)?futex_wait", r"futex_wake"),
    "pipe": ("thread", "write", r"(anon_)?pipe_read", r"(anon_)?pipe_write"),
}
# What the probe itself adds on top of the kernel's functions.
PROBES = re.compile(r"bpf_|__bpf_|__traceiter_|perf_|ftrace_|trampoline")


# ---- what holds of every stack -------------------------------------------------------------------------

def check_kernel(t, what, names, first, inner):
    t.check(names, f"{what}: no frames of the kernel")
    t.check(names and re.fullmatch(first, names[0]), f"{what}: begins with {names[:3]}")
    t.check(any(re.fullmatch(inner, name) for name in names), f"{what}: no {inner} in {names}")
    t.equal(f"{what}: frames of the probe", [name for name in names if PROBES.match(name)], [])


def check_sums(t, run, stacks):
    """What a cause's wakes are by stack is what they are."""
    for i, cause in enumerate(run["causes"]):
        rows = [w for w in stacks.data["wakes"] if w["cause"] == i]
        if rows:
            t.near(f"{cause['comm']} {cause['text']}: wakeups by stack",
                   sum(w["wakeups"] for w in rows), cause["wakeups"], 0, 1)
    t.equal("wakeups of all causes", stacks.data["wakeups"], run["totals"]["wakeups"])
    with_stack = sum(w["wakeups"] for w in stacks.data["wakes"] if w["sleeper"] is not None)
    t.near("wakeups with a stack", stacks.data["wakeups_with"], with_stack, 0, 1)
    t.equal("lost stacks", run["trust"]["lost"].get("stacks", 0), 0)


def measured(t, argv, *options, **more):
    """A subject run with stacks: the run, its stacks, the truth."""
    options = options or ("-s",)
    done = t.tool.run([f"stacks/{argv[0]}", *argv[1:]], options, **more)
    t.equal(f"status of {argv} ({done.err.strip()})", done.status, 0)
    t.equal("schema", validate(done.document), [])
    stacks = Stacks(done.run)
    check_sums(t, done.run, stacks)
    return done.run, stacks, done.truth


def by_chain(stacks, rows, side, path):
    """{names of its own frames: wakeups} of rows of "wakes"."""
    counts = {}
    for row in rows:
        chain = tuple(stacks.names_in(row[side], path))
        counts[chain] = counts.get(chain, 0) + row["wakeups"]
    return counts


def check_chain(t, what, stacks, rows, side, path, wanted, low, high):
    """So many wakes have exactly these functions of the program, and none has others."""
    counts = by_chain(stacks, rows, side, path)
    t.equal(f"{what}: chains", list(counts), [tuple(wanted)])
    t.between(f"{what}: wakeups", counts.get(tuple(wanted), 0), low, high)
    for row in rows:
        if row[side] is not None:
            t.check(not stacks.truncated(row[side]), f"{what}: truncated: "
                    f"{[f['text'] for f in stacks.frames(row[side])]}")


# ---- one source, many builds -----------------------------------------------------------------------------

def part_of(names, wanted):
    """The names, when these stand in it one behind the other: of a static program, without glibc's."""
    n = len(wanted)
    return any(names[i:i + n] == wanted for i in range(len(names) - n + 1))


def check_offsets(t, what, stacks, stack, path, functions, are_named):
    """Each frame of the program lies where readelf has the function of its name."""
    for frame in stacks.user(stack):
        if not stacks.path(frame).endswith(path):
            continue
        found = functions.at(frame["offset"])
        if are_named:
            t.equal(f"{what}: {frame['name']} at {frame['offset']:#x}, readelf: {found}",
                    frame["into"], found.get(frame["name"]))
        else:
            t.check(not frame["name"], f"{what}: a name in a stripped file: {frame['name']}")
            t.check(found, f"{what}: no function at {frame['offset']:#x}")


def check_kind(t, variant, kind, run, stacks, functions, are_named):
    cause, mechanism, sleeps, wakes = KINDS[kind]
    what, path = f"{variant}: {kind}", ends_of(t.tool.subject(f"stacks/chain-{variant}"))
    tid = named(run, kind)
    rows = stacks.wakes(tid, cause=cause, mechanism=mechanism)
    sides = {"sleeper": (LEVELS, r"(__)?schedule", sleeps)}
    if wakes:
        sides["waker"] = (WAKERS, r"try_to_wake_up", wakes)
    total = 0
    for row in rows:
        total += row["wakeups"]
        for side, (wanted, first, inner) in sides.items():
            stack = row[side]
            if not t.check(stack is not None, f"{what}: {row['wakeups']} wakes without a {side}"):
                continue
            names = stacks.names_in(stack, path)
            if not are_named:
                names = [next(iter(functions.at(f["offset"])), "") for f in stacks.user(stack)
                         if stacks.path(f).endswith(path)]
            if "static" in variant:
                t.check(part_of(names, wanted), f"{what}: {side}: {names}, should hold {wanted}")
            else:
                t.equal(f"{what}: {side}", names, wanted)
            t.check(not stacks.truncated(stack), f"{what}: {side} is truncated: {names}")
            check_offsets(t, what, stacks, stack, path, functions, are_named)
            check_kernel(t, f"{what}: {side}", stacks.kernel(stack), first, inner)
    # A wake may come before the other has gone to sleep: then it is none.
    t.between(f"{what}: wakeups", total, COUNT - unseen(run) - (2 if wakes else 0), COUNT)
    if not wakes:
        t.equal(f"{what}: woken by a stack", [r for r in rows if r["waker"] is not None], [])


def check_build(t, variant, symbols=None, are_named=True, **more):
    functions = Functions(t.tool.subject(f"stacks/chain-{symbols or variant}"))
    run, stacks, _ = measured(t, [f"chain-{variant}", COUNT, US, *KINDS], **more)
    for kind in KINDS:
        check_kind(t, variant, kind, run, stacks, functions, are_named)
    if are_named:
        t.equal(f"{variant}: where threads begin",
                {th["comm"]: th["begins"] for th in run.threads if th["comm"] in KINDS},
                {kind: "chain_body" for kind in KINDS})


@test
def chains_with_and_without_frame_pointers(t):
    for variant in ("framed", "frameless"):
        check_build(t, variant)


@test
def chains_of_static_programs(t):
    for variant in ("static", "static-pie"):
        check_build(t, variant)


@test
def chains_wherever_a_program_is_loaded(t):
    for variant in ("pie", "nopie", "prelinked", "packed"):
        check_build(t, variant)


@test
def chains_of_a_stripped_program_are_places_in_its_file(t):
    check_build(t, "stripped", symbols="no-id", are_named=False)


@test
def names_of_a_stripped_program_that_it_exports(t):
    check_build(t, "dynsym", symbols="exported")


@test
def names_of_a_stripped_program_in_a_debug_file_beside_it(t):
    check_build(t, "linked", symbols="no-id")


@test
def names_of_a_stripped_program_in_its_gnu_debugdata(t):
    check_build(t, "mini", symbols="no-id")


@test
def names_of_a_stripped_program_in_a_debug_file_by_its_build_id(t):
    """In a namespace of its own, where /usr/lib/debug is the subjects' folder."""
    debug = os.path.join(t.tool.subjects, "stacks", "debug")
    os.makedirs("/usr/lib/debug", exist_ok=True)
    prefix = [*MOUNT_NAMESPACE, "sh", "-c", 'mount --bind "$1" /usr/lib/debug && shift && exec "$@"',
              "sh", debug]
    check_build(t, "split", symbols="build-id", prefix=prefix)


# ---- ways of taking them ---------------------------------------------------------------------------------

@test
def frame_pointers_alone_lose_the_caller_that_glibc_hides(t):
    path = ends_of(t.tool.subject("stacks/chain-framed"))
    run, stacks, _ = measured(t, ["chain-framed", COUNT, US, *KINDS], "--stacks=k,u")
    t.equal("mode", stacks.data["mode"], ["kernel", "user"])
    for kind, (cause, mechanism, sleeps, wakes) in KINDS.items():
        for row in stacks.wakes(named(run, kind), cause=cause, mechanism=mechanism):
            names = stacks.names_in(row["sleeper"], path)
            # glibc's condition variables use the register for something else: there it ends.
            may_end = kind in ("cond", "signalled")
            t.check(names in (LEVELS, LEVELS[1:]) or (may_end and not names), f"{kind}: {names}")
            check_kernel(t, kind, stacks.kernel(row["sleeper"]), r"(__)?schedule", sleeps)
            if wakes:
                names = stacks.names_in(row["waker"], path)
                t.check(names in (WAKERS, WAKERS[1:]) or (may_end and not names),
                        f"{kind}: {names}")


@test
def the_kernels_part_alone(t):
    run, stacks, _ = measured(t, ["chain-frameless", COUNT, US, "nanosleep", "pipe"], "--stacks=k")
    t.equal("mode", stacks.data["mode"], ["kernel"])
    t.equal("frames that are not the kernel's",
            [f for f in stacks.all_frames if f["kind"] != "kernel"], [])
    for row in stacks.wakes(named(run, "pipe"), cause="thread"):
        check_kernel(t, "pipe", stacks.kernel(row["sleeper"]), r"(__)?schedule", KINDS["pipe"][2])
        check_kernel(t, "pipe", stacks.kernel(row["waker"]), "try_to_wake_up", KINDS["pipe"][3])


@test
def without_stacks_there_are_none(t):
    for options in ((), ("--stacks=no",)):
        done = t.tool.run(["stacks/chain-frameless", "2", "1000", "nanosleep"], options)
        t.equal(f"status with {options}", done.status, 0)
        t.equal(f"stacks with {options}", done.run["stacks"], None)


@test
def beyond_the_limit_wakes_have_no_stack_and_the_share_is_told(t):
    """Ten a second of a thread that sleeps a hundred times a second; two windows of a second at the edges."""
    run, stacks, _ = measured(t, ["chain-frameless", 200, US, "nanosleep"], "-s", "--stack-limit=10")
    rows = stacks.wakes(named(run, "nanosleep"), cause="timeout")
    taken = sum(r["wakeups"] for r in rows if r["sleeper"] is not None)
    seconds = run["window_ns"] / 1e9
    t.between("wakeups with a stack", taken, 10, 10 * (int(seconds) + 2))
    t.between("wakeups", sum(r["wakeups"] for r in rows), 200 - unseen(run), 200)
    t.check(stacks.data["wakeups_with"] < stacks.data["wakeups"], "the share is not told")


# ---- what a thread sleeps in, and how often -----------------------------------------------------------------

@test
def two_causes_of_one_thread_have_their_own_stacks(t):
    run, stacks, _ = measured(t, ["chain-frameless", 30, US, "causes"])
    tid, path = named(run, "causes"), ends_of(t.tool.subject("stacks/chain-frameless"))
    for mechanism, function in (("sleep", "short_wait"), ("poll", "long_wait")):
        rows = stacks.wakes(tid, cause="timeout", mechanism=mechanism)
        check_chain(t, mechanism, stacks, rows, "sleeper", path, [function, "chain_body"],
                    30 - unseen(run), 30)
        slept = sum(r["sleep_ns"] for r in rows)
        # A sleep is as long as was asked for, and longer when the machine is busy.
        asked = 30 * US * 1000 * (3 if mechanism == "poll" else 1)
        t.between(f"{mechanism}: time asleep", slept, 0.9 * asked, 2 * asked)


@test
def one_cause_in_two_places_is_told_apart_by_their_share(t):
    run, stacks, _ = measured(t, ["chain-frameless", 30, US, "places"])
    tid, path = named(run, "places"), ends_of(t.tool.subject("stacks/chain-frameless"))
    rows = stacks.wakes(tid, cause="timeout", mechanism="sleep")
    t.equal("causes", len({r["cause"] for r in rows}), 1)
    counts = by_chain(stacks, rows, "sleeper", path)
    t.equal("chains", set(counts), {("first_place", "chain_body"), ("second_place", "chain_body")})
    t.between("first", counts.get(("first_place", "chain_body"), 0), 30 - unseen(run), 30)
    t.between("second", counts.get(("second_place", "chain_body"), 0), 60 - unseen(run), 60)


# ---- names -----------------------------------------------------------------------------------------------

CPP = [
    "void known::inner::asleep<unsigned long>(known::inner::Pair<unsigned long, int> const&)",
    "known::inner::Sleeper::overloaded(unsigned long, long) const",
    "known::inner::Sleeper::overloaded(unsigned long) const",
    "known::inner::Sleeper::operator<<(unsigned long) const",
    "known::(anonymous namespace)::hidden(unsigned long)",
]
RUST = [
    "<subject::sleep::Timer>::sleep",
    "subject::sleep::outer",
    "<subject::Timer as core::future::Future<u8>>::poll",
    "subject::outer",
]


def check_call(t, name, inner, count=10):
    """A subject around call.c; returns its stacks and the rows of its sleeps."""
    run, stacks, truth = measured(t, [name, count, US])
    rows = stacks.wakes(truth["pid"], cause="timeout", mechanism="sleep")
    check_chain(t, name, stacks, rows, "sleeper", ends_of(t.tool.subject(f"stacks/{name}")),
                [*inner, "chain", "chain_call", "main", "_start"], count - unseen(run), count)
    return run, stacks, rows


@test
def names_of_cpp_and_rust_read_as_they_are_written(t):
    check_call(t, "cpp", CPP)
    check_call(t, "rust", RUST)


@test
def a_library_that_is_opened_while_it_runs(t):
    _, stacks, rows = check_call(t, "open", [])
    for row in rows:
        names = stacks.names_in(row["sleeper"], "/stacks/libknown.so")
        t.equal("frames of the library", names, ["library_sleep", "library_entry"])
        every = [f["name"] for f in stacks.user(row["sleeper"])]
        at = every.index("library_sleep") if "library_sleep" in every else 0
        t.equal("order", every[at:at + 4], ["library_sleep", "library_entry", "chain", "chain_call"])


def remove_maps(truth):
    path = f"/tmp/perf-{truth['pid']}.map"
    if os.path.exists(path):
        os.unlink(path)


@test
def code_made_at_run_time_is_named_by_its_perf_map(t):
    path = ends_of(t.tool.subject("stacks/jit"))
    for environment, name in ((None, "jit_sleeper"), ({**os.environ, "WAKEWHY_NO_MAP": "1"}, "")):
        run, stacks, truth = measured(t, ["jit", 10, US], env=environment)
        t.cleanup(remove_maps, truth)
        rows = stacks.wakes(truth["pid"], cause="timeout", mechanism="sleep")
        check_chain(t, f"named {name!r}", stacks, rows, "sleeper", path,
                    ["jit_callee", name, "chain", "chain_call", "main", "_start"],
                    10 - unseen(run), 10)
        made = [f for f in stacks.all_frames if f["kind"] == "jit"]
        if t.equal("frames of made code", len(made), 1):
            if name:
                t.between("where in it", made[0]["into"], 1, 20)
            t.check(made[0]["text"].startswith(name or "[jit]"), f"text: {made[0]['text']}")


# ---- programs that are gone when their stacks are named -----------------------------------------------------

BRIEF = ["brief_sleep", "brief_outer", "main", "_start"]


@test
def a_program_that_exits_at_once_has_its_names(t):
    done = t.tool.start_run([t.tool.subject("stacks/brief")], ["-s"]).finish()
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    run, stacks = done.run, Stacks(done.run)
    rows = stacks.wakes(named(run, "brief"), cause="timeout")
    check_chain(t, "brief", stacks, rows, "sleeper", "/stacks/brief", BRIEF, 1, 1)


@test
def programs_that_are_removed_at_once_have_their_places(t):
    """With the file its names have gone, and what tells how its functions keep their return addresses: the
    stack may end in it. What is there is right."""
    functions = Functions(t.tool.subject("stacks/brief"))
    script = 'for i in 1 2 3 4 5; do cp "$1" "$2/brief$i"; "$2/brief$i"; rm "$2/brief$i"; done'
    done = t.tool.start_run(
        ["sh", "-c", script, "sh", t.tool.subject("stacks/brief"), t.root], ["-s"]).finish()
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    run, stacks = done.run, Stacks(done.run)
    for i in range(1, 6):
        rows = stacks.wakes(named(run, f"brief{i}"), cause="timeout")
        t.between(f"wakeups of brief{i}", sum(r["wakeups"] for r in rows), 1 - unseen(run), 1)
        for row in rows:
            own = [f for f in stacks.user(row["sleeper"])
                   if stacks.path(f) == os.path.join(t.root, f"brief{i}")]
            found = [next(iter(functions.at(f["offset"])), "") for f in own]
            t.check(found and found == BRIEF[:len(found)], f"places of brief{i}: {found}")
            t.equal(f"brief{i} is truncated", stacks.truncated(row["sleeper"]), found != BRIEF)
            for frame, name in zip(own, found):
                t.check(frame["name"] in ("", name), f"{frame['name']} where readelf has {name}")


# ---- an independent unwinder -----------------------------------------------------------------------------------

def against_eu_stack(t, argv, roles):
    """What was taken of live threads in a window is what eu-stack finds of them a moment later.

    roles: {comm, None for the main thread: (function of the subject that it sleeps in, the cause of its wakes, its
    mechanism)}. Others are of sleeps on the way there: what is called may have to be read in first."""
    need_program("eu-stack")
    subject = Subject(t.tool, [f"stacks/{argv[0]}", *argv[1:]])
    attached = t.tool.start_attach("-p", subject.pid, "-d", "1s", "-s")
    attached.await_window()
    subject.go()
    done = attached.finish()
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    run, stacks = done.run, Stacks(done.run)
    for comm, (function, cause, mechanism) in roles.items():
        tid = subject.pid if comm is None else named(run, comm)
        rows = [w for w in stacks.wakes(tid, cause=cause, mechanism=mechanism)
                if w["sleeper"] is not None and
                any(f["name"] == function for f in stacks.user(w["sleeper"]))]
        t.check(rows, f"{argv}: {comm}: no wake with {function}")
        for row in rows:
            t.equal(f"{argv}: {comm}",
                    nearest_difference(stacks, row["sleeper"], subject.pid, tid, function), "")
    subject.kill()


@test
def eu_stack_finds_the_same_frames(t):
    roles = {kind: ("level_three", *wake[:2]) for kind, wake in KINDS.items()}
    for variant in ("framed", "frameless", "static", "static-pie", "nopie", "packed"):
        against_eu_stack(t, [f"chain-{variant}", 100000, 50000, *KINDS], roles)


@test
def eu_stack_finds_the_same_frames_in_libraries_and_made_code(t):
    for name, function in (("cpp", CPP[0]), ("open", "library_sleep"), ("jit", "jit_callee")):
        against_eu_stack(t, [name, 100000, 50000], {None: (function, "timeout", "sleep")})
    for name in os.listdir("/tmp"):
        match = re.fullmatch(r"perf-(\d+)\.map", name)
        if match and not os.path.exists(f"/proc/{match.group(1)}"):
            with open(os.path.join("/tmp", name), encoding="utf-8", errors="replace") as file:
                ours = file.read().endswith(" jit_sleeper\n")
            if ours:
                os.unlink(os.path.join("/tmp", name))


# ---- samples ---------------------------------------------------------------------------------------------------

@test
def samples_share_the_time_as_the_program_does(t):
    hz = 999
    run, stacks, truth = measured(t, ["hot", 3000], "-s", f"--sample={hz}")
    tid, path = truth["pid"], ends_of(t.tool.subject("stacks/hot"))
    counts = {}
    for row in stacks.data["samples"]:
        if row["tid"] == tid:
            for name in set(stacks.names_in(row["stack"], path)) if row["stack"] is not None else [""]:
                counts[name] = counts.get(name, 0) + row["count"]
    total = sum(r["count"] for r in stacks.data["samples"] if r["tid"] == tid)
    in_burn = counts.get("hot_one", 0) + counts.get("hot_two", 0)
    t.equal("rate", stacks.data["sample_hz"], hz)
    oncpu_s = run.thread(tid=tid)["oncpu_ns"] / 1e9
    # Ticks are lost where a hypervisor takes the CPU away; more than there is time for cannot be.
    t.between("samples for the time on CPU", total, 0.9 * hz * oncpu_s, 1.01 * hz * oncpu_s + 2)
    t.between("share in burn", in_burn / total, 0.98, 1)
    # Four standard deviations of a binomial share.
    room = 4 * (0.75 * 0.25 / in_burn) ** 0.5
    t.near("share of hot_one", counts.get("hot_one", 0) / in_burn, 0.75, 0, room)


@test
def samples_of_a_thread_that_sleeps_are_few(t):
    run, stacks, _ = measured(t, ["chain-frameless", 50, US, "nanosleep"], "-s", "--sample")
    tid = named(run, "nanosleep")
    total = sum(r["count"] for r in stacks.data["samples"] if r["tid"] == tid)
    oncpu_s = run.thread(tid=tid)["oncpu_ns"] / 1e9
    t.between("samples", total, 0, 999 * oncpu_s + 8)


# ---- recordings ------------------------------------------------------------------------------------------------

@test
def a_recording_names_the_frames_without_the_program(t):
    copy, recording = t.path("copied"), t.path("stacks.wkw")
    shutil.copy(t.tool.subject("stacks/chain-frameless"), copy)
    done = t.tool.start_run([copy, "5", "5000", "nanosleep"], ["-s", "-o", recording]).finish()
    os.unlink(copy)
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    path = t.path("later.json")
    later = subprocess.run([t.tool.binary, "report", "-q", "-o", path, recording], capture_output=True)
    t.equal(f"status of report ({later.stderr})", later.returncode, 0)
    t.equal("stacks", t.tool.load(path)["stacks"], done.run["stacks"])
    stacks = Stacks(t.tool.load(path))
    rows = stacks.wakes(named(stacks.run, "nanosleep"), cause="timeout")
    check_chain(t, "later", stacks, rows, "sleeper", "/copied", LEVELS, 5 - unseen(done.run), 5)
