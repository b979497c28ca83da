#!/usr/bin/env python3
"""Makes a .deb of a wheel: the same files, below /usr.   usage: make-deb.py WHEEL DIR

The wheel is built for glibc 2.28, so one package serves every Debian and Ubuntu since then. The Python package is left
out: `stet run --cpu` brings its own copy, which lies in /usr/lib/stet/python. SOURCE_DATE_EPOCH dates every file."""

import gzip
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}


def place(name):
    """Where a file of the wheel goes, or None."""
    for part, target in (("/scripts/", "usr/bin/"), ("/data/", "usr/")):
        _, found, rest = name.partition(".data" + part)
        if found:
            return target + rest
    return None


def control(version, machine, size):
    return f"""Package: stet
Version: {version}
Architecture: {MACHINES[machine]}
Maintainer: Stet <stet@localhost>
Installed-Size: {size // 1024}
Depends: libc6 (>= 2.28)
Recommends: python3
Suggests: libcurl4
Section: devel
Priority: optional
Description: names every recompile of a compiled tensor program
 Stet names every recompile of a JAX, PyTorch/XLA, TorchTPU or torch.compile
 job: the cause, the source line, the cost and the fix. It keeps executables
 for the next launch and holds runs to a contract.
"""


def write(path, data, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)


def main():
    wheel, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    version = wheel.name.split("-")[1]
    machine = re.search(r"_(x86_64|aarch64)\.whl$", wheel.name)[1]
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(wheel) as archive:
        root = pathlib.Path(scratch)
        root.chmod(0o755)
        size = 0
        for info in archive.infolist():
            target = place(info.filename)
            if not target or info.is_dir():
                if info.filename.endswith("/licenses/LICENSE"):
                    write(root / "usr/share/doc/stet/copyright", archive.read(info))
                continue
            data = archive.read(info)
            size += len(data)
            if target.startswith("usr/share/man/"):  # policy: compressed, without a name or a date
                target += ".gz"
                data = gzip.compress(data, 9, mtime=0)
            write(root / target, data, 0o755 if target.startswith("usr/bin/") else 0o644)
        write(root / "DEBIAN/control", control(version, machine, size).encode())
        stamp = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
        for path in [root, *root.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
            os.utime(path, (stamp, stamp))
        package = out / f"stet_{version}_{MACHINES[machine]}.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(package)], check=True,
                       stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
