"""What the last launch of a command loaded is loaded before the next one asks: over the fake plugin.

usage: test_ahead.py BUILD_DIR [unittest arguments]
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(sys.argv.pop(1))
STET, HARNESS, DUMP = (f"{BUILD}/bin/{name}" for name in ("stet", "pjrt_harness", "journal_dump"))
FAKE = BUILD + "/lib/libfake_pjrt.so"
LOAD = "PJRT_Executable_DeserializeAndLoad"
PROGRAM = """// fake program p{number}
// in f32[4]
// out f32[4]
module @p {{
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{
    %c = stablehlo.constant dense<{number}.0> : tensor<4xf32>
    %b = stablehlo.add %a, %c : tensor<4xf32>
    return %b : tensor<4xf32>
  }}
}}
"""
HIT, MISS = (2, "hit"), (0, "miss")


class Ahead(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="stet-store-ahead-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.store = self.dir + "/store"
        self.runs = 0
        for number in range(3):
            self.write(number, number)
        self.assertEqual(self.launch(), ([MISS] * 3, None))

    def write(self, number, value):
        with open(f"{self.dir}/{number}.mlir", "w") as f:
            f.write(PROGRAM.format(number=value))

    def launch(self, *words, ahead=0, cwd=None, **env):
        """How each compile went, and what is told of loading ahead; waits first until so many loads were begun.

        Nothing is left alive in the plugin, ever."""
        self.runs += 1
        folder = f"{self.dir}/run{self.runs}"
        env = dict(os.environ, LD_PRELOAD=BUILD + "/lib/libstet.so", STET_DIR=folder, STET_STORE=self.store, **env)
        if ahead:
            env["HARNESS_UNTIL"] = f"{LOAD}={ahead}"
        for name in ("STET", "STET_PLUGIN", "STET_RUN"):
            env.pop(name, None)
        out = subprocess.run([HARNESS, *words, FAKE, *(f"{self.dir}/{n}.mlir" for n in range(3))], env=env, cwd=cwd or self.dir,
                             check=True, stdout=subprocess.PIPE, timeout=60).stdout
        self.plugin = json.loads(out)["plugin"]
        self.assertEqual(self.plugin["live"], 0)
        dump = subprocess.run([DUMP, folder], capture_output=True, text=True, check=True).stdout
        records = [json.loads(line) for line in dump.splitlines()]
        notes = [r["text"] for r in records if r["record"] == "note" and r["name"] == "loaded-ahead"]
        self.assertLessEqual(len(notes), 1)
        return ([(r.get("served", 0), r.get("store")) for r in records if r["record"] == "compile_end"], notes[0] if notes else None)

    def order(self):
        (path,) = glob.glob(self.store + "/orders/*")
        return path

    def entry_of(self, number):
        """The entry that a changed program no longer asks for."""
        with open(self.order(), "rb") as f:
            key = f.read()[16 + 16 * number:][:16]
        name = key[7::-1].hex() + key[15:7:-1].hex()
        return f"{self.store}/entries/{name[:2]}/{name}.stet"

    def test_a_repeated_command_finds_all_programs_loaded(self):
        for _ in range(2):
            self.assertEqual(self.launch(ahead=3), ([HIT] * 3, "3 loaded, 3 taken"))
            self.assertEqual(self.plugin["calls"][LOAD], 3)

    def test_a_program_requested_while_it_is_loaded_ahead_is_loaded_once(self):
        for ms in ("0", "5", "40"):
            results, _ = self.launch(FAKE_LOAD_MS=ms)
            self.assertEqual(results, [HIT] * 3)
            self.assertEqual(self.plugin["calls"][LOAD], 3)

    def test_other_commands_folders_and_flags_have_lists_of_their_own(self):
        self.assertEqual(self.launch("--execute", "2"), ([HIT] * 3, None))
        self.assertEqual(self.launch(cwd="/"), ([HIT] * 3, None))
        self.assertEqual(self.launch(XLA_FLAGS="--xla_other=1"), ([MISS] * 3, None))
        self.assertEqual(len(glob.glob(self.store + "/orders/*")), 4)
        self.assertEqual(self.launch("--execute", "2", ahead=3), ([HIT] * 3, "3 loaded, 3 taken"))

    def test_a_changed_program_is_compiled_and_takes_its_place(self):
        self.write(1, 7)
        self.assertEqual(self.launch(ahead=3), ([HIT, MISS, HIT], "3 loaded, 2 taken"))
        self.assertEqual(self.launch(ahead=3), ([HIT] * 3, "3 loaded, 3 taken"))

    def test_a_damaged_list_is_ignored(self):
        with open(self.order(), "rb") as f:
            sound = f.read()
        self.assertEqual(len(sound), 16 + 3 * 16 + 16)
        newer = sound[:8] + b"\x02" + sound[9:]
        many = sound[:12] + b"\xff\xff\xff\xff" + sound[16:]
        turned = sound[:20] + bytes([sound[20] ^ 1]) + sound[21:]
        for bad in (b"", sound[:40], sound + b"x", newer, many, turned, os.urandom(80), b"\0" * 5000):
            with open(self.order(), "wb") as f:
                f.write(bad)
            self.assertEqual(self.launch(), ([HIT] * 3, None))
            with open(self.order(), "rb") as f:
                self.assertEqual(f.read(), sound)  # made anew
        path = self.order()
        os.unlink(path)
        os.mkfifo(path)
        self.assertEqual(self.launch(), ([HIT] * 3, None))

    def test_damaged_entries_are_not_loaded(self):
        path = self.entry_of(1)
        with open(path, "r+b") as f:
            f.seek(-1, os.SEEK_END)
            last = f.read(1)
            f.seek(-1, os.SEEK_END)
            f.write(bytes([last[0] ^ 1]))
        self.assertEqual(self.launch(ahead=2), ([HIT, (0, "damaged"), HIT], "2 loaded, 2 taken"))
        self.assertEqual(self.launch(ahead=3), ([HIT] * 3, "3 loaded, 3 taken"))
        os.makedirs(self.store + "/quarantine", exist_ok=True)
        for strike in (1, 2):
            open(f"{self.store}/quarantine/{os.path.basename(path)[:32]}.strike-{strike}", "w").close()
        self.assertEqual(self.launch(ahead=2), ([HIT, (0, "condemned"), HIT], "2 loaded, 2 taken"))
        os.unlink(self.entry_of(0))
        self.assertEqual(self.launch(ahead=1), ([MISS, (0, "condemned"), HIT], "1 loaded, 1 taken"))

    def test_a_failed_load_ahead_is_tried_again_on_request(self):
        self.assertEqual(self.launch(ahead=3, FAKE_FAIL=f"{LOAD}:2"), ([HIT] * 3, "2 loaded, 2 taken"))
        self.assertEqual(self.plugin["calls"][LOAD], 4)

    def test_an_entry_that_the_plugin_rejects_is_not_tried_again(self):
        for code in (3, 11, 12, 15):  # INVALID_ARGUMENT, OUT_OF_RANGE, UNIMPLEMENTED, DATA_LOSS
            results, note = self.launch(ahead=3, FAKE_FAIL=f"{LOAD}:2={code}")
            self.assertEqual((sorted(results), note), ([(0, "load-failed"), HIT, HIT], "2 loaded, 2 taken"))
            self.assertEqual(self.plugin["calls"][LOAD], 3)
            (said,) = glob.glob(self.store + "/quarantine/*.failed")
            self.assertGreater(os.path.getsize(said), 0)
            self.assertEqual(self.launch(ahead=3), ([HIT] * 3, "3 loaded, 3 taken"))  # written anew
            os.unlink(said)
        for code in (2, 8, 14):  # UNKNOWN, RESOURCE_EXHAUSTED, UNAVAILABLE
            self.assertEqual(self.launch(ahead=3, FAKE_FAIL=f"{LOAD}:2={code}"), ([HIT] * 3, "2 loaded, 2 taken"))

    def test_a_read_only_store_stays_unchanged(self):
        def all_of_it():
            return {p: os.lstat(p).st_mtime_ns for p in glob.glob(self.store + "/**", recursive=True)}

        before = all_of_it()
        self.assertEqual(self.launch(ahead=3, STET_STORE_MODE="read-only"), ([HIT] * 3, "3 loaded, 3 taken"))
        self.assertEqual(self.launch("--execute", "2", STET_STORE_MODE="read-only"), ([HIT] * 3, None))
        self.assertEqual(all_of_it(), before)

    def test_nothing_is_loaded_ahead_when_it_is_not_wanted_or_others_must_agree(self):
        self.assertEqual(self.launch(STET_STORE_AHEAD="off"), ([HIT] * 3, None))
        self.assertEqual(self.launch(STET_STORE_MEMORY="0"), ([HIT] * 3, None))
        pod = dict(FAKE_DEVICES="2", FAKE_FOREIGN="1")
        self.assertEqual(self.launch(STET_RANKS="each", **pod), ([MISS] * 3, None))
        self.assertEqual(self.launch(STET_RANKS="each", ahead=3, **pod), ([HIT] * 3, "3 loaded, 3 taken"))
        self.assertEqual(self.launch(**pod), ([(0, "many-processes")] * 3, None))
        self.assertNotIn(LOAD, self.plugin["calls"])

    def test_no_more_is_loaded_than_a_process_may_keep(self):
        self.assertEqual(self.launch(STET_STORE_MEMORY="100"), ([HIT] * 3, None))
        sizes = 2 * len(PROGRAM)  # of one program and its executable, at least
        results, note = self.launch(STET_STORE_MEMORY=str(sizes + sizes // 2 + 200), ahead=1)
        self.assertEqual((results, note), ([HIT] * 3, "1 loaded, 1 taken"))

    def test_the_cache_commands_work_beside_lists_of_programs(self):
        for words in (["ls"], ["stats"], ["verify"], ["gc", "--max-age", "1h"]):
            done = subprocess.run([STET, "cache", words[0], "--store", self.store, *words[1:]], capture_output=True, text=True, cwd=self.dir)
            self.assertEqual((done.returncode, done.stderr), (0, ""), (words, done.stdout))
        self.order()
        os.utime(self.order(), (1000, 1000))
        subprocess.run([STET, "cache", "gc", "--store", self.store, "--max-age", "1h"], check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(glob.glob(self.store + "/orders/*"), [])
        self.assertEqual(self.launch(), ([HIT] * 3, None))
        self.assertEqual(self.launch(ahead=3), ([HIT] * 3, "3 loaded, 3 taken"))


if __name__ == "__main__":
    unittest.main()
