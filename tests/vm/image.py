"""The root file system of the machine under test: an initramfs with no more in it than the cases need."""

import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


class ImageError(Exception):
    pass


def command(argv, **more):
    done = subprocess.run(argv, capture_output=True, check=False, **more)
    if done.returncode:
        raise ImageError(f"{' '.join(argv[:3])}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def needed(path):
    """The loader and the libraries that an ELF file names."""
    text = command(["readelf", "-ldW", path]).decode(errors="replace")
    return (re.findall(r"program interpreter: ([^\]]+)\]", text),
            re.findall(r"\(NEEDED\).*\[([^\]]+)\]", text))


class Image:
    """Files laid out below a folder, then packed."""

    def __init__(self, root, triple):
        self.root = root
        self.libraries = [f"/lib/{triple}", f"/usr/lib/{triple}", f"/usr/{triple}/lib"]
        self.there = set()
        shutil.rmtree(root, ignore_errors=True)
        for folder in ("bin", "cases", "dev", "etc", "lib64", "out", "proc", "root", "subjects", "sys", "tmp"):
            os.makedirs(os.path.join(root, folder))
        self.text("etc/passwd", "root:x:0:0:root:/:/bin/sh\n")
        self.copy(os.path.join(HERE, "init"), "init")

    def text(self, name, text):
        with open(os.path.join(self.root, name), "w", encoding="utf-8") as file:
            file.write(text)

    def copy(self, path, name):
        to = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        shutil.copy(path, to)
        os.chmod(to, 0o755)

    def find(self, library):
        for folder in self.libraries:
            path = os.path.join(folder, library)
            if os.path.exists(path):
                return path
        raise ImageError(f"{library} is in none of {', '.join(self.libraries)}")

    def program(self, path, name):
        """A program with all the libraries that it needs, and those that they need."""
        self.copy(path, name)
        waiting = [path]
        while waiting:
            loaders, libraries = needed(waiting.pop())
            for library in libraries:
                if library not in self.there:
                    self.there.add(library)
                    waiting.append(self.find(library))
                    self.copy(waiting[-1], f"lib/{library}")
            for loader in loaders:
                self.copy(self.find(os.path.basename(loader)), loader.lstrip("/"))

    def library(self, name):
        """One that glibc opens by itself, so that no program names it."""
        self.copy(self.find(name), f"lib/{name}")

    def pack(self, path):
        names = command(["find", ".", "-mindepth", "1", "-print0"], cwd=self.root)
        with open(path, "wb") as file:
            file.write(command(["cpio", "--null", "--create", "--format=newc", "--owner=0:0", "--quiet"],
                               cwd=self.root, input=names))
