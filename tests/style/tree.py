"""A small source tree in a temporary folder, and one of the tools/check-* scripts run over it."""
import os
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class TreeTest(unittest.TestCase):
    script = ""  # a name in tools/
    options = ()

    def check(self, files):
        """Runs the script over the files {path: text}; returns its exit status and its output."""
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                path = os.path.join(root, path)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w") as out:
                    out.write(text)
            done = subprocess.run([os.path.join(ROOT, "tools", self.script), *self.options, root],
                                  capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr

    def assert_passes(self, files):
        status, output = self.check(files)
        self.assertEqual(status, 0, output)

    def assert_fails(self, files, line):
        status, output = self.check(files)
        self.assertEqual(status, 1, output)
        self.assertIn(line, output)
