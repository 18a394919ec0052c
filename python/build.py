"""Builds the shared library and wheels of it, with Go, a C compiler and Python's standard library.

    python build.py library             the library into src/listwise, for work on the package
    python build.py wheel [--arch ARCH]… [--out DIR]
                                        wheels for linux on x86-64 and arm64; without --arch, those
                                        that there is a compiler for
    python build.py check WHEEL…        what a wheel promises: glibc, contents, record
    python build.py go ARGUMENT…        go with the main module's requirements, such as "go test ./..."
    python build.py lint                golangci-lint of tools/go.mod on this module

Wheels for old systems need zig as the C compiler (pip install ziglang), others gcc, for another machine
aarch64-linux-gnu-gcc. This is also the build backend that pyproject.toml names.
"""

import argparse
import base64
import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE / "src" / "listwise"

# The oldest glibc that wheels are tagged for: that of CentOS 7.
OLDEST = (2, 17)

# The machines that wheels are made for: GOARCH, the compiler's name there and the machine in an ELF
# header.
SYSTEMS = {
    "x86_64": ("amd64", "x86_64-linux-gnu", 62),
    "aarch64": ("arm64", "aarch64-linux-gnu", 183),
}


def version():
    """The program's: the tag vX.Y.Z of this commit, else a development version after the last tag."""
    given = os.environ.get("LISTWISE_VERSION", "")
    if not given:
        described = subprocess.run(["git", "describe", "--tags", "--match", "v[0-9]*", "--long"], cwd=HERE, capture_output=True, text=True)
        match = re.fullmatch(r"v(.+)-(\d+)-g([0-9a-f]+)", described.stdout.strip())
        if not match:
            return "0.0.0.dev0"
        given, commits, commit = match.groups()
        if commits != "0":
            return f"{pep440(given)}.post{commits}.dev0+g{commit}"
    return pep440(given.removeprefix("v"))


def pep440(version):
    """X.Y.Z-rc.1 as X.Y.Zrc1."""
    return re.sub(r"-(alpha|beta|rc)\.?", lambda m: {"alpha": "a", "beta": "b", "rc": "rc"}[m.group(1)], version)


def compiler(arch, asked=True):
    """The C compiler for a machine: CC, unless the machine is neither this one nor asked for; zig, which links to an old
    glibc; or gcc, which links to this system's, so that the wheel needs one as new."""
    _, name, _ = SYSTEMS[arch]
    if os.environ.get("CC") and (asked or arch == platform.machine()):
        return os.environ["CC"]
    if importlib.util.find_spec("ziglang"):
        return f"{sys.executable} -m ziglang cc -target {name}.{OLDEST[0]}.{OLDEST[1]}"
    return "gcc" if arch == platform.machine() else f"{name}-gcc"


def go(arguments, environment=None):
    """Runs go on this module, which needs what the main one needs: its go.mod is made of that one's."""
    with tempfile.TemporaryDirectory() as folder:
        needed = (HERE.parent / "go.mod").read_text()
        own = (HERE / "go.mod").read_text()
        Path(folder, "go.mod").write_text(own + needed.partition("\n")[2].replace("\ngo ", "\n// go ", 1))
        shutil.copy(HERE.parent / "go.sum", folder)
        verb, *rest = arguments
        subprocess.run(["go", verb, f"-modfile={folder}/go.mod", *rest], cwd=HERE, env=environment, check=True)


def lint():
    """Runs golangci-lint on this module, in a workspace of both: its requirements are the main one's."""
    go = os.environ.get("GO", "go")
    found = subprocess.run([go, "tool", "-n", "-modfile=../tools/go.mod", "golangci-lint"], cwd=HERE, capture_output=True, text=True, check=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "go.work")
        version = re.search(r"(?m)^go .*$", (HERE.parent / "go.mod").read_text()).group()
        file.write_text(f"{version}\n\nuse (\n\t{json.dumps(str(HERE))}\n\t{json.dumps(str(HERE.parent))}\n)\n")
        command = [found.stdout.strip(), "run", "--config", str(HERE.parent / ".golangci.yml"), "./..."]
        return subprocess.run(command, cwd=HERE, env={**os.environ, "GOWORK": str(file)}).returncode


def library(to, arch, asked=True):
    """Builds the shared library for a machine."""
    environment = {**os.environ, "CGO_ENABLED": "1", "GOOS": "linux", "GOARCH": SYSTEMS[arch][0], "CC": compiler(arch, asked)}
    # Without the history, the same sources give the same bytes.
    command = ["build", "-trimpath", "-buildvcs=false", "-buildmode=c-shared", "-ldflags", "-s -w -extldflags=-s", "-o", str(to), "./native"]
    go(command, environment)
    to.with_suffix(".h").unlink(missing_ok=True)


def glibc(path):
    """The latest version of glibc whose symbols a library needs, as (2, 17)."""
    needed = re.findall(rb"\0GLIBC_(\d+)\.(\d+)", path.read_bytes())
    return max((int(a), int(b)) for a, b in needed)


def machine(path):
    """The machine that an ELF file is for."""
    head = path.read_bytes()[:20]
    if head[:4] != b"\x7fELF":
        raise SystemExit(f"{path}: found no ELF file")
    return struct.unpack("<H", head[18:20])[0]


METADATA = """Metadata-Version: 2.4
Name: listwise
Version: {version}
Summary: Learning to rank: train, tune, measure, compare and explain ranking functions
License-Expression: Apache-2.0
License-File: LICENSE
Project-URL: Repository, https://github.com/listwise/listwise
Requires-Python: >=3.10
Requires-Dist: numpy>=1.23
Description-Content-Type: text/markdown

{readme}"""


def wheel(out, arch, asked=True):
    """Makes the wheel for a machine and returns its path. The same sources give the same bytes."""
    number = version()
    with tempfile.TemporaryDirectory() as folder:
        so = Path(folder) / "liblistwise.so"
        library(so, arch, asked)
        newest = max(glibc(so), OLDEST)
        tag = f"py3-none-manylinux_{newest[0]}_{newest[1]}_{arch}"
        info = f"listwise-{number}.dist-info"
        files = {f"listwise/{p.name}": p.read_bytes() for p in sorted(PACKAGE.iterdir()) if p.suffix == ".py" or p.name == "py.typed"}
        files["listwise/_version.py"] = re.sub(rb'__version__ = ".*"', f'__version__ = "{number}"'.encode(), files["listwise/_version.py"])
        files["listwise/liblistwise.so"] = so.read_bytes()
        files[f"{info}/METADATA"] = METADATA.format(version=number, readme=(HERE / "README.md").read_text()).encode()
        files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: listwise build.py\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
        files[f"{info}/licenses/LICENSE"] = (HERE.parent / "LICENSE").read_bytes()
        files[f"{info}/RECORD"] = record(files, info)
    path = Path(out) / f"listwise-{number}-{tag}.whl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980
            entry.external_attr = (0o100755 if name.endswith(".so") else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return path


def digest(content):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def record(files, info):
    lines = [f"{name},{digest(content)},{len(content)}" for name, content in files.items()]
    return "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()


def check(path):
    """Ends with an error unless a wheel is whole and its library as old as its tag says."""
    path = Path(path)
    arch = next(a for a in SYSTEMS if path.name.endswith(f"_{a}.whl"))
    promised = tuple(map(int, re.search(r"manylinux_(\d+)_(\d+)_", path.name).groups()))
    with zipfile.ZipFile(path) as archive, tempfile.TemporaryDirectory() as folder:
        names = archive.namelist()
        listed = next(n for n in names if n.endswith("/RECORD"))
        for line in archive.read(listed).decode().splitlines():
            name, sum, size = line.rsplit(",", 2)
            if name != listed and (digest(archive.read(name)), str(len(archive.read(name)))) != (sum, size):
                raise SystemExit(f"{path}: {name} is not what RECORD says")
        so = Path(archive.extract("listwise/liblistwise.so", folder))
        if glibc(so) > promised or machine(so) != SYSTEMS[arch][2]:
            raise SystemExit(f"{path}: the library needs glibc {glibc(so)} and machine {machine(so)}")
        for end in ("/licenses/LICENSE", "listwise/py.typed", "/METADATA", "/WHEEL"):
            if not any(n.endswith(end) for n in names):
                raise SystemExit(f"{path}: found no {end}")
        print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, glibc {'.'.join(map(str, glibc(so)))} or later, {len(names)} files")


# The build backend.


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return wheel(wheel_directory, platform.machine()).name


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("listwise is built within its repository, not from a source distribution")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("library")
    commands.add_parser("lint")
    wheels = commands.add_parser("wheel")
    wheels.add_argument("--arch", action="append", choices=list(SYSTEMS))
    wheels.add_argument("--out", default=HERE / "dist")
    commands.add_parser("check").add_argument("wheels", nargs="+")
    commands.add_parser("go").add_argument("arguments", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    if arguments.command == "go":
        go(arguments.arguments)
    elif arguments.command == "lint":
        return lint()
    elif arguments.command == "library":
        library(PACKAGE / "liblistwise.so", platform.machine())
    elif arguments.command == "wheel":
        asked = bool(arguments.arch)
        for arch in arguments.arch or list(SYSTEMS):
            needed = compiler(arch, asked).split()[0]
            if shutil.which(needed):
                check(wheel(arguments.out, arch, asked))
                continue
            missing = f"the wheel for {arch}: found no C compiler {needed} (pip install ziglang brings one for all machines)"
            if asked or arch == platform.machine():
                raise SystemExit(missing)
            print("skipped", missing)
    else:
        for path in arguments.wheels:
            check(path)


if __name__ == "__main__":
    sys.exit(main())
