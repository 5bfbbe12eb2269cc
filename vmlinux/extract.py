#!/usr/bin/env python3
"""Finds the type information (BTF) in a kernel image.

    extract.py IMAGE OUT    IMAGE: vmlinuz or Image, plain or compressed, or BTF itself

A compressed kernel holds a gzip, xz or zstd stream somewhere after its boot code; the BTF in the
unpacked image is found by its header: magic 0xeb9f, version 1, flags 0, 24 bytes of header, types at
offset 0, strings right behind them. zstd needs the program of that name.
"""
import lzma
import struct
import subprocess
import sys
import zlib

HEADER = struct.Struct("<HBBIIIII")  # magic, version, flags, hdr_len, type_off/len, str_off/len
START = struct.pack("<HBBII", 0xEB9F, 1, 0, HEADER.size, 0)


def find_btf(image):
    at = image.find(START)
    while at >= 0 and at + HEADER.size <= len(image):
        *_, type_len, str_off, str_len = HEADER.unpack_from(image, at)
        end = at + HEADER.size + str_off + str_len
        if type_len == str_off and 0 < str_len and end <= len(image) and image[end - 1] == 0:
            return image[at:end]
        at = image.find(START, at + 1)
    return None


def unpack_zstd(data):
    # The stream's end is not known: the program complains about what follows it, after unpacking.
    return subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False).stdout


PACKED = (
    (b"\x1f\x8b\x08", lambda data: zlib.decompressobj(31).decompress(data)),
    (b"\xfd7zXZ\x00", lambda data: lzma.LZMADecompressor().decompress(data)),
    (b"\x28\xb5\x2f\xfd", unpack_zstd),
)


def images(image):
    """The image itself, then what each compressed stream in it unpacks to."""
    yield image
    for magic, unpack in PACKED:
        at = image.find(magic)
        while at >= 0:
            try:
                yield unpack(image[at:])
            except (zlib.error, lzma.LZMAError, FileNotFoundError):
                pass
            at = image.find(magic, at + 1)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as file:
        image = file.read()
    for candidate in images(image):
        btf = find_btf(candidate)
        if btf:
            with open(sys.argv[2], "wb") as file:
                file.write(btf)
            return
    sys.exit(f"{sys.argv[1]}: no BTF found (built without CONFIG_DEBUG_INFO_BTF?)")


main()
