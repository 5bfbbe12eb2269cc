"""Who else hangs on the hooks that are measured: what is attached beside us would be measured too."""

import json
import os
import shutil
import subprocess

TRACEFS = "/sys/kernel/tracing"
# Links on cgroups and network devices are the system's own, and on other paths.
TRACING_LINKS = {"tracing", "raw_tracepoint", "perf_event", "kprobe_multi", "uprobe_multi"}


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def descriptors(pid):
    """(number, what it is) of each descriptor of a process; none when it has gone."""
    folder = f"/proc/{pid}/fd"
    try:
        numbers = os.listdir(folder)
    except OSError:
        return
    for number in numbers:
        try:
            yield number, os.readlink(os.path.join(folder, number))
        except OSError:
            continue


def fdinfo(pid, number):
    """{name: value} of a descriptor."""
    lines = read(f"/proc/{pid}/fdinfo/{number}").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def holders():
    """({pid: what it has attached}, ids of their links)."""
    found, ids = {}, set()
    for pid in processes():
        if pid == os.getpid():
            continue
        what = set()
        for number, target in descriptors(pid):
            if target == "anon_inode:[perf_event]":
                what.add("perf events")
            elif "bpf_link" in target or "bpf-link" in target:
                info = fdinfo(pid, number)
                ids.add(info.get("link_id"))
                if info.get("link_type") in TRACING_LINKS:
                    what.add("BPF programs")
        if what:
            found[pid] = " and ".join(sorted(what))
    return found, ids


def pinned(ids):
    """Links that no process holds: they hang on a file system, or on another link."""
    bpftool = shutil.which("bpftool", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not bpftool:
        return []
    done = subprocess.run([bpftool, "-j", "link", "show"], capture_output=True, text=True)
    try:
        links = json.loads(done.stdout)
    except ValueError:
        return []  # one of them went while it looked
    return [f"link {link['id']} (pinned)" for link in links
            if link.get("type") in TRACING_LINKS and str(link["id"]) not in ids]


def trace_events():
    """What is switched on in tracefs, where that is mounted."""
    # The kernel itself switches that one on, and leaves it so, for programs that print.
    events = [e for e in read(f"{TRACEFS}/set_event").split() if e != "bpf_trace:bpf_trace_printk"]
    tracer = read(f"{TRACEFS}/current_tracer").strip()
    return events[:3] + ([f"the tracer '{tracer}'"] if tracer not in ("", "nop") else [])


def others():
    """A phrase for each of those who would be measured too; empty when we are alone."""
    found, ids = holders()
    said = [f"{read(f'/proc/{pid}/comm').strip() or 'a process'}({pid}) with {what}"
            for pid, what in sorted(found.items())]
    return said + pinned(ids) + [f"{name} in tracefs" for name in trace_events()]
