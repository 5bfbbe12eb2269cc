"""wakewhy selftest: right on this kernel, wrong where a subject is disturbed, and nothing left behind."""

import json
import os
import signal

from harness import test
from tool import CHECKOUT, Started, await_true, children_of, is_alive, read_text

SCHEMA = os.path.join(CHECKOUT, "docs", "wakewhy-selftest-1.schema.json")
SUBJECTS = {"sleeper", "ping-pong", "hand-off", "timerfd", "alarm", "spawner", "canceller", "yielder",
            "spinner", "crowd", "caller", "all"}


def validate(document):
    import jsonschema

    with open(SCHEMA, encoding="utf-8") as file:
        schema = json.load(file)
    cls = jsonschema.validators.validator_for(schema)
    cls.check_schema(schema)
    return [f"{'/'.join(map(str, e.path))}: {e.message}" for e in cls(schema).iter_errors(document)]


def told(t, done):
    document = json.loads(done.out)
    t.equal("breaches of the schema", validate(document), [])
    return document


@test
def all_figures_are_right_on_this_kernel(t):
    done = t.tool.call("selftest", "-f", "json")
    document = told(t, done)
    t.equal("wrong", [c for c in document["checks"] if not c["ok"]], [])
    t.equal("doubts", document["doubts"], [])
    t.equal("status", done.status, 0)
    t.equal("subjects", {c["subject"] for c in document["checks"]}, SUBJECTS)
    t.between("time", document["took_ns"], 0, 20e9)
    calls = [c["measured"] for c in document["checks"] if c["figure"] == "calls of getppid"]
    t.equal("calls of getppid", calls, [100000] * 4)
    t.check(all(c["expected_low"] <= c["measured"] <= c["expected_high"]
                for c in document["checks"]), "a figure outside of what is expected is called right")


def start(t, *options):
    started = Started(t.tool, [t.tool.binary, "selftest", *options])
    started.await_window()
    return started


def child_named(pid, name):
    for child in children_of(pid):
        if read_text(f"/proc/{child}/comm").strip() == name:
            return child
    raise AssertionError(f"{pid} has no child {name}")


@test
def a_subject_that_does_not_do_its_work_is_told(t):
    started = start(t, "-f", "json")
    os.kill(child_named(started.pid, "caller"), signal.SIGKILL)
    done = started.finish()
    document = told(t, done)
    wrong = [(c["subject"], c["figure"]) for c in document["checks"] if not c["ok"]]
    t.check(("caller", "finished") in wrong, f"wrong are {wrong}")
    t.equal("status", done.status, 5)
    t.check(not document["ok"], "it is called right")


@test
def interrupted_it_ends_and_leaves_nobody_behind(t):
    started = start(t)
    children = children_of(started.pid)
    t.check(children, "it has no subjects")
    started.signal(signal.SIGINT)
    done = started.finish()
    t.equal("status", done.status, 1)
    t.equal("standard output", done.out, "")
    t.check("signal" in done.err, f"it does not say why it ended: {done.err!r}")
    for child in children:
        await_true(lambda pid=child: not is_alive(pid), f"subject {child} to be gone", 10)


@test
def killed_it_leaves_nobody_behind(t):
    started = start(t)
    children = children_of(started.pid)
    t.check(children, "it has no subjects")
    started.signal(signal.SIGKILL)
    started.finish()
    for child in children:
        await_true(lambda pid=child: not is_alive(pid), f"subject {child} to be gone", 10)


@test(needs_bpf=False)
def its_formats_are_those_of_any_report(t):
    for words in (["-f", "csv"], ["-o", "x.wkw"]):
        done = t.tool.call("selftest", *words, cwd=t.root)
        t.equal(f"status of {words}", done.status, 2)
        t.check("text, markdown and json" in done.err, done.err)
