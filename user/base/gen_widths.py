#!/usr/bin/env python3
"""Writes user/base/text_widths.h from Python's Unicode tables: python3 gen_widths.py > text_widths.h"""
import sys
import unicodedata

# Default_Ignorable_Code_Point of Unicode, which Python does not have: characters without a glyph.
IGNORABLE = [(0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5),
             (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F),
             (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0),
             (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)]


def hidden(code):
    """Controls, formats, surrogates, private use, separators, noncharacters, ignorables."""
    return (unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
            or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
            or any(a <= code <= b for a, b in IGNORABLE))


def ranges(test):
    found = []
    for code in range(0x110000):
        if test(code):
            if found and found[-1][1] == code - 1:
                found[-1][1] = code
            else:
                found.append([code, code])
    return found


def table(name, test):
    print(f"\nstatic const struct text_range {name}[] = {{")
    line = "\t"
    for a, b in ranges(test):
        item = f"{{0x{a:x}, 0x{b:x}}},"
        if len(line) + len(item) > 90:
            print(line.rstrip())
            line = "\t"
        line += item + " "
    print(line.rstrip())
    print("};")


print("/* Made by gen_widths.py from Unicode " + unicodedata.unidata_version + "; not edited by hand. */")
print("/* clang-format off */")
table("hidden_ranges", hidden)
table("combining_ranges",
      lambda c: unicodedata.category(chr(c)) in ("Mn", "Me") and not hidden(c))
table("wide_ranges",
      lambda c: unicodedata.east_asian_width(chr(c)) in "WF" and not hidden(c))
