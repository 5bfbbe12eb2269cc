"""What a test is: registering, checking, skipping, running, and the lines that say how it went."""

import fnmatch
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback

SLOW_S = 10  # what takes longer is told
TIME_LIMIT_S = 150  # of one test: far beyond what any needs, so that a hang is a failure

# With WAKEWHY_STORMS=1 in the environment only the tests run that have a long form, and in it.
LONG = bool(os.environ.get("WAKEWHY_STORMS"))


class Skip(Exception):
    """This machine cannot show it; the text says what is missing."""


class TimedOut(Exception):
    pass


class Registered:
    def __init__(self, function, needs_bpf, limit_s):
        self.function = function
        self.needs_bpf = needs_bpf
        self.limit_s = limit_s
        self.name = function.__name__.replace("_", " ")


TESTS = []


def test(function=None, *, needs_bpf=True, long_s=0, only_long=False):
    """Registers a test; its name is the function's, with spaces. long_s: it has a long form, which may
    take so many seconds; only_long: it has no other, because it would disturb the machine."""

    def register(inner):
        if long_s if LONG else not only_long:
            TESTS.append(Registered(inner, needs_bpf, long_s if LONG else TIME_LIMIT_S))
        return inner

    return register(function) if function else register


class Test:
    """What a test gets: the tool, a directory of its own, and checks that do not stop it."""

    def __init__(self, tool, root):
        self.tool = tool
        self.root = root
        self.failures = []
        self.cleanups = []
        tool.test = self

    def check(self, condition, text):
        if not condition:
            self.failures.append(text)
        return bool(condition)

    def equal(self, what, got, wanted):
        return self.check(got == wanted, f"{what}: {got!r}, should be {wanted!r}")

    def between(self, what, got, low, high):
        return self.check(
            isinstance(got, (int, float)) and low <= got <= high,
            f"{what}: {got!r}, should lie in {low!r} … {high!r}",
        )

    def near(self, what, got, wanted, share, plus=0):
        """Within a share of what is wanted, plus an absolute part in its unit."""
        room = abs(wanted) * share + plus
        return self.between(what, got, wanted - room, wanted + room)

    def cleanup(self, function, *arguments):
        self.cleanups.append((function, arguments))

    def path(self, name):
        return os.path.join(self.root, name)

    def end(self):
        for function, arguments in reversed(self.cleanups):
            try:
                function(*arguments)
            except Exception as error:  # a clean-up that fails must not hide the next one
                self.failures.append(f"clean-up {function.__name__}: {error}")


def long_or_short(long, short):
    return long if LONG else short


def _on_alarm(_signal, _frame):
    raise TimedOut("took longer than it may")


def _where(error):
    """The last place of a test's own file."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "test_" in f.filename]
    return f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""


def _run_one(registered, tool, root):
    """Returns (passed, reasons, skipped-because)."""
    directory = tempfile.mkdtemp(dir=root)
    os.chmod(directory, 0o755)
    test_run = Test(tool, directory)
    skipped = None
    signal.alarm(registered.limit_s)
    try:
        if registered.needs_bpf:
            tool.need_bpf()
        registered.function(test_run)
    except Skip as reason:
        skipped = str(reason)
    except TimedOut as error:
        test_run.failures.append(f"{error}{_where(error)}")
    except Exception:
        test_run.failures.append(traceback.format_exc().rstrip())
    finally:
        signal.alarm(0)
        test_run.end()
        shutil.rmtree(directory, ignore_errors=True)
    return not test_run.failures, test_run.failures, skipped


def _report(name, passed, reasons, skipped):
    if skipped and passed:
        print(f"skip - {name}: {skipped}", flush=True)
        return
    print(f"{'ok' if passed else 'not ok'} - {name}", flush=True)
    for reason in reasons:
        for line in reason.split("\n"):
            print(f"    {line}", flush=True)


def run_all(tool, pattern):
    """Runs every registered test whose name has the pattern in it; returns an exit status."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    root = tempfile.mkdtemp(prefix="wakewhy-e2e-")
    os.chmod(root, 0o755)
    signal.signal(signal.SIGALRM, _on_alarm)
    # A shell starts what is in the background with interrupts ignored, and wakewhy would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        tool.set_up(root)
        for registered in TESTS:
            if pattern and not fnmatch.fnmatch(registered.name, f"*{pattern}*"):
                continue
            begun = time.monotonic()
            passed, reasons, skipped = _run_one(registered, tool, root)
            _report(registered.name, passed, reasons, skipped)
            if time.monotonic() - begun > SLOW_S:
                print(f"# {registered.name}: {time.monotonic() - begun:.0f} s", flush=True)
            key = "failed" if not passed else "skipped" if skipped else "passed"
            counts[key] += 1
    finally:
        shutil.rmtree(root, ignore_errors=True)
    line = f"{counts['passed']} passed, {counts['failed']} failed"
    if counts["skipped"]:
        line += f", {counts['skipped']} skipped"
    print(line)
    sys.stdout.flush()
    return 1 if counts["failed"] or not sum(counts.values()) else 0
