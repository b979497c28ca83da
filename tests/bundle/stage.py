"""A staged environment: a folder of fake installed packages on PYTHONPATH, and nothing of the
machine's own settings. Shared by the tests of `stet bundle` and `stet doctor`."""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(sys.argv.pop(1))
STET = os.path.join(BUILD, "bin", "stet")
LIB = os.path.join(BUILD, "lib")
CPU = os.path.join(LIB, "libstet_cpu.so")
FAKE = os.path.join(LIB, "libfake_pjrt.so")


class Staged(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="stet-staged-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.site = os.path.join(self.dir, "site")
        os.mkdir(self.site)
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": self.dir,
            "PYTHONPATH": self.site,
            "STET_STATE_DIR": os.path.join(self.dir, "state"),
            "XDG_CACHE_HOME": os.path.join(self.dir, "cache"),
            "NO_COLOR": "1",
        }
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]

    def stet(self, *args, **variables):
        return subprocess.run([STET, *args], capture_output=True, text=True, timeout=120,
                              cwd=self.dir, env=dict(self.env, **variables))

    def install(self, name, version, files=None, requires=(), entry_points="", extra=None, headers=""):
        """A distribution as pip leaves it."""
        info = os.path.join(self.site, f"{name}-{version}.dist-info")
        os.makedirs(info)
        record = []
        for path, text in (files or {}).items():
            data = text if isinstance(text, bytes) else text.encode()
            full = os.path.join(self.site, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "wb") as f:
                f.write(data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(data)}")
        record.append(f"../../bin/{name},sha256=other-in-every-environment,99")
        record.append(f"{os.path.basename(info)}/RECORD,,")
        with open(os.path.join(info, "RECORD"), "w") as f:
            f.write("\n".join(record) + "\n")
        with open(os.path.join(info, "METADATA"), "w") as f:
            f.write(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{headers}")
            f.writelines(f"Requires-Dist: {r}\n" for r in requires)
            f.write("\nVersion: of the description, not of the package\n")
        if entry_points:
            with open(os.path.join(info, "entry_points.txt"), "w") as f:
                f.write(entry_points)
        for path, text in (extra or {}).items():
            with open(os.path.join(info, path), "w") as f:
                f.write(text)
        return info
