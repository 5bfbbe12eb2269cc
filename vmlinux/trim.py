#!/usr/bin/env python3
"""Cuts a dump of all kernel types down to what a program uses.

    trim.py FULL MINIMAL SOURCE    FULL: header of all types; MINIMAL: header of the relocated types
                                   and fields; SOURCE: the preprocessed program without the header

MINIMAL knows what the program reads through relocations. What it lacks are names that leave no
relocation: enumerators, plain typedefs and structs that are only pointed to. They are found as words
of SOURCE, and what their own declarations mention with them.
"""
import re
import sys

WORD = re.compile(r"[A-Za-z_]\w*")
# Typedefs without _t: bool, u8, __be64 and their like.
PLAIN = re.compile(r"(bool|_*(u|s|be|le|sum|wsum)\d*)$")
PADDING = re.compile(r"^\t+(char|short|int|long|unsigned char)\s*:\s*\d+;\n", re.M)


def split(text):
    """Top-level declarations, in order."""
    text = re.sub(r"^#.*\n", "", text, flags=re.M)
    declarations, current, depth = [], [], 0
    for line in text.splitlines(keepends=True):
        if not current and not line.strip():
            continue
        current.append(line)
        depth += line.count("{") - line.count("}")
        if depth == 0 and line.rstrip().endswith(";"):
            declarations.append("".join(current))
            current = []
    return declarations


def names(declaration):
    """What a declaration declares: ["struct x"], ["x_t"], ["enum x", "X_FIRST", ...]."""
    declaration = re.sub(r"__attribute__\(\(.*?\)\)", "", declaration)
    head = " ".join(declaration.split("{", 1)[0].strip().rstrip(";").split())
    if head.startswith("typedef"):
        last = declaration.rsplit("}", 1)[-1] if "{" in declaration else declaration
        function = re.search(r"\(\*(\w+)\)|(\w+)\(", last)
        if function:
            return [function.group(1) or function.group(2)]
        return [WORD.findall(re.sub(r"\[.*?\]", "", last))[-1]]
    if head.startswith("enum"):
        return [head] + re.findall(r"^\t(\w+)\b", declaration, flags=re.M)
    return [head]


def is_forward(declaration):
    return "{" not in declaration and not declaration.startswith("typedef")


def words(text):
    """Words of text that may name a typedef, an enum or an enumerator. The kernel has enumerators
    in small letters too ("all", "regular"): as words they would mean nothing."""
    plain = {w for w in WORD.findall(text) if w.isupper() or w.endswith("_t") or PLAIN.match(w)}
    return plain | set(re.findall(r"\benum \w+", text))


def select(full, have, source):
    """Declarations of `full` that words of `source` name and `have` does not declare, and structs
    that source points to without declaring them."""
    index, wanted = {}, set()
    for number, declaration in enumerate(full):
        if not is_forward(declaration):
            for name in names(declaration):
                index.setdefault(name, number)
    queue = [source]
    while queue:
        for name in words(queue.pop()) - have:
            number = index.get(name)
            if number is not None and number not in wanted:
                wanted.add(number)
                queue.append(full[number])
    declared = set(re.findall(r"^(?:struct|union) \w+(?=;| \{)", source, flags=re.M))
    pointed = set(re.findall(r"\b(?:struct|union) \w+", source)) - declared - have
    return [full[n] for n in sorted(wanted)], sorted(pointed & set(index))


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    full, minimal, source = (open(path, encoding="utf-8").read() for path in sys.argv[1:])
    kept = split(minimal)
    have = {name for d in kept if not is_forward(d) for name in names(d)}
    more, forward = select(split(full), have, source)
    typedefs = [d for d in kept if d.startswith(("typedef", "enum"))]
    records = [d for d in kept if not d.startswith(("typedef", "enum"))]
    for name in forward:
        print(f"{name};\n")
    print("\n".join(typedefs + more))
    print("\n".join(PADDING.sub("", d) for d in records), end="")


main()
