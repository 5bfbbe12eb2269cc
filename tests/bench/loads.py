"""What is timed while something is attached: loops of known content, a server under load, a runtime."""

import csv
import os
import subprocess

import tool
from tools import launch, which

PACKAGES = {"redis-server": "redis-server", "redis-benchmark": "redis-tools"}
SERVERS = {  # that nobody talks to
    "bun-1.3.14": "Bun.serve({ port: 0, fetch: () => new Response('hola') });",
    "node-22": "require('http').createServer((q, a) => a.end('hola')).listen(0);",
}
DIGESTS = """
const { subtle } = globalThis.crypto ?? require('crypto').webcrypto;
const data = new TextEncoder().encode('the quick brown fox jumps over the lazy dog');
async function measure(steps) {
  const times = [], BATCH = 50;
  for (let done = 0; done < steps; done += BATCH) {
    const begun = process.hrtime.bigint();
    for (let i = 0; i < BATCH; i++) await subtle.digest('SHA-256', data);
    times.push(Number(process.hrtime.bigint() - begun) / BATCH);
  }
  times.sort((a, b) => a - b);
  console.log(times[times.length >> 1].toFixed(1));
}
require('readline').createInterface({ input: process.stdin }).on('line', (line) => measure(Number(line)));
console.log('ready');
"""


class Talking:
    """A process that answers a line with the time of a step in ns."""

    def __init__(self, argv, cpus=None):
        self.process = launch(argv, cpus, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit(f"bench: {argv[0]} did not start")

    def ask(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"bench: {self.process.args[0]} ended in a measurement")
        return float(answer)

    def end(self):
        self.process.kill()
        self.process.wait()


class Loop:
    """pingpong or getppid of tests/bench/loops.c."""

    def __init__(self, talking, name, steps):
        self.talking, self.name, self.steps, self.pid = talking, name, steps, talking.pid

    def measure(self, slowness):
        steps = max(self.steps // slowness, 2000)
        self.talking.ask(f"{self.name} {max(steps // 10, 1000)}")  # warm: the first steps find cold caches
        return {"ns": self.talking.ask(f"{self.name} {steps}")}


class Digests:
    """node's crypto.subtle.digest: a hand-off to a thread and back for each."""

    name = "webcrypto"

    def __init__(self, node):
        self.talking = Talking([node, "-e", DIGESTS])
        self.pid = self.talking.pid
        self.talking.ask(5000)  # compiled by now

    def measure(self, slowness):
        return {"ns": self.talking.ask(max(3000 // slowness, 100))}

    def end(self):
        self.talking.end()


class Redis:
    """redis-server that redis-benchmark asks over 16 connections. The time of a request is that of the
    throughput; the server's own CPU time for each is kept with it."""

    name = "redis"
    REQUESTS = 40000

    def __init__(self, folder, server_cpu, client_cpu):
        self.socket = os.path.join(folder, "redis.sock")
        self.client_cpu = client_cpu
        self.process = launch(
            [which("redis-server"), "--port", 0, "--unixsocket", self.socket, "--save", "",
             "--appendonly", "no", "--dir", folder],
            {server_cpu}, stdout=subprocess.DEVNULL)
        self.pid = self.process.pid
        tool.await_true(lambda: os.path.exists(self.socket), "redis-server to listen")

    def cpu_ns(self):
        tasks = os.listdir(f"/proc/{self.pid}/task")
        return sum(int(tool.read_text(f"/proc/{self.pid}/task/{t}/schedstat").split()[0]) for t in tasks)

    def measure(self, slowness):
        requests = max(self.REQUESTS // slowness, 500)
        before = self.cpu_ns()
        client = launch([which("redis-benchmark"), "-s", self.socket, "-n", requests, "-c", 16, "-t", "get",
                         "--csv"], {self.client_cpu}, stdout=subprocess.PIPE, text=True)
        out, _ = client.communicate(timeout=120)
        cpu_ns = (self.cpu_ns() - before) / requests
        rows = [row for row in csv.reader(out.splitlines()) if row and row[0] == "GET"]
        if client.returncode or len(rows) != 1:
            raise SystemExit(f"bench: redis-benchmark: status {client.returncode}: {out[-300:]}")
        return {"ns": 1e9 / float(rows[0][1]), "cpu_ns": cpu_ns}

    def end(self):
        self.process.kill()
        self.process.wait()


class Threads(Talking):
    """tests/bench/threads.c: a ring on one CPU, or with nap_ms sleepers."""

    def __init__(self, build, cpu, n, nap_ms=None):
        self.n = n
        super().__init__([os.path.join(build, "bench", "threads"), cpu, n]
                         + ([nap_ms] if nap_ms else []))

    def measure(self, steps):
        return self.ask(steps)
