"""Budgets and baselines: exit status 3, a line for each excess, and what goes before it."""

import os

from harness import test
from tool import CHECKOUT, Subject

GOLDEN = os.path.join(CHECKOUT, "tests", "golden")


def over(done):
    return [line for line in done.err.splitlines() if line.startswith("wakewhy: over budget: ")]


def lines_about(done, text):
    return [line for line in done.err.splitlines() if text in line]


@test
def a_run_above_its_budget_says_so_once_and_everywhere(t):
    command = ["--", t.tool.subject("sleeper"), "20", "1000"]
    report = t.path("report.md")
    done = t.tool.call("run", "--max-wakeups", "0", "-o", report, *command)
    t.equal("status", done.status, 3)
    t.equal("lines", len(over(done)), 1)
    t.check("wakeups/s" in done.err and "allowed 0 (--max-wakeups)" in done.err, done.err)
    with open(report, encoding="utf-8") as file:
        t.check(file.readline().startswith("> **Warning:** over budget: run of sleeper: "),
                "the report does not begin with it")
    both = t.tool.call("run", "--max-wakeups", "0", "--max-cpu", "0", *command)
    t.equal("status of two", both.status, 3)
    t.equal("lines of two", len(over(both)), 2)
    t.check(both.err.index("over budget") < both.err.index("run · "), "not at the top of the report")
    fine = t.tool.call("run", "--max-wakeups", "1000000", "--max-cpu", "1000000", *command)
    t.equal("status within", fine.status, 0)
    t.equal("lines within", over(fine), [])


@test
def a_command_within_its_budget_keeps_its_status(t):
    shell = ["--", "sh", "-c", "sleep 0.01; exit 7"]
    t.equal("within", t.tool.call("run", "--max-wakeups", "1000000", *shell).status, 7)
    t.equal("above", t.tool.call("run", "--max-wakeups", "0", *shell).status, 3)
    t.equal("without", t.tool.call("run", *shell).status, 7)


@test
def a_spinner_is_above_a_cpu_budget_and_a_sleeper_is_not(t):
    for name, argv, status in (("spinner", ["60000"], 3), ("sleeper", ["1", "60000000"], 0)):
        subject = Subject(t.tool, [name, *argv])
        attached = t.tool.start_attach("-p", subject.pid, "-d", "1s", "--max-cpu", "100")
        attached.await_window()
        subject.go()
        done = attached.finish()
        subject.kill()
        t.equal(f"status with a {name}", done.status, status)
        t.equal(f"lines with a {name}", len(over(done)), status // 3)


@test
def a_limit_for_nobody_is_not_kept(t):
    nobody = ["attach", "-n", "no-such-name", "-d", "100ms"]
    t.equal("status without a limit", t.tool.call(*nobody).status, 0)
    t.equal("status with one", t.tool.call(*nobody, "--max-cpu", "5").status, 1)
    done = t.tool.call("report", "--max-startup", "1s", os.path.join(GOLDEN, "idle.wkw"))
    t.equal("status without starts", done.status, 0)
    said = "--max-startup limits nothing here"
    t.equal("lines", len(lines_about(done, said)), 1)
    t.check(said in done.out.replace("\n", " "), "the report does not say so")


@test
def a_start_is_held_against_a_baseline_in_either_form(t):
    names = [t.path("before.json"), t.path("before.wkw")]
    quick = ["startup", "-r", "5", "-w", "1", "--no-bare", "-q", "--cmd"]
    before = t.tool.call(*quick, "x=/bin/true", *(word for name in names for word in ("-o", name)))
    t.equal("status before", before.status, 0)
    said = []
    for name in names:
        now = t.path("now.wkw")
        done = t.tool.call(*quick, "x=/bin/sleep 0.2", "--baseline", name, "-o", now)
        t.equal(f"status against {name}", done.status, 3)
        t.equal(f"lines against {name}", len(over(done)), 1)
        t.check("startup of x: exec to exit " in done.err, done.err)
        t.check("allowed 1.05× (--baseline)" in done.err, done.err)
        again = [t.tool.call("report", "-q", "-o", t.path("r.txt"), "--baseline", other, now)
                 for other in names]
        t.equal("status of both forms again", [a.status for a in again], [3, 3])
        said.append([over(a)[0].replace(".json", ".wkw") for a in again])
        t.equal("line of both forms", said[-1][0], said[-1][1])
    same = t.tool.call(*quick, "x=/bin/true", "--baseline", names[0], "--tolerance", "1000%",
                       "-o", t.path("same.wkw"))
    t.equal("status of the same program", (same.status, over(same)), (0, []))
    faster = t.tool.call("report", "-q", "-o", t.path("f.txt"), "--tolerance", "0%", "--baseline",
                         t.path("now.wkw"), names[1])
    t.equal("status of the faster one", (faster.status, over(faster)), (0, []))


@test
def what_a_baseline_lacks_is_no_excess(t):
    before, now = t.path("before.json"), t.path("now.wkw")
    quick = ["startup", "-r", "1", "-w", "0", "--no-bare"]
    t.tool.call(*quick, "--cmd", "x=/bin/true", "-q", "-o", before)
    done = t.tool.call(*quick, "--cmd", "y=/bin/true", "-o", now, "--baseline", before)
    t.equal("status of a label that is not there", (done.status, over(done)), (0, []))
    said = f"not compared with {before}: startup of y is not in it"
    t.equal("lines", len(lines_about(done, said)), 1)
    t.check(said in done.out.replace("\n", " "), "the report does not say so")
    elsewhere = os.path.join(GOLDEN, "why.wkw")
    done = t.tool.call("report", "--baseline", elsewhere, now)
    t.equal("status of another machine", (done.status, over(done)), (0, []))
    t.equal("lines", len(lines_about(done, "it is from another machine or kernel")), 1)


@test
def a_baseline_that_cannot_be_read_measures_nothing(t):
    witness = t.path("witness")
    text = t.path("text.json")
    with open(text, "w", encoding="utf-8") as file:
        file.write("{\"schema\": \"else\"}")
    for name, message in ((t.path("missing"), "No such file"), (text, "its schema is 'else'"),
                          ("/bin/true", "neither a recording nor a result"),
                          (t.root, "Is a directory")):
        done = t.tool.call("run", "--baseline", name, "--", "touch", witness)
        t.equal(f"status of {name}", done.status, 1)
        t.check(message in done.err, done.err)
    t.equal("status of --tolerance alone",
            t.tool.call("run", "--tolerance", "5", "--", "touch", witness).status, 2)
    for bad in ("-1", "x", ""):
        t.equal(f"status of --max-wakeups '{bad}'",
                t.tool.call("run", "--max-wakeups", bad, "--", "touch", witness).status, 2)
    t.check(not os.path.exists(witness), "the command was run")


@test
def failures_and_doubts_go_before_budgets(t):
    failed = t.tool.call("startup", "-r", "1", "-w", "0", "--no-bare", "--max-startup", "1ns",
                         "--cmd", "x=/bin/true", "bun=/nonexistent/bun")
    t.equal("status with a failure", (failed.status, len(over(failed))), (1, 1))
    doubtful = t.tool.call("report", "--max-wakeups", "0", os.path.join(GOLDEN, "sample.wkw"))
    t.equal("status with a doubt", doubtful.status, 5)
    t.check(over(doubtful), "the excess is not told")


@test
def a_difference_is_told_alike_from_results_and_recordings(t):
    for label, pause in (("a", "1000"), ("b", "2000")):
        for kind in ("wkw", "json"):
            os.makedirs(t.path(kind), exist_ok=True)
        recording = t.path(f"wkw/{label}")
        t.tool.call("run", "-o", t.path(f"{label}.wkw"), "-o", t.path(f"{label}.json"), "--",
                    t.tool.subject("sleeper"), "50", pause)
        for kind in ("wkw", "json"):
            os.rename(t.path(f"{label}.{kind}"), t.path(f"{kind}/{label}"))
        t.check(os.path.exists(recording), "no recording")
    told = [t.tool.call("diff", t.path(f"{a}/a"), t.path(f"{b}/b"))
            for a, b in (("wkw", "wkw"), ("json", "json"), ("wkw", "json"), ("json", "wkw"))]
    t.equal("status", [d.status for d in told], [0] * 4)
    t.check("sleeper" in told[0].out, told[0].out)
    for other in told[1:]:
        t.equal("text", other.out, told[0].out)
