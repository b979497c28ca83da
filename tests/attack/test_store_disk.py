"""What the store takes of a disk: what killed writers leave goes, and a store has a limit though none was set."""
import glob
import os
import random
import shutil
import signal
import subprocess
import time

import attack

# In a mount namespace of its own: a small file system for the store, then the command.
SMALL_DISK = "mount -t tmpfs -o size=%s,mode=0700 tmpfs %s && "


OPS = ("add", "multiply", "subtract", "maximum", "minimum")


def large(megabytes, op="add"):
    """A program with noise in it, which the fake plugin's executable holds as well."""
    noise = random.Random(op).randbytes(megabytes << 19).hex()
    return attack.program(op) + "// " + noise + "\n"


class StoreDisk(attack.Case):
    def temporaries(self):
        return [p for p in glob.glob(self.store + "/entries/*/*") if not p.endswith(".stet")]

    def kill_while_it_writes(self, file):
        """A trainer that is preempted while it writes an entry."""
        host = subprocess.Popen([attack.HARNESS, "--keep", attack.FAKE, file], stdout=subprocess.DEVNULL,
                                env=self.environment(LD_PRELOAD=attack.LAYER, STET_DIR=self.dir + "/killed"))
        end = time.monotonic() + 60
        while not self.temporaries() and host.poll() is None and time.monotonic() < end:
            pass
        host.send_signal(signal.SIGKILL)
        host.wait()
        self.assertEqual(len(self.temporaries()), 1)

    def test_files_of_a_killed_writer_are_removed_when_the_entry_is_written(self):
        text = large(16)
        self.kill_while_it_writes(self.file("program0.mlir", text))
        self.assertEqual(self.compile(text), [(0, "miss")])
        self.assertEqual(self.temporaries(), [])
        self.assertEqual(self.compile(text), [(2, "hit")])

    def test_files_of_a_killed_writer_are_removed_at_the_end_of_any_run(self):
        self.kill_while_it_writes(self.file("program0.mlir", large(16)))
        self.assertEqual(self.stet("run", "--quiet", "--", "true").returncode, 0)
        self.assertEqual(self.temporaries(), [])

    def test_files_of_a_living_writer_stay(self):
        program = self.file("program0.mlir", large(16))
        go = self.dir + "/go"  # the process ends when its entry is there: a busy machine may write longer than exit waits
        host = subprocess.Popen([attack.HARNESS, "--keep", "--shell", f"first:until [ -e {go} ]; do sleep 0.05; done",
                                 attack.FAKE, program], stdout=subprocess.DEVNULL,
                                env=self.environment(LD_PRELOAD=attack.LAYER, STET_DIR=self.dir + "/stopped"))
        self.addCleanup(host.wait)
        self.addCleanup(host.kill)
        end = time.monotonic() + 60
        while not self.temporaries() and time.monotonic() < end:
            pass
        host.send_signal(signal.SIGSTOP)
        if not self.temporaries():
            self.skipTest("it was written before it could be stopped")
        self.assertEqual(self.stet("run", "--quiet", "--", "true").returncode, 0)
        self.assertEqual(self.stet("cache", "gc").returncode, 0)
        self.assertEqual(len(self.temporaries()), 1)
        host.send_signal(signal.SIGCONT)
        end = time.monotonic() + 120
        while not self.entries() and time.monotonic() < end:
            time.sleep(0.02)
        self.file("go", "")
        self.assertEqual(host.wait(60), 0)
        self.assertEqual((len(self.entries()), self.temporaries()), (1, []))

    def on_small_disk(self, size, **env):
        """Five runs with an entry of about a megabyte each; (entries, bytes of them) and the last run's standard error."""
        os.makedirs(self.store, mode=0o700, exist_ok=True)
        programs = [self.file(f"program{i}.mlir", large(1, op)) for i, op in enumerate(OPS)]
        runs = " && ".join(f"{attack.STET} run -- {attack.HARNESS} {attack.FAKE} {p} > /dev/null" for p in programs)
        done = subprocess.run(["unshare", "-rm", "sh", "-c", SMALL_DISK % (size, self.store) + runs +
                               f" && cp -r {self.store} {self.dir}/copy"], env=self.environment(**env), capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        sizes = [os.path.getsize(p) for p in glob.glob(self.dir + "/copy/entries/*/*.stet")]
        shutil.rmtree(self.dir + "/copy")
        return len(sizes), sum(sizes), done.stderr

    def test_a_store_takes_a_tenth_of_its_disk_unless_configured_otherwise(self):
        if subprocess.run(["unshare", "-rm", "sh", "-c", "mount -t tmpfs tmpfs /mnt"], capture_output=True).returncode:
            self.skipTest("no mount namespaces here")
        count, size, said = self.on_small_disk("32m")
        self.assertTrue(1 <= count < 5)
        self.assertLessEqual(size, (32 << 20) / 10)
        self.assertRegex(said, r"(?m)^stet: the store was over its limit of .* sets another limit$")
        count, size, said = self.on_small_disk("32m", STET_STORE_MAX_BYTES="none")
        self.assertEqual(count, 5)
        self.assertNotIn("limit", said)

    def test_notes_of_failed_loads_are_forgotten_after_a_week(self):
        self.assertEqual(self.compile(), [(0, "miss")])
        self.assertEqual(self.compile(FAKE_FAIL="PJRT_Executable_DeserializeAndLoad=3", STET_STORE_AHEAD="off"),
                         [(0, "load-failed")])
        (note,) = glob.glob(self.store + "/quarantine/*")
        self.stet("run", "--quiet", "--", "true")
        self.assertTrue(os.path.exists(note))
        os.utime(note, (time.time() - 8 * 86400,) * 2)
        self.stet("run", "--quiet", "--", "true")
        self.assertFalse(os.path.exists(note))


if __name__ == "__main__":
    attack.main()
