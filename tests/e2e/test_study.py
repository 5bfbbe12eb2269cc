"""A study: it finishes, reads back the same, goes on after any end, and refuses what it must not touch."""

import collections
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess

from harness import Skip, test
from test_output import validate
from tool import CHECKOUT, NOBODY, await_true

SMALL = ("study", "--quick", "-r", "3", "--retries", "0")
ARTICLES = os.path.join(CHECKOUT, "docs", "claims", "articles.json")


def kept_files(folder):
    """{name: (hash of its bytes, time of its last change)} of the measurements in a study's directory."""
    kept = {}
    for name in os.listdir(folder):
        if name.endswith(".wkw") and name != "study.wkw":
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                kept[name] = (hashlib.sha256(file.read()).hexdigest(), os.stat(path).st_mtime_ns)
    return kept


def keys_of(document):
    """How often each thing was measured, with and without probes."""
    counted = [run for run in document["runs"] if not run["replaced"] and not run["partial"]]
    return collections.Counter(
        (kind, run["workload"], run["label"], run["variant"], run["repeat"])
        for kind, runs in (("probed", counted), ("bare", document["bare"])) for run in runs)


def study(t, *words, name="study.json", limit_s=120):
    """Runs it; its text is in done.out, its result in done.document."""
    path = t.path(name)
    done = t.tool.call(*SMALL, "-f", "text", "-o", path, "-o", "-", *words, limit_s=limit_s)
    if os.path.exists(path):
        with open(path, "rb") as file:
            done.document = json.load(file)
    return done


@test
def a_study_measures_everything_and_reads_back_the_same(t):
    folder = t.path("kept")
    done = study(t, "--resume", folder, "--claims", ARTICLES, "floor", "zig=floor")
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    t.equal("schema", validate(done.document), [])
    keys = keys_of(done.document)
    for label in ("floor", "zig"):
        for workload, repeats in (("startup", 3), ("idle", 1), ("serve", 1), ("hash", 3)):
            found = {key[-1] for key in keys if key[:3] == ("probed", workload, label)}
            t.equal(f"repeats of {workload} of {label}", found, set(range(repeats)))
        bare = {key[-1] for key in keys if key[:3] == ("bare", "startup", label)}
        t.equal(f"bare starts of {label}", bare, {0, 1, 2})
    t.equal("things that were measured twice", [k for k, n in keys.items() if n > 1], [])
    t.equal("files in the directory", len(kept_files(folder)), len(keys))
    t.equal("mode of the directory", os.stat(folder).st_mode & 0o7777, 0o700)
    claims = done.document["claims"]
    with open(ARTICLES, "rb") as file:
        t.equal("claims", [c["text"] for c in claims], [c["text"] for c in json.load(file)["claims"]])
    headings = [line for line in done.out.splitlines() if " CPUs · Linux " in line or " CPU · Linux " in line]
    t.equal("parts", [line.split()[0] for line in headings],
            ["study", "startup", "idle", "serve", "hash"])
    again = t.tool.call("report", os.path.join(folder, "study.wkw"))
    t.equal("status of report", again.status, 0)
    t.check(again.out == done.out, "report of study.wkw prints other bytes than the study did")


@test
def a_study_that_is_interrupted_goes_on_and_measures_nothing_twice(t):
    """Once with SIGINT, once with SIGKILL, at random moments; then to the end, then once more."""
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    folder = t.path("kept")
    words = [t.tool.binary, *SMALL, "--resume", folder, "floor", "one=floor"]
    before = {}
    for number, limit in ((signal.SIGINT, 12), (signal.SIGKILL, 16)):
        files = len(before) + chance.randrange(1, limit - len(before))
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        await_true(lambda: os.path.isdir(folder) and len(kept_files(folder)) >= files,
                   f"{files} files (seed {seed})", 100)
        process.send_signal(number)
        out, err = (text.decode() for text in process.communicate(timeout=60))
        now = kept_files(folder)
        t.equal(f"files that changed (seed {seed})", {n: k for n, k in before.items() if now[n] != k}, {})
        before = now
        if number == signal.SIGINT:
            t.equal("status after SIGINT", process.returncode, 1)
            t.check(f"--resume '{folder}' goes on" in err, f"how to go on is not said: {err!r}")
            t.check("interrupted after" in out, "the report does not say that it is not whole")
            report = t.tool.call("report", os.path.join(folder, "study.wkw"))
            t.check(report.out == out, "report prints other bytes than the interrupted study")
    done = study(t, "--resume", folder, "floor", "one=floor")
    t.equal(f"status (seed {seed}: {done.err.strip()} {done.out[:600]})", done.status, 0)
    keys = keys_of(done.document)
    t.equal("things that were measured twice", [k for k, n in keys.items() if n > 1], [])
    now = kept_files(folder)
    t.equal("files that changed", {n: k for n, k in before.items() if now[n] != k}, {})
    t.equal("files beside measurements", sorted(set(os.listdir(folder)) - set(now)),
            ["study.json", "study.wkw"])
    t.equal("measurements", len(now), len(keys))
    for label in ("floor", "one"):
        starts = {key[-1] for key in keys if key[:3] == ("probed", "startup", label)}
        t.equal(f"starts of {label}", starts, {0, 1, 2})
    check_finished_study_is_played_again_without_measuring(t, folder, done)


def check_finished_study_is_played_again_without_measuring(t, folder, done):
    again = study(t, "--resume", folder, "floor", "one=floor", name="again.json")
    t.equal("status", again.status, 0)
    t.check(again.out == done.out, "the same study prints another table")
    times = [{(r["workload"], r["label"], r["variant"], r["repeat"], r["start_ns"])
              for r in document["runs"]} for document in (done.document, again.document)]
    t.equal("measurements that were made again", times[0] ^ times[1], set())


@test
def a_study_that_is_interrupted_before_it_begins_leaves_no_plan(t):
    """While a runtime is asked for its version: those that come after it are not asked any more, and must not
    be written down without one."""
    slow, asked, folder = t.path("bun"), t.path("asked"), t.path("kept")
    with open(slow, "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\n: > {asked}\nread line < {t.path('gate')}\necho 1.2.3\n")
    os.chmod(slow, 0o755)
    os.chmod(t.root, 0o777)
    os.mkfifo(t.path("gate"))
    os.chmod(t.path("gate"), 0o666)
    process = subprocess.Popen([t.tool.binary, *SMALL, "--resume", folder, f"slow=bun:{slow}", "floor"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    await_true(lambda: os.path.exists(asked), "the question for a version", 30)
    process.send_signal(signal.SIGINT)
    with open(t.path("gate"), "w", encoding="ascii") as gate:
        gate.write("go\n")
    out, err = (text.decode() for text in process.communicate(timeout=60))
    t.equal(f"status ({err!r})", process.returncode, 1)
    t.check("interrupted after 0 of 3 runs" in out, f"the report does not say it: {out!r}")
    t.check(not os.path.exists(folder), "something was left behind")


# ---- directories ---------------------------------------------------------------------------------


def refused(t, what, words, texts, limit_s=20):
    """Status 1, a short message with these texts, nothing printed."""
    done = t.tool.call(*SMALL, *words, limit_s=limit_s)
    t.equal(f"status with {what} ({done.err!r})", done.status, 1)
    t.equal(f"output with {what}", done.out, "")
    t.between(f"lines with {what} ({done.err!r})", done.err.count("\n"), 1, 2)
    for text in texts:
        t.check(text in done.err, f"{what}: {done.err!r} does not say {text!r}")


@test
def a_directory_that_is_not_ours_is_refused(t):
    def folder(name, mode=0o700):
        os.mkdir(t.path(name), mode)
        os.chmod(t.path(name), mode)
        return t.path(name)

    real = folder("real")
    os.symlink(real, t.path("link"))
    with open(t.path("file"), "w", encoding="ascii"):
        pass
    theirs = folder("theirs")
    os.chown(theirs, NOBODY, NOBODY)
    foreign = folder("foreign")
    with open(os.path.join(foreign, "letter.txt"), "w", encoding="ascii") as file:
        file.write("dear all\n")
    cases = {
        "a link": (t.path("link"), "is a link or a file"),
        "a link with a slash": (t.path("link") + "/", "is a link or a file"),
        "a file": (t.path("file"), "is a link or a file"),
        "somebody else's": (theirs, "belongs to another user"),
        "one that others write to": (folder("open", 0o777), "others may write into"),
        "one with other things in it": (foreign, "holds 'letter.txt' and no study"),
        "one without a parent": (t.path("no/such"), "No such file or directory"),
    }
    for what, (path, text) in cases.items():
        refused(t, what, ("--resume", path, "floor"), [path.rstrip("/"), text])
    t.equal("files in the directory behind the link", os.listdir(real), [])
    t.equal("files beside the letter", os.listdir(foreign), ["letter.txt"])


def begun(t, *words):
    """The directory of a study that was interrupted when it had kept a few measurements."""
    folder = t.path(f"begun-{len(os.listdir(t.root))}")
    process = subprocess.Popen([t.tool.binary, *SMALL, "--resume", folder, *words],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    await_true(lambda: os.path.isdir(folder) and len(kept_files(folder)) >= 3, "three files", 60)
    return folder, process


@test
def a_directory_of_another_study_is_refused(t):
    folder, process = begun(t, "floor")
    refused(t, "one that is in use", ("--resume", folder, "floor"), ["another study is using"])
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    before = kept_files(folder)
    for what, words, text in (
            ("another runtime", ("other=floor",), "'floor'"),
            ("one more runtime", ("floor", "other=floor"), "1 runtimes"),
            ("another size", ("--full", "floor"), "exclude each other"),
            ("another number of starts", ("-r", "4", "floor"), "3 starts"),
            ("another seed", ("--seed", "77", "floor"), "seed")):
        done = t.tool.call(*SMALL, "--resume", folder, *words, limit_s=20)
        t.check(done.status in (1, 2), f"{what}: status {done.status}")
        t.check(text in done.err, f"{what}: {done.err!r} does not say {text!r}")
    t.equal("what is kept", kept_files(folder), before)


@test
def a_damaged_directory_is_refused_with_the_file_named(t):
    begun_folder, process = begun(t, "floor")
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    names = sorted(kept_files(begun_folder))

    def cut(path):
        with open(path, "r+b") as file:
            file.truncate(os.path.getsize(path) // 2)

    def swap(path):
        shutil.copy(os.path.join(begun_folder, names[1]), path)

    def link(path):
        os.unlink(path)
        os.symlink("/etc/passwd", path)

    def write(text):
        def damage(path):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return damage

    def fifo(path):
        os.unlink(path)
        os.mkfifo(path)

    plan = json.loads(open(os.path.join(begun_folder, "study.json"), encoding="utf-8").read())
    for what, name, damage in (
            ("a measurement cut short", names[0], cut),
            ("a measurement with another's name", names[0], swap),
            ("a link for a measurement", names[0], link),
            ("a pipe for a measurement", names[0], fifo),
            ("nonsense for a measurement", names[0], write("nonsense")),
            ("somebody's recording", "startup-9-floor-0.wkw", swap),
            ("a plan cut short", "study.json", cut),
            ("a plan without a seed", "study.json", write(json.dumps({**plan, "seed": 0}))),
            ("a plan of another kind", "study.json", write(json.dumps({**plan, "schema": "x"}))),
            ("a plan of numbers", "study.json", write(json.dumps({**plan, "kernel": 6}))),
            ("a plan for another kernel", "study.json", write(json.dumps({**plan, "kernel": "5.4"})))):
        folder = t.path("damaged")
        shutil.copytree(begun_folder, folder)
        damage(os.path.join(folder, name))
        refused(t, what, ("--resume", folder, "floor"),
                [folder, "kernel" if "another kernel" in what else name])
        shutil.rmtree(folder)


@test
def names_of_files_are_safe_whatever_the_label(t):
    folder = t.path("kept")
    label = "..|a b<é\u202e>$(touch x);%2f&*?'\"\\"
    done = t.tool.call(*SMALL, "--resume", folder, f"{label}=floor", limit_s=100)
    t.equal(f"status ({done.err!r})", done.status, 0)
    t.check("\u202e" not in done.out + done.err, "what turns text around reached the terminal")
    names = kept_files(folder)
    t.check(len(names) >= 7, f"files: {sorted(names)}")
    for name in names:
        t.check(name.isascii() and len(name) < 120 and not set(name) & set("/ <>|$;%&*?'\"\\"), repr(name))
    t.equal("files outside", sorted(os.listdir(t.root)), ["kept"])


# ---- claims --------------------------------------------------------------------------------------


def claim_files():
    """(what, text of a file, what the message must name)."""
    with open(ARTICLES, encoding="utf-8") as file:
        articles = file.read()
    whole = json.loads(articles)

    def changed(index, **members):
        claims = [dict(claim) for claim in whole["claims"]]
        claims[index].update(members)
        return json.dumps({**whole, "claims": claims})

    yield "nothing", "", "line 1"
    yield "no JSON", articles[:-3] + ",", "line "
    yield "a list", "[1]", "no file of claims"
    yield "another schema", json.dumps({**whole, "schema": "wakewhy/1"}), "no file of claims"
    yield "a claim that is text", json.dumps({**whole, "claims": ["x"]}), "claims[0]"
    yield "a text as a value", changed(0, value="1e9\x1b[31m"), "claims[0].value"
    yield "an unknown metric", changed(1, metric="\x1b]0;x\x07"), "claims[1].metric"
    yield "an unknown workload", changed(2, workload="../run"), "claims[2].workload"
    yield "an unknown member", changed(3, **{"a\nb": 1}), "claims[3].a"
    yield "a value out of its range", changed(3, value=2), "claims[3].value"
    yield "an endless text", changed(4, text="x" * 100000), "claims[4].text"
    yield "bytes that are no text", articles.replace("about", "\udcff"), "line "
    yield "deep lists", "[" * 100000, "line 1"


@test
def claims_that_are_wrong_are_refused_with_their_place(t):
    path = t.path("claims.json")
    for what, text, place in claim_files():
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        refused(t, what, ("--claims", path, "floor"), [path, place])
        done = t.tool.call(*SMALL, "--claims", path, "floor", limit_s=20)
        t.check("\x1b" not in done.err and "\x07" not in done.err, f"{what}: {done.err!r}")
    refused(t, "no file", ("--claims", t.path("none"), "floor"), ["none", "No such file"])
    refused(t, "a directory", ("--claims", t.root, "floor"), [t.root])


@test
def claims_are_what_their_schema_says(t):
    """Every single change to a claim is accepted by wakewhy exactly where the schema accepts it. A
    runtime that is not there ends a study before anything is measured."""
    try:
        import jsonschema
    except ImportError as error:
        raise Skip("python3-jsonschema is not installed") from error
    with open(os.path.join(CHECKOUT, "docs", "wakewhy-claims-1.schema.json"), encoding="utf-8") as file:
        validator = jsonschema.Draft202012Validator(json.load(file))
    claim = {"source": "a", "what": "b", "text": "c", "label": "d", "base": None, "variant": None,
             "workload": "idle", "metric": "wakeups_per_s", "value": 3, "low": 1, "high": 4,
             "window_s": 60}
    unscoped = {"source": "a", "what": "b", "text": "c", "label": "d"}
    path, accepted = t.path("claims.json"), 0
    for base in (claim, unscoped):
        for name in (*claim, "other"):
            for value in (None, 3, 0.5, -1, "x", "", True, [], {}, 1e17):
                if (name, value) in (("low", None), ("high", None), ("value", 0.5), ("low", 0.5)):
                    continue  # ranges are not for a schema to compare
                if base is claim and name in ("metric", "value", "low", "high") and value in ("x", 0.5, 1e17):
                    continue
                document = {"schema": "wakewhy-claims/1", "claims": [{**base, name: value}]}
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(document, file)
                done = t.tool.call(*SMALL, "--claims", path, "x=/nonexistent/bun", limit_s=20)
                good = not path.split("/")[-1] + ":" in done.err
                t.equal(f"{name}: {value!r} ({done.err!r})", good, validator.is_valid(document))
                accepted += good
    t.between("accepted", accepted, 20, 200)
