"""Debian packages that are looked into and never installed: kernels, and a shell for the machine."""

import os
import re
import shutil
import subprocess


class NotThere(Exception):
    """The text says what is missing."""


def command(argv, **more):
    try:
        return subprocess.run(argv, capture_output=True, text=True, check=False, **more)
    except FileNotFoundError:
        raise NotThere(f"there is no {argv[0]} here") from None


def newest(pattern):
    """The package with the highest version of those that apt knows and whose whole name fits; None: none."""
    done = command(["apt-cache", "pkgnames", "linux-image-"])
    found = [name for name in done.stdout.split() if re.fullmatch(pattern, name)]
    return max(found, key=lambda name: [int(n) for n in re.findall(r"\d+", name)], default=None)


def unpacked(cache, package, arch, member):
    """The one file of a package that fits, kept in the cache. Never asked for twice."""
    folder = os.path.join(cache, f"{package}-{arch}")
    kept = os.path.join(folder, "file")
    if os.path.exists(kept):
        return kept
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    done = command(["apt-get", "-q", "download", f"{package}:{arch}"], cwd=folder)
    debs = [name for name in os.listdir(folder) if name.endswith(".deb")]
    if done.returncode or not debs:
        raise NotThere(f"apt-get cannot download {package}:{arch}: {done.stderr.strip()}")
    deb = os.path.join(folder, debs[0])
    subprocess.run(["dpkg", "-x", deb, os.path.join(folder, "all")], check=True)
    for root, _, names in os.walk(os.path.join(folder, "all")):
        for name in names:
            path = os.path.join(root, name)
            if re.search(member, path) and not os.path.islink(path):
                os.rename(path, kept)
    shutil.rmtree(os.path.join(folder, "all"))
    os.remove(deb)
    if not os.path.exists(kept):
        raise NotThere(f"{package} has no {member}")
    return kept


def kernel(cache, series, arch):
    """A kernel of this series, as "6.1": its image. A cached one is good enough."""
    pattern = rf"linux-image-{re.escape(series)}\.[0-9][0-9.+~a-z-]*-cloud-{arch}"
    kept = [name for name in sorted(os.listdir(cache)) if re.fullmatch(rf"{pattern}-{arch}", name) and
            os.path.exists(os.path.join(cache, name, "file"))]
    if kept:
        return os.path.join(cache, kept[-1], "file")
    package = newest(pattern)
    if not package:
        raise NotThere(f"apt knows no kernel of Debian {series} for {arch}")
    return unpacked(cache, package, arch, r"/boot/vmlinuz-")


def busybox(cache, arch):
    return unpacked(cache, "busybox-static", arch, r"/bin/busybox$")
