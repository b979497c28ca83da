"""`stet fit` when the compiler hangs, is killed or lies, the disk is full, or the user gives up: over the fake plugin.

usage: test_hostile.py BUILD_DIR [unittest arguments]
"""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fake_case import CPU, FAKE, HARNESS, STET, Case  # noqa: E402


class Hostile(Case):
    def verdicts(self, fit):
        return {p["program"]: p["verdict"] for p in fit["programs"]}

    def test_the_other_results_stay_when_a_compiler_hangs(self):
        self.make_run("", "hang", "")
        fit = self.over_fake("--timeout=1s", status=1)
        self.assertEqual(self.verdicts(fit), {"p0": "fits", "p1": "failed", "p2": "fits"})
        (error,) = [p["error"] for p in fit["programs"] if p["error"]]
        self.assertEqual(error, "the compiler did not finish the program within 1.0 s (--timeout), and was ended")

    def test_a_compiler_that_is_killed_is_named_with_a_likely_reason(self):
        self.make_run("", f"signal {int(signal.SIGKILL)}", "")
        fit = self.over_fake(status=1)
        self.assertEqual(self.verdicts(fit), {"p0": "fits", "p1": "failed", "p2": "fits"})
        (error,) = [p["error"] for p in fit["programs"] if p["error"]]
        self.assertEqual(error, "the compiler ended its process (signal 9, perhaps because this machine ran out of memory: "
                                "--jobs=1 needs less)")

    def test_every_program_may_kill_its_compiler(self):
        self.make_run(*["signal 11"] * 5)
        fit = self.over_fake(status=1)
        self.assertEqual(list(self.verdicts(fit).values()), ["failed"] * 5)

    def test_memory_that_is_missing_or_nonsense_is_unknown(self):
        self.make_run("", "temporaries -5", "temporaries 4000000000000000000", "temporaries 12345")
        fit = self.over_fake(status=1)
        self.assertEqual(self.verdicts(fit), {"p0": "fits", "p1": "unknown", "p2": "unknown", "p3": "fits"})
        self.assertEqual({p["why_unknown"] for p in fit["programs"] if p["verdict"] == "unknown"},
                         {"the compiler gave no account of its memory"})
        self.assertEqual([p["memory"]["temporaries"] for p in fit["programs"] if p["program"] == "p3"], [12345])
        fit = self.over_fake(status=1, FAKE_FAIL="PJRT_Executable_GetCompiledMemoryStats")
        self.assertEqual((fit["verdict"], {p["memory"]["source"] for p in fit["programs"]}), ("unknown", {"none"}))

    def test_a_program_that_cannot_be_compiled_does_not_shift_the_others(self):
        self.make_run("x" * 400, "", "")  # the largest is the first one of a child
        (lost,) = [p for p in glob.glob(self.dir + "/state/runs/*/programs/*.mlir*") if "x" * 400 in self.text_of(p)]
        os.unlink(lost)
        fit = self.over_fake("--jobs=1", status=1)
        self.assertEqual({p["program"]: p["compile"]["store"] for p in fit["programs"]},
                         {"p0": "not captured", "p1": "stored", "p2": "stored"})

    def text_of(self, path):
        return subprocess.run(["zstd", "-dqc", path], capture_output=True, check=True).stdout.decode(errors="replace")

    def test_a_full_disk_is_not_taken_for_a_verdict(self):
        """A tmpfs as TMPDIR, in a mount namespace of its own, which has so many pages left."""
        self.make_run("", "")
        folder = self.dir + "/full"
        os.mkdir(folder)
        for left, status in ((0, 3), (1, 1)):  # one page: the description of the devices
            script = (f"mount -t tmpfs -o size=64k none {folder} || exit 77\n"
                      f"dd if=/dev/zero of={folder}/filler bs=4k count={16 - left} 2>/dev/null || exit 77\n"
                      f"exec {STET} fit --jobs=2 --format=json --plugin {FAKE} --topology 1\n")
            out = subprocess.run(["unshare", "-m", "sh", "-c", script], env=dict(self.env, TMPDIR=folder), cwd=self.dir,
                                 capture_output=True, text=True, timeout=120)
            if out.returncode == 77 or out.stderr.startswith("unshare"):
                self.skipTest("no mount namespace here")
            self.assertEqual(out.returncode, status, out.stdout + out.stderr)
            self.assertIn("No space left on device", out.stdout + out.stderr)
            if out.stdout:
                self.assertEqual(set(self.verdicts(json.loads(out.stdout)).values()), {"unknown"})

    def test_two_fits_at_once_have_their_own_verdicts(self):
        small, large = self.write("", "temporaries 2000000")
        both = [subprocess.Popen([STET, "fit", "--format=json", "--plugin", FAKE, "--topology=1", "--", HARNESS, CPU, path,
                                  "--input", "f32[4]"], env=self.env, cwd=self.dir, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True) for path in (small, large)]
        fits = [json.loads(p.communicate(timeout=120)[0]) for p in both]
        self.assertEqual([f["verdict"] for f in fits], ["fits", "exceeds"])
        self.assertEqual([self.verdicts(f) for f in fits], [{"p0": "fits"}, {"p1": "exceeds"}])
        self.assertNotEqual(fits[0]["run"], fits[1]["run"])

    def children_of(self, pid):
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            return [int(word) for word in f.read().split()]

    def interrupt(self, number, *words):
        """Sends the signal once a program is at work."""
        fit = subprocess.Popen([STET, "fit", "--plugin", FAKE, "--topology=1", *words], env=self.env, cwd=self.dir,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not any(glob.glob(f"{self.dir}/tmp/stet-fit-*/log-{child}") for child in self.children_of(fit.pid)):
            self.assertIsNone(fit.poll())
            time.sleep(0.01)
        children = self.children_of(fit.pid)
        fit.send_signal(number)
        out, err = fit.communicate(timeout=60)
        self.assertEqual((fit.returncode, out), (-number, ""))
        self.assertIn("interrupted", err)
        for child in children:
            self.assertFalse(os.path.exists(f"/proc/{child}"))
        self.assertEqual(os.listdir(self.dir + "/tmp"), [])

    def test_an_interrupted_fit_leaves_nothing_behind(self):
        self.make_run("hang")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.interrupt(number)

    def test_a_contract_that_cannot_be_read_is_an_error_before_the_command_runs(self):
        path = self.write("")[0]
        self.fit("--plugin", FAKE, "--topology=1", "--contract", self.dir + "/nowhere", "--", HARNESS, CPU, path, status=3)
        self.assertIn("/nowhere", self.err)
        self.assertEqual(glob.glob(self.dir + "/state/runs/*"), [])

    def test_a_command_that_is_killed_has_a_verdict_until_then(self):
        path = self.write("")[0]
        with open(self.dir + "/killed.sh", "w") as f:
            f.write(f"{HARNESS} {CPU} {path} --input 'f32[4]'; kill -9 $$\n")
        text = self.fit("--plugin", FAKE, "--topology=1", "--", "sh", self.dir + "/killed.sh", status=1)
        self.assertIn("the command ended with ", text)
        self.assertIn("p0", text)

    def test_hostile_names_and_messages_are_escaped(self):
        self.make_run("")
        with open(self.dir + "/words", "w") as f:
            f.write("\x1b[2J\x1b]0;owned\x07 no such layout\n\x1b[31mmore")
        env = {"FAKE_FAIL": "PJRT_Compile=3", "FAKE_MESSAGE": self.dir + "/words"}
        for words in ((), ("--format=json",)):
            text = self.fit("--plugin", FAKE, "--topology=1", *words, status=1, **env)
            self.assertIn("no such layout", text)
            self.assertNotIn("\x1b", text)
            self.assertNotIn("\x07", text)


if __name__ == "__main__":
    unittest.main()
