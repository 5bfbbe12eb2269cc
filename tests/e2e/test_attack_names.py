"""Names that are not only names: of threads, programs, arguments, directories, cgroups, labels, through every output."""

import csv
import io
import json
import os
import pty
import re
import shutil
import subprocess
import unicodedata
from html.parser import HTMLParser

from harness import test
from test_attach import make_cgroup, move
from tool import Subject, need_program

THREADS = ("\\x1b[31mred\\x07", "<img src=x>", "a|b`c*_[d](e)", "\"q'&<b>;x", "x\\x0ay\\x0dz\\x09", "\\xff\\xc3\\x28\\xe2\\x82",
           "\\xe2\\x80\\xaeevil", "\\xc2\\x9b31mC1\\x7f", "=1+1,\"2\"")
WORST = b"\x1b]0;title\x07<script>alert(1)</script>\n\r|`\"'&;\xff\xc2\x9b2J\xe2\x80\xae$(id)"
HIDDEN = {"Cc", "Cf", "Cs"}
# Between characters that would be read as a link or a mention: the word joiner.
ALLOWED = {"markdown": "\n\u2060"}


def hidden(text, allowed="\n"):
    """Characters that are not seen, or change how others are."""
    return {f"{ord(c):#x}" for c in text if unicodedata.category(c) in HIDDEN and c not in allowed}


MARKUP = ("script", "img", "iframe", "object", "embed", "i", "em")


class Page(HTMLParser):
    """What in a page is markup that wakewhy never writes."""

    def __init__(self, text, markup=MARKUP):
        super().__init__()
        self.bad, self.markup = [], markup
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        if tag in self.markup:
            self.bad.append(tag)
        self.bad += [f"{tag} {name}" for name, value in attrs
                     if name.startswith("on") or "script:" in (value or "").lower()]

    handle_startendtag = handle_starttag


def record(t):
    """A recording with all of it: programs in a directory of that name, with those arguments and threads."""
    folder = os.path.join(os.fsencode(t.root), WORST.replace(b"/", b"_"))
    os.mkdir(folder)
    script = []
    for number, name in enumerate(THREADS):
        program = os.path.join(folder, b"renamed%d<i>" % number)
        shutil.copy(t.tool.subject("renamed"), program)
        script.append((program, name.encode()))
    path = t.path("names.wkw")
    launcher = ("import os,sys,subprocess\n"
                "for at in range(1, len(sys.argv) - 1, 2):\n"
                "    subprocess.run([os.fsencode(sys.argv[at]), os.fsencode(sys.argv[at + 1]), b'3', os.fsencode(sys.argv[-1])])")
    words = [word for pair in script for word in pair]
    done = subprocess.run([t.tool.binary, "run", "-s", "--sample", "-q", "-o", path, "--", "python3", "-c", launcher,
                           *words, WORST], capture_output=True, timeout=60)
    t.equal(f"status of run ({done.stderr!r})", done.returncode, 0)
    return path


def formats(t):
    rows = t.tool.call("list", "formats").out.splitlines()[1:]
    return [row.split()[0] for row in rows if row.split()[0] != "wkw"]


def check_markdown(t, text):
    need_program("cmark-gfm")
    made = subprocess.run(["cmark-gfm", "--unsafe", "-e", "table", "-e", "autolink"], input=text, capture_output=True,
                          text=True, check=True).stdout
    t.equal("markdown: markup of a name's", Page(made, (*MARKUP, "a", "code")).bad, [])
    for table in re.findall(r"<table>.*?</table>", made, re.S):
        widths = {len(re.findall(r"<t[dh]\b", row)) for row in re.findall(r"<tr>.*?</tr>", table, re.S)}
        t.equal("columns of a table in markdown", len(widths), 1)


def check_format(t, name, text, threads):
    t.equal(f"{name}: hidden characters", hidden(text, ALLOWED.get(name, "\n\r" if name.startswith("csv") else "\n")), set())
    if name in ("json", "speedscope"):
        json.loads(text)
    elif name == "html":
        t.equal("html: markup of a name's", Page(text).bad, [])
    elif name.startswith("csv"):
        rows = list(csv.reader(io.StringIO(text, newline="")))
        t.equal(f"{name}: columns of rows", len({len(row) for row in rows}), 1)
        if name == "csv":
            t.equal("csv: rows", len(rows) - 1, threads)
    elif name == "markdown":
        check_markdown(t, text)
    elif name.startswith("folded"):
        bad = [line for line in text.splitlines() if not re.fullmatch(r"\S.* \d+", line)]
        t.equal(f"{name}: lines that are none", bad, [])


@test
def no_output_takes_orders_from_a_name(t):
    path = record(t)
    document = json.loads(t.tool.call("report", "-f", "json", path).out)
    threads = document["runs"][0]["threads"]
    comms = {th["comm"] for th in threads}
    t.check(any("<img src=x>" in c for c in comms) and any("a|b`" in c for c in comms), f"the names: {comms}")
    argv = [p["argv"] for p in document["runs"][0]["processes"]]
    t.check(any("<script>alert(1)</script>" in word for words in argv for word in words), f"arguments: {argv}")
    for name in formats(t):
        again = subprocess.run([t.tool.binary, "report", "-v", "-f", name, path], capture_output=True, timeout=60)
        t.equal(f"status of {name} ({again.stderr!r})", again.returncode, 0)
        check_format(t, name, again.stdout.decode("utf-8", errors="strict"), len(threads))


def at_terminal(argv):
    """What comes to a terminal, standard error with it; and the status."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(argv, stdin=follower, stdout=follower, stderr=follower,
                               env={**os.environ, "TERM": "xterm", "LANG": "C.UTF-8"})
    os.close(follower)
    seen = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    os.close(leader)
    return seen, process.wait(30)


# Colours, the bar's line beginning anew and being cleared: all that wakewhy sends to a terminal by itself.
OWN = re.compile(rb"\x1b\[[0-9;]*[mK]|\r")


def check_terminal(t, what, seen):
    text = OWN.sub(b"", seen).decode("utf-8", errors="strict")
    t.equal(f"{what}: hidden characters", hidden(text), set())
    t.check(b"\x1b[31mred" not in seen and b"\x1b]0" not in seen, f"{what}: a name's escape came through")


@test
def no_terminal_takes_orders_from_a_name(t):
    path = record(t)
    seen, status = at_terminal([t.tool.binary, "report", path])
    t.equal("status", status, 0)
    check_terminal(t, "report", seen)
    cgroup = make_cgroup(t)
    inner = os.path.join(os.fsencode(cgroup), WORST.replace(b"/", b"_").replace(b"\n", b""))
    os.mkdir(inner)
    t.cleanup(os.rmdir, inner)
    subject = Subject(t.tool, ["idler", 1], waits=False)
    t.cleanup(move, subject.pid, os.path.dirname(cgroup))
    move(subject.pid, os.fsdecode(inner))
    for words in (["attach", "-c", inner, "-d", "200ms"], ["attach", "-n", WORST[:6] + b"*", "-d", "200ms"],
                  ["attach", "-c", b"/" + WORST, "-d", "200ms"], ["run", "--", WORST], ["run", "-u", WORST, "--", "true"],
                  ["report", WORST], ["diff", WORST, WORST], ["run", "-o", WORST + b".json", "--", "true"],
                  ["run", "-o", b"/" + WORST + b"/x.json", "--", "true"], ["idle", WORST], ["idle", "--cmd", WORST + b"=x y"],
                  ["attach", "-p", WORST], ["run", "--cpus", WORST, "--", "true"], [WORST], ["run", b"--" + WORST],
                  ["startup", "-r", "1", "-w", "0", "--cmd", WORST.replace(b"\n", b"") + b"=true"],
                  ["run", "-d", WORST, "--", "true"], ["study", "--quick", "--resume", b"/" + WORST, "floor"],
                  ["study", "--quick", "--claims", WORST, "floor"], ["run", "--baseline", WORST, "--max-wakeups", "1", "--", "true"]):
        words = [os.fsencode(w) for w in words]
        seen, status = at_terminal([os.fsencode(t.tool.binary), *words])
        check_terminal(t, repr(words), seen)
        t.check(status in (0, 1, 2, 3, 4, 5, 126, 127), f"{words}: status {status}")
