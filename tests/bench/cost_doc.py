"""Writes the figures of a bench into a document: cost_doc.py BENCH_JSON DOCUMENT.

What stands between the two marks is replaced; the words around it stay."""

import json
import os
import sys

import tables

BEGIN, END = "<!-- figures: make bench-docs -->", "<!-- end of figures -->"


def cell(text):
    return text.replace("|", "\\|")


def grid_markdown(grid):
    lines = [f"### {grid.title[0].upper()}{grid.title[1:]}", "",
             "| " + " | ".join(cell(c) for c in grid.columns) + " |",
             "|---" + "|---:" * (len(grid.columns) - 1) + "|"]
    lines += ["| " + " | ".join(cell(c) for c in row) + " |" for row in grid.rows]
    return "\n".join(lines)


def heading(result):
    at = result["machine"]
    kind = "a virtual machine with " if at["virtual"] else ""
    memory = f", {at['memory_bytes'] / 2**30:.0f} GiB" if at["memory_bytes"] else ""
    said = [f"Measured on {result['measured'][:10]} by `{result['command']}`, {result['rounds']} rounds, on "
            f"{kind}{at['cpus']} CPUs ({at['cpu']}{memory}), Linux {at['kernel']}."]
    said.append("Versions: " + "; ".join(f"{name}: {text}" for name, text in result["versions"].items()) + ".")
    said += [f"Left out: {line}." for line in result["left_out"]]
    return "\n\n".join(said)


def markdown(result):
    grids = tables.grids(result)
    return "\n\n".join([heading(result), *(grid_markdown(grid) for grid in [grids[-1], *grids[:-1]])])


def main():
    if len(sys.argv) != 3:
        print("usage: cost_doc.py BENCH_JSON DOCUMENT", file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        result = json.load(file)
    if result.get("schema") != "wakewhy-bench/2":
        raise SystemExit(f"{sys.argv[1]} is of another version: make bench writes it anew")
    if result["not_alone"]:
        raise SystemExit(f"{sys.argv[1]} was measured beside {'; '.join(result['not_alone'])}: its figures are "
                         "worthless")
    with open(sys.argv[2], encoding="utf-8") as file:
        before, begin, rest = file.read().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{sys.argv[2]} has not the lines {BEGIN} and {END}")
    with open(sys.argv[2] + ".tmp", "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n\n{markdown(result)}\n\n{END}{after}")
    os.replace(sys.argv[2] + ".tmp", sys.argv[2])
    return 0


if __name__ == "__main__":
    sys.exit(main())
