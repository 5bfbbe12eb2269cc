"""Why real programs wake: what is known of the pinned runtimes, of a database, and of a web server."""

import shutil
import socket
import subprocess
import sys

from harness import test
from test_runtimes import measure, pinned
from test_why import MS, charged, check_why, edge, rows_of, unseen
from tool import await_true, need_program, read_text

UNKNOWN = 0.01  # of a real program's wakeups, at most


def is_main(row):
    return row["pid"] == row["tid"]


def rate(run, wakeups):
    return wakeups / (run["window_ns"] / 1e9)


def led_to(run, root, **wanted):
    """What a root led to, among rows with these values."""
    return sum(charged(run, root, i)["wakeups"] for i, _ in rows_of(run, **wanted) if i != root)


@test
def idle_names_the_timers_of_both_bun_releases(t):
    """What the article could not say: the hundred milliseconds that one release has and the other has
    not, and the second that both have."""
    done = measure(t, "idle", "-d", "12s", "--parallel", *pinned("bun-1.3.14", "bun-1.4.0"))
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    runs = {run["label"]: run for run in done.runs}
    for label, run in runs.items():
        before = len(t.failures)
        check_why(t, run, UNKNOWN)
        mains = [(i, c) for i, c in rows_of(run) if is_main(c) and c["wakeups"] and
                 c["cause"] in ("timer", "timeout") and c["mechanism"] == "epoll" and
                 900 * MS <= (c["period_ns"] or 0) <= 1100 * MS]
        if t.equal("timers of a second on the main thread", len(mains), 1):
            i, timer = mains[0]
            t.between("its rate", rate(run, timer["wakeups"]), 0.8, 1.1)
            t.between("wakeups of helpers that it led to",
                      led_to(run, i, comm="HeapHelper", cause="thread") / timer["wakeups"], 0.5, 8)
        t.failures[before:] = [f"{label}: {text}" for text in t.failures[before:]]
    found = {label: [c for _, c in rows_of(run, cause="timeout", mechanism="futex") if c["wakeups"]
                     and 95 * MS <= (c["requested_timeout_ns"] or 0) <= 105 * MS]
             for label, run in runs.items()}
    t.equal("futex timeouts of 100 ms in 1.4.0", found["bun-1.4.0"], [])
    if t.equal("threads with a futex timeout of 100 ms in 1.3.14", len(found["bun-1.3.14"]), 1):
        row = found["bun-1.3.14"][0]
        t.check(not is_main(row), "it is the main thread")
        t.between("its rate", rate(runs["bun-1.3.14"], row["wakeups"]), 9, 10.5)
        t.near("its period", row["period_ns"] or 0, 100 * MS, 0.03)
        t.equal("how it reads", row["text"], "its own 100 ms futex timeout")


@test
def hash_on_node_is_a_loop_with_a_worker_where_it_is_slow(t):
    done = measure(t, "hash", "-d", "1s", *pinned("node-22"))
    t.equal(f"status ({done.err.strip()})", done.status, 0)
    runs = {run["variant"]: run for run in done.runs}
    for variant, run in runs.items():
        check_why(t, run, UNKNOWN)
        t.check(run["trust"]["ok"], f"{variant}: {run['trust']['reasons']}")
    sync, awaited = runs["sync"], runs["webcrypto"]
    t.between("wakeups an operation of sync",
              sync["totals"]["wakeups"] / sync["result"]["operations"], 0, 0.001)
    t.equal("loops of sync", sync["loops"], [])
    if not t.check(len(awaited["loops"]) == 1, f"loops of webcrypto: {awaited['loops']}"):
        return
    loop, operations = awaited["loops"][0], awaited["result"]["operations"]
    names = {th["comm"] for th in loop["threads"]}
    t.check({"node", "libuv-worker"} <= names, f"threads of the loop: {names}")
    # A worker that is done before the main thread sleeps does not wake it, and one that finds the
    # queue's lock taken is woken twice: so not each operation is a round.
    wakeups = loop["rounds"] * loop["wakeups_per_round"]
    t.between("wakeups of the loop for each operation", wakeups / operations, 1.5, 2.6)
    t.between("system calls of the loop for each operation",
              loop["rounds"] * loop["syscalls_per_round"] / operations, 6, 14)
    t.between("time on CPU of the loop for each operation",
              loop["rounds"] * loop["oncpu_ns_per_round"] / operations, 5000, 1e6)
    main = next(th["tid"] for th in loop["threads"] if th["comm"] == "node")
    workers = [th["tid"] for th in loop["threads"] if th["comm"] == "libuv-worker"]
    handed = sum(sum(edge(awaited, main, tid).values()) for tid in workers)
    t.between("times that the main thread wakes a worker for each operation",
              handed / operations, 0.9, 2.2)
    t.equal("herds", [h for h in awaited["herds"] if h["herds"] > 0.02 * operations], [])


@test
def startup_and_idle_of_every_pinned_runtime_leave_next_to_nothing_unknown(t):
    names = pinned("bun-1.3.14", "bun-1.4.0", "node-22", "deno-2")
    python = ["python3"] if shutil.which("python3") else []
    for words in (("startup", "-r", "2", "-w", "1"), ("idle", "-d", "3s", "--parallel")):
        done = measure(t, *words, *names, *python)
        t.equal(f"status of {words[0]} ({done.err.strip()})", done.status, 0)
        for run in done.runs:
            before = len(t.failures)
            check_why(t, run, UNKNOWN)
            t.failures[before:] = [f"{words[0]} of {run['label']}: {text}"
                                   for text in t.failures[before:]]


# ---- servers -----------------------------------------------------------------------------------------

def started(t, argv, **popen):
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, **popen)

    def stop():
        process.kill()
        process.wait()

    t.cleanup(stop)
    return process


def answers(path):
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(path)
            client.sendall(b"PING\r\n")
            return client.recv(16).startswith(b"+PONG")
        except OSError:
            return False


@test
def redis_wakes_for_its_cron_as_often_as_hz_says(t):
    need_program("redis-server")
    for hz in (10, 100):
        path = t.path(f"redis-{hz}")
        process = started(t, ["redis-server", "--port", "0", "--unixsocket", path, "--save", "",
                              "--hz", str(hz), "--dir", t.root], stdout=subprocess.DEVNULL)
        await_true(lambda: answers(path), "redis to answer")
        done = t.tool.attach("-p", process.pid, "-d", "3s")
        run = done.run
        check_why(t, run, UNKNOWN)
        rows = [c for _, c in rows_of(run, process.pid, cause="timeout", mechanism="epoll")]
        if not t.equal(f"hz {hz}: epoll timeouts of the main thread", len(rows), 1):
            continue
        row, period_ns = rows[0], 1e9 / hz
        t.near(f"hz {hz}: wakeups a second", rate(run, row["wakeups"]), hz, 0.06, 1)
        t.near(f"hz {hz}: period", row["period_ns"] or 0, period_ns, 0.06)
        t.near(f"hz {hz}: asked for", row["requested_timeout_ns"] or 0, period_ns, 0.06)
        asked = "100" if hz == 10 else "10"
        t.check(row["text"].startswith("its own ") and row["text"].endswith(" ms epoll timeout"),
                f"hz {hz}: {row['text']}, should be about its own {asked} ms epoll timeout")


CLIENT = """
import sys, time, urllib.request
for i in range(int(sys.argv[2])):
    time.sleep(0.1)
    with urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/") as answer:
        answer.read()
"""


@test
def requests_to_a_web_server_are_the_network(t):
    requests = 15
    log = t.path("log")
    with open(log, "wb") as out:
        server = started(t, [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1",
                             "--directory", t.root], stdout=out, stderr=out)
    await_true(lambda: " port " in read_text(log), "the server to listen")
    port = read_text(log).split(" port ")[1].split()[0]
    attached = t.tool.start_attach("-p", server.pid, "-d", "30s")
    attached.await_window()
    client = subprocess.run([sys.executable, "-c", CLIENT, port, str(requests)], timeout=60)
    t.equal("status of the client", client.returncode, 0)
    attached.signal(2)
    run = attached.finish().run
    check_why(t, run, UNKNOWN)
    rows = [c for _, c in rows_of(run, server.pid, cause="network", mechanism="poll")]
    if t.equal("network rows of the thread that accepts", len(rows), 1):
        t.between("its wakeups", rows[0]["wakeups"], requests - 2 - unseen(run), requests)
        t.equal("how it reads", rows[0]["text"], "packet arrived (softirq NET_RX) in poll")
    # What else wakes it: its own look at a stop flag each 500 ms, and the threads that it starts.
    others = {c["cause"] for _, c in rows_of(run, server.pid) if c["wakeups"]}
    t.check(others <= {"network", "timeout", "thread", "unknown", "disk"}, f"causes: {others}")
