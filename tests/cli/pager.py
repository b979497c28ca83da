"""A long page on a terminal goes through the user's pager.

usage: pager.py BUILD_DIR
"""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

STET = os.path.join(os.path.abspath(sys.argv.pop(1)), "bin", "stet")


def on_terminal(page, rows=24, **variables):
    """Prints the page on a terminal of that many rows; returns the exit code and what the terminal got."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
        env = {k: v for k, v in os.environ.items() if k not in ("PAGER", "LESS")}
        os.execve(STET, [STET, "help", page], dict(env, TERM="xterm", NO_COLOR="1", **variables))
    text = b""
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        text += chunk
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text.decode().replace("\r\n", "\n")


class Pager(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.copy = os.path.join(folder.name, "paged")
        self.whole = subprocess.run([STET, "help", "formats"], capture_output=True, text=True, check=True).stdout

    def paged(self):
        with open(self.copy, encoding="utf-8") as f:
            return f.read()

    def test_a_long_page_is_given_to_the_pager_as_a_whole(self):
        code, text = on_terminal("formats", PAGER=f"tee {self.copy} >/dev/null; echo it was paged")
        self.assertEqual((code, text), (0, "it was paged\n"))
        self.assertEqual(self.paged(), self.whole)

    def test_a_page_that_fits_is_printed_without_the_pager(self):
        code, text = on_terminal("formats", rows=5000, PAGER=f"tee {self.copy}")
        self.assertEqual((code, text), (0, self.whole))
        self.assertFalse(os.path.exists(self.copy))

    def test_no_pager_is_started_where_the_output_is_not_a_terminal(self):
        env = dict(os.environ, PAGER=f"tee {self.copy}")
        done = subprocess.run([STET, "help", "formats"], env=env, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, self.whole))
        self.assertFalse(os.path.exists(self.copy))

    def test_an_empty_pager_and_cat_print_the_page(self):
        for pager in ("", "cat"):
            with self.subTest(pager=pager):
                self.assertEqual(on_terminal("formats", PAGER=pager), (0, self.whole))

    def test_a_pager_that_is_not_installed_does_not_hide_the_page(self):
        code, text = on_terminal("formats", PAGER="/no/such/pager 2>/dev/null")
        self.assertEqual((code, text), (0, self.whole))

    def test_the_reader_may_leave_the_pager_early(self):
        code, text = on_terminal("formats", PAGER="head -2")
        self.assertEqual((code, text), (0, "".join(self.whole.splitlines(True)[:2])))

    def test_less_is_the_pager_where_none_is_chosen_and_shows_colours(self):
        folder = os.path.dirname(self.copy)
        with open(os.path.join(folder, "less"), "w") as f:
            f.write(f'#!/bin/sh\necho "less with LESS=$LESS"\ncat >{self.copy}\n')
        os.chmod(os.path.join(folder, "less"), 0o755)
        path = folder + os.pathsep + os.environ["PATH"]
        self.assertEqual(on_terminal("formats", PATH=path), (0, "less with LESS=FRX\n"))
        self.assertEqual(self.paged(), self.whole)
        self.assertEqual(on_terminal("formats", PATH=path, LESS="M")[1], "less with LESS=M\n")


if __name__ == "__main__":
    unittest.main()
