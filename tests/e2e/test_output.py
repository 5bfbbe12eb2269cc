"""What is written: one truth in every format, the same bytes from a recording, checked by the schema."""

import csv
import io
import json
import os
import subprocess

from harness import test
from tool import CHECKOUT, NOBODY, Subject

SCHEMA = os.path.join(CHECKOUT, "docs", "wakewhy-1.schema.json")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def validate(document):
    import jsonschema

    with open(SCHEMA, encoding="utf-8") as file:
        schema = json.load(file)
    cls = jsonschema.validators.validator_for(schema)
    cls.check_schema(schema)
    return [f"{'/'.join(map(str, e.path))}: {e.message}" for e in cls(schema).iter_errors(document)]


@test
def a_recording_gives_the_same_bytes_as_the_live_run(t):
    subject = Subject(t.tool, ["crowd", 20, 20, 1000])
    names = [t.path(f"live.{extension}") for extension in ("wkw", "csv", "json")]
    attached = t.tool.start_attach("-p", subject.pid, "-d", "60s",
                                   *(word for name in names for word in ("-o", name)))
    attached.await_window()
    subject.go()
    done = attached.finish()
    live = {"json": read(t.path("live.json")), "csv": read(t.path("live.csv"))}
    live["text"] = done.out.encode()
    t.check(live["text"], "the live run printed no text although it was not told to be quiet")
    t.equal("JSON of the same run by another -o", json.loads(live["json"]), done.document)
    os.chmod(t.path("live.wkw"), 0o644)
    for user, options in (("root", {}), ("nobody", {"preexec_fn": as_nobody})):
        for name, wanted in live.items():
            again = subprocess.run([t.tool.public, "report", "-f", name, t.path("live.wkw")],
                                   capture_output=True, timeout=60, **options)
            t.equal(f"status of report -f {name} as {user}", again.returncode, 0)
            if not t.check(again.stdout == wanted, f"report -f {name} as {user} differs"):
                t.failures.append(difference(wanted, again.stdout))
    for extension in ("json", "csv", "wkw"):
        path = t.path(f"again.{extension}")
        t.tool.call("report", "-o", path, t.path("live.wkw"))
        t.check(os.path.exists(path) and read(path) == read(t.path(f"live.{extension}")),
                f"report -o again.{extension} differs from the live file")


def difference(wanted, got):
    for number, (a, b) in enumerate(zip(wanted.split(b"\n"), got.split(b"\n")), 1):
        if a != b:
            return f"line {number}: live {a!r}, report {b!r}"
    return f"{len(wanted)} bytes live, {len(got)} from the recording"


@test
def a_report_of_run_goes_to_standard_error_and_its_recording_gives_the_same(t):
    path = t.path("run.wkw")
    done = t.tool.call("run", "-o", path, "--", t.tool.subject("sleeper"), "10", "1000")
    again = t.tool.call("report", path)
    t.equal("status", (done.status, again.status), (0, 0))
    t.equal("standard output", done.out, "")
    t.check("sleeper" in again.out, "the report does not name the command")
    alone = t.tool.call("run", "--", t.tool.subject("sleeper"), "10", "1000")
    t.check("sleeper" in alone.err, "no report on standard error")
    t.equal("standard output", alone.out, "")


@test
def json_validates_against_its_schema(t):
    getppid = t.tool.run(["getppid", 2, 1000])
    t.equal("run", validate(getppid.document), [])
    subject = Subject(t.tool, ["idler", 2], waits=False)
    t.equal("attach", validate(t.tool.attach("-p", subject.pid, "-d", "1s").document), [])
    broken = json.loads(json.dumps(getppid.document))
    del broken["runs"][0]["totals"]["wakeups"]
    broken["runs"][0]["threads"][0]["tid"] = "one"
    t.check(len(validate(broken)) >= 2, "the schema accepts a document without what it must have")


@test
def json_says_what_was_measured(t):
    done = t.tool.run(["sleeper", 20, 1000])
    document, run = done.document, done.run
    t.equal("schema", document["schema"], "wakewhy/1")
    t.equal("kernel", document["tool"]["kernel"], os.uname().release)
    t.equal("command", document["tool"]["command"][1:], done.argv[1:])
    t.equal("workload", run["workload"], "run")
    t.equal("exit status", run["exit_status"], 0)
    t.near("wall time and window", run["wall_ns"], run["window_ns"], 0.02, 5_000_000)
    version = subprocess.run([t.tool.binary, "--version"], capture_output=True, text=True).stdout
    t.equal("version", f"wakewhy {document['tool']['version']}\n", version)
    image = run["processes"][0]
    t.equal("argv", image["argv"], done.argv[done.argv.index("--") + 1:])
    t.check(image["exit_ns"] > image["exec_ns"] > 0, f"times of the process: {image}")


@test
def csv_has_a_row_for_each_thread_with_the_same_figures(t):
    path = t.path("threads.csv")
    done = t.tool.run(["getppid", 3, 1000], ["-o", path])
    rows = list(csv.DictReader(io.StringIO(read(path).decode(), newline="")))
    t.equal("rows", len(rows), len(done.run.threads))
    by_tid = {int(row["tid"]): row for row in rows}
    for thread in done.run.threads:
        for name in ("wakeups", "oncpu_ns", "runq_ns", "switches_voluntary", "switches_preempted",
                     "syscalls", "starts", "migrations"):
            t.equal(f"{name} of {thread['tid']}", int(by_tid[thread["tid"]][name]), thread[name])


@test
def without_system_calls_the_rest_is_still_right(t):
    done = t.tool.run(["sleeper", 100, 1000], ["--no-syscalls"])
    own = done.run.thread(tid=done.truth["pid"])
    t.between("wakeups", own["wakeups"], 100, 102)
    t.equal("system calls", own["syscalls"] or 0, 0)
    text = t.tool.call("run", "--no-syscalls", "--", "true")
    t.check("System calls were not counted" in text.err,
            f"the text does not say that system calls were not counted: {text.err!r}")
    t.equal("schema", validate(done.document), [])


@test
def a_quiet_run_is_quiet(t):
    done = t.tool.run(["sleeper", 5, 1000], ["-q"])
    t.equal("streams", (done.out, done.err), ("", ""))
