"""Lifting beside a store that is damaged, full, read-only, or used by several processes: every result is right. lift_values checks
each of its results itself, and exits 1 at a wrong one."""
import os
import pathlib
import shutil
import subprocess

import attack

VALUES = attack.BUILD + "/bin/lift_values"
LIFTED = 4  # src/journal/served.def


class LiftStore(attack.Case):
    def begin(self, first, count, name="run", before=(), **env):
        env = self.environment(**{"STET_LIFT": "1", "STET_DIR": f"{self.dir}/{name}", "STET_LOG": f"{self.dir}/{name}.log",
                                  "STET_PLUGIN": attack.BUILD + "/lib/libstet_cpu.so",
                                  "LAYER": attack.BUILD + "/lib/libstet_plugin.so"} | env)
        return subprocess.Popen([*before, VALUES, str(first), str(count)], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, cwd=self.dir)

    def end(self, child):
        errors = child.communicate(timeout=120)[1]
        if "unshare" in errors or "mount:" in errors:
            self.skipTest("no user namespaces here")
        self.assertEqual(child.returncode, 0, errors)
        return errors

    def served(self, name="run"):
        return [r.get("served", 0) for r in self.records(f"{self.dir}/{name}") if r["record"] == "compile_end"]

    def test_only_a_clear_word_turns_lifting_on(self):
        for word, lifts in {"1": True, "on": True, "0": False, "off": False, "no": False, "false": False, "": False}.items():
            with self.subTest(word):
                self.end(self.begin(0, 4, "word" + word, STET_LIFT=word, STET_STORE="off"))
                self.assertEqual(LIFTED in self.served("word" + word), lifts)

    def test_a_damaged_note_is_not_used(self):
        self.end(self.begin(0, 4))
        self.assertTrue(os.listdir(self.store + "/lifts"))
        shutil.copytree(self.store, self.dir + "/noted", symlinks=True)
        damages = {
            "empty": lambda note: note.write_bytes(b""),
            "short": lambda note: note.write_bytes(note.read_bytes()[:-1]),
            "flipped": lambda note: note.write_bytes(bytes(b ^ (i == 20) for i, b in enumerate(note.read_bytes()))),
            "noise": lambda note: note.write_bytes(bytes(range(256)) * 4),
            "huge": lambda note: os.truncate(note, 3 << 30),
            "folder": lambda note: (note.unlink(), note.mkdir()),
            "pipe": lambda note: (note.unlink(), os.mkfifo(note)),
            "device": lambda note: (note.unlink(), note.symlink_to("/dev/zero")),
        }
        for what, damage in damages.items():
            with self.subTest(what):
                shutil.rmtree(self.store)
                shutil.copytree(self.dir + "/noted", self.store, symlinks=True)
                for note in pathlib.Path(self.store + "/lifts").iterdir():
                    damage(note)
                self.end(self.begin(4, 4, what))
                self.assertIn(LIFTED, self.served(what))

    def test_processes_that_lift_at_once_share_a_store(self):
        for child in [self.begin(8 * i, 8, f"run{i}") for i in range(4)]:
            self.end(child)
        self.end(self.begin(40, 2, "after"))
        self.assertEqual(set(self.served("after")), {LIFTED})
        with open(self.dir + "/after.log") as log:
            self.assertIn("an earlier run lifted this family", log.read())

    def test_a_store_that_cannot_be_written(self):
        place = self.dir + "/small"
        os.mkdir(place)
        mounts = {"full": f"mount -t tmpfs -o size=64k none {place} && {{ head -c 99k /dev/zero > {place}/filler; mkdir {place}/store; :; }}",
                  "read-only": f"mount -t tmpfs none {place} && mkdir {place}/store && mount -o remount,ro {place}"}
        for what, mount in mounts.items():
            with self.subTest(what):
                before = ["unshare", "-rm", "sh", "-c", mount + ' && exec "$@"', "sh", attack.STET, "run", "--lift", "--"]
                said = self.end(self.begin(0, 4, what, before, STET_STORE=place + "/store", STET_DIR=None))
                self.assertIn("4 compiles", said)
                self.assertIn("2 lifted", said)
                self.assertRegex(said, r"the layer had \d+ faults? \(.*an executable could not be written to the store\)")


attack.main()
