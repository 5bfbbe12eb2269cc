"""What a bench says: the goals that it is held against, and its figures as text.

Both the terminal and docs/cost.md are made from the same rows (Grid), of the result as bench.json has it."""

import dataclasses

LOADS = {
    "pingpong": "ping-pong, a step",
    "getppid": "getppid, a call",
    "redis": "redis GET, a request",
    "webcrypto": "node webcrypto, a digest",
}
LIBBPF_TOOLS = "wakeuptime + cpudist + syscount"


@dataclasses.dataclass
class Grid:
    title: str
    columns: list
    rows: list  # of lists of texts; the first is the row's name


# ---- reading a result --------------------------------------------------------------------------------


def row_of(result, load, configuration):
    for row in result["rows"]:
        if row["load"] == load and row["configuration"] == configuration:
            return row
    return None


def added(result, load, configuration):
    row = row_of(result, load, configuration)
    return row["added_ns"]["median"] if row else None


def quotient(a, b):
    return a / b if a is not None and b is not None and b > 0 else None


def ring_added(result, threads, configuration):
    for row in result["rings"]:
        if row["threads"] == threads and row["configuration"] == configuration:
            return row["added_ns"]["median"]
    return None


# ---- goals -------------------------------------------------------------------------------------------


def goal(text, value, limit, unit="×", at_most=True):
    met = None if value is None else value <= limit if at_most else value >= limit
    return {"goal": text, "value": value, "limit": limit, "unit": unit, "at_most": at_most, "met": met}


def goals_of_ratios(result):
    def to_empty(load, name):
        return quotient(added(result, load, name), added(result, load, "empty"))

    ours = added(result, "pingpong", "target none")
    return [
        goal("ping-pong, target: of what empty programs add", to_empty("pingpong", "target none"), 1.5),
        goal("ping-pong, bystander: of what empty programs add",
             to_empty("pingpong", "bystander none"), 1.15),
        goal("getppid, target: of what empty programs add", to_empty("getppid", "target none"), 1.2),
        goal("ping-pong: three libbpf-tools add, of wakewhy's",
             quotient(added(result, "pingpong", LIBBPF_TOOLS), ours), 5, at_most=False),
        goal("ping-pong: the bpftrace script adds, of wakewhy's",
             quotient(added(result, "pingpong", "bpftrace"), ours), 2.5, at_most=False),
        goal("ping-pong, stacks k,u without limit: of what wakeuptime adds",
             quotient(added(result, "pingpong", "target k,u"), added(result, "pingpong", "wakeuptime")), 0.5),
    ]


def goals_of_times(result):
    def worst(rows, figure, scale):
        values = [row[figure]["median"] / scale for row in rows if figure in row]
        return max(values) if values else None

    quiet = result["tools"]["target none"]
    return [
        goal("result for 10,000 threads", worst(result["crowds"], "result_ns", 1e6), 100, " ms"),
        goal("result for an idle server, stacks or not", worst(result["servers"], "result_ns", 1e6), 500,
             " ms"),
        goal("own CPU on an idle server, stacks or not", worst(result["servers"], "cpu_ns_per_s", 1e6), 5,
             " ms/s"),
        goal("exec of wakewhy to the target's first instruction",
             result["start_up_ns"]["wakewhy"]["median"] / 1e6, 60, " ms"),
        goal("resident memory, without stacks", quiet["rss_bytes"]["median"] / 1e6, 24, " MB"),
        goal("own wakeups in a window, without stacks", quiet["wakeups_per_s"]["median"], 0, "/s"),
    ]


def goals(result):
    """[{"goal", "value", "limit", "unit", "at_most", "met"}]; met None: it was not measured."""
    return goals_of_ratios(result) + goals_of_times(result)


# ---- grids -------------------------------------------------------------------------------------------


def number(value, digits=3):
    """So many digits that count, thousands parted."""
    if value is None:
        return "–"
    whole = max(digits - len(str(int(abs(value)))), 0) if abs(value) >= 1 else digits - 1
    return f"{value:,.{whole}f}"


def spread(q, scale=1.0):
    return f"{number(q['q1'] / scale)}…{number(q['q3'] / scale)}"


def ratio(value):
    return "–" if value is None else f"{number(value)}×"


def grid_of_goals(result):
    rows = []
    for at in result["goals"]:
        sign = "≤" if at["at_most"] else "≥"
        value = "not measured" if at["value"] is None else f"{number(at['value'])}{at['unit']}"
        verdict = {True: "met", False: "missed", None: "–"}[at["met"]]
        rows.append([at["goal"], value, f"{sign} {at['limit']:g}{at['unit']}", verdict])
    return Grid("goals", ["", "measured", "goal", ""], rows)


def grid_of_load(result, load):
    rows = [row for row in result["rows"] if row["load"] == load]
    with_cpu = any("cpu_ns" in row for row in rows)
    columns = ["", "ns", "added", "quartiles", "of bare", "of empty", "of wakewhy", "rounds"]
    lines = []
    for row in rows:
        bare = row_of(result, load, "bare")
        q = row["added_ns"]
        line = [row["configuration"], number(row["ns"]["median"])]
        if row is bare:
            line += ["", "", "", "", ""]
        else:
            line += [number(q["median"]), spread(q), ratio(row["ns"]["median"] / bare["ns"]["median"]),
                     ratio(row["ratio_to_empty"]), ratio(row["ratio_to_target"])]
        line.append(str(row["ns"]["n"]))
        if with_cpu:
            line.append(number(row["cpu_ns"]["median"]))
        lines.append(line)
    return Grid(LOADS[load], columns + (["server's CPU ns"] if with_cpu else []), lines)


def grid_of_tools(result):
    rows = []
    for name, row in result["tools"].items():
        probes = row.get("probes_ns_per_s")
        rows.append([
            name,
            number(row["start_ns"]["median"] / 1e6),
            number(row["rss_bytes"]["median"] / 1e6),
            number(row["cpu_ns_per_s"]["median"] / 1e6),
            number(probes["median"] / 1e3) if probes else "–",
            number(row["wakeups_per_s"]["median"]),
            number(row["result_ns"]["median"] / 1e6),
            number(row["bytes_per_s"]["median"]),
        ])
    return Grid("on a thread that wakes 10 times a second",
                ["", "start ms", "resident MB", "own CPU ms/s", "probes µs/s", "own wakeups/s", "result ms",
                 "bytes/s"], rows)


def grid_of_rates(result):
    rows = [[f"{row['rate']} a second, {row['stacks']}", number(row.get("probes_ns_per_s", 0) / 1e3),
             number(row["cpu_ns_per_s"] / 1e3), number(row["wakeups_per_s"])]
            for row in result["stacks_at_rates"]]
    return Grid("stacks of a thread that wakes", ["", "probes µs/s", "own CPU µs/s", "own wakeups/s"], rows)


def grid_of_rings(result):
    sizes = sorted({row["threads"] for row in result["rings"]})
    rows = []
    for n in sizes:
        bare = next(r for r in result["rings"] if r["threads"] == n and r["configuration"] == "bare")
        line = [f"{n:,} threads", number(bare["ns"]["median"])]
        for name in ("empty", "target none"):
            row = next(r for r in result["rings"] if r["threads"] == n and r["configuration"] == name)
            line += [number(row["added_ns"]["median"]), spread(row["added_ns"]),
                     ratio(quotient(row["added_ns"]["median"], ring_added(result, sizes[0], name)))]
        rows.append(line)
    return Grid("a step of a ring", ["", "bare ns", "empty adds", "quartiles", f"of {sizes[0]}'s",
                                     "wakewhy adds", "quartiles", f"of {sizes[0]}'s"], rows)


def grid_of_crowds(result):
    rows = [[f"{row['threads']:,} {'in a ring' if row['crowd'] == 'ring' else 'sleepers'}, {row['format']}",
             number(row["result_ns"]["median"] / 1e6), spread(row["result_ns"], 1e6),
             number(row["exit_ns"]["median"] / 1e6)] for row in result["crowds"]]
    return Grid("after the window's end", ["", "result ms", "quartiles", "exit ms"], rows)


def grid_of_servers(result):
    rows = [[f"{row['server']}, stacks {row['stacks']}", number(row["result_ns"]["median"] / 1e6),
             number(row["cpu_ns_per_s"]["median"] / 1e6), number(row["wakeups_per_s"]["median"])]
            for row in result["servers"]]
    return Grid("a server that nobody talks to", ["", "result ms", "own CPU ms/s", "own wakeups/s"], rows)


def grid_of_start(result):
    rows = [[name, number(q["median"] / 1e6), spread(q, 1e6)] for name, q in
            (("wakewhy run, to the target's first instruction", result["start_up_ns"]["wakewhy"]),
             ("empty programs, to attached", result["start_up_ns"]["empty"]))]
    return Grid("start-up", ["", "ms", "quartiles"], rows)


def grid_of_probes(result):
    empty = result["probe_ns"]["empty"]
    rows = [[name, f"{row['per_step']:.2f}", number(empty[name]["ns"] if name in empty else None),
             number(row["ns"])] for name, row in sorted(result["probe_ns"]["target none"].items())]
    return Grid("probes by the kernel's count, ping-pong", ["", "runs/step", "empty ns", "wakewhy ns"], rows)


def grids(result):
    loads = [load for load in LOADS if row_of(result, load, "bare")]
    return [*(grid_of_load(result, load) for load in loads), grid_of_tools(result), grid_of_rates(result),
            grid_of_rings(result), grid_of_crowds(result), grid_of_servers(result), grid_of_start(result),
            grid_of_probes(result), grid_of_goals(result)]


# ---- as text -----------------------------------------------------------------------------------------


def grid_text(grid):
    lines = [[grid.title, *grid.columns[1:]], *grid.rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(grid.columns))]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0])] + [cell.rjust(w) for cell, w in zip(line[1:], widths[1:])])
        .rstrip() for line in lines)


def text(result):
    """The whole, as the terminal shows it."""
    said = [grid_text(grid) for grid in grids(result)]
    for stranger in result["not_alone"]:
        said.append(f"worthless: {stranger} was attached too")
    return "\n\n".join(said)
