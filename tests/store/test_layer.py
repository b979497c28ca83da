"""The layer and its store over the fake plugin: what is served and what is not, without a framework.

usage: test_layer.py BUILD_DIR [unittest arguments]
"""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = os.path.abspath(sys.argv.pop(1))
STET, HARNESS, DUMP = (f"{BUILD}/bin/{name}" for name in ("stet", "pjrt_harness", "journal_dump"))
FAKE = BUILD + "/lib/libfake_pjrt.so"

# The fake plugin reads its shapes from the comments.
PROGRAM = """// fake program p
// in f32[2,3]
// out f32[2,3]
module @p {{
  func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {{
    %b = {op} : {type}
    return %b : tensor<2x3xf32>
  }}
}}
"""
PLAIN = PROGRAM.format(op="stablehlo.add %a, %a", type="tensor<2x3xf32>")


def call(target):
    return PROGRAM.format(op=f'stablehlo.custom_call @{target}(%a) {{backend_config = "94012345"}}',
                          type="(tensor<2x3xf32>) -> tensor<2x3xf32>")


class Layer(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="stet-store-layer-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.store = self.dir + "/store"
        self.runs = 0

    def program(self, text, name="program.mlir"):
        with open(f"{self.dir}/{name}", "w") as f:
            f.write(text)
        return f"{self.dir}/{name}"

    def compile(self, text, *words, **env):
        """How one compile went: its record's end, and the hash of the program's bytes."""
        self.runs += 1
        folder = f"{self.dir}/run{self.runs}"
        env = dict(os.environ, LD_PRELOAD=BUILD + "/lib/libstet.so", STET_DIR=folder,
                   **{"STET_STORE": self.store, **env})
        for name in ("STET", "STET_PLUGIN", "STET_RUN"):
            env.pop(name, None)
        subprocess.run([HARNESS, *words, FAKE, self.program(text)], env=env, check=True, stdout=subprocess.PIPE, timeout=60)
        dump = subprocess.run([DUMP, folder], capture_output=True, text=True, check=True).stdout
        records = [json.loads(line) for line in dump.splitlines()]
        ends = [r for r in records if r["record"] == "compile_end"]
        self.assertEqual(len(ends), 1)
        self.bytes_hash = next(r["program"] for r in records if r["record"] == "compile_begin")
        return ends[0].get("served", 0), ends[0].get("store")

    def entries(self):
        return sorted(glob.glob(self.store + "/entries/*/*.stet"))

    def test_a_compiled_program_is_loaded_in_the_next_process(self):
        self.assertEqual(self.compile(PLAIN), (0, "miss"))
        self.assertEqual(self.compile(PLAIN), (2, "hit"))

    def test_programs_that_hold_addresses_of_their_process_are_not_stored(self):
        for target in ("CustomSPMDPartitioning", "InspectSharding", "xla_ffi_python_gpu_callback",
                       "xla_ffi_partitioned_python_cpu_callback", "xla_buffer_python_gpu_callback", "xla_python_cpu_callback",
                       "stet_python_callback"):
            with self.subTest(target):
                self.assertEqual(self.compile(call(target)), (0, "process-local"))
        self.assertEqual(self.entries(), [])
        self.assertEqual(self.compile(call("Sharding")), (0, "miss"))
        self.assertEqual(len(self.entries()), 1)

    def test_entries_stored_under_older_rules_are_not_served(self):
        """An entry of a program that an older Stet did not recognise, and its hint that the program need not be read."""
        local = call("CustomSPMDPartitioning")
        self.compile(PLAIN)
        hint = os.readlink(glob.glob(self.store + "/programs/*/*")[0]).split(":")[0]
        self.assertEqual(self.compile(local), (0, "process-local"))
        print_ = json.loads(subprocess.run([STET, "fingerprint", "--format=json", self.program(local)], capture_output=True,
                                           text=True, check=True).stdout)
        version, key = print_["version"], print_["programs"][0]["key"]
        self.assertEqual(version, int(hint) // 1000)
        name = f"{version}:{key}"
        subprocess.run([BUILD + "/bin/store-move", self.store, "program", name, self.program(local)], check=True)
        self.assertEqual(len(self.entries()), 1)
        link = f"{self.store}/programs/{self.bytes_hash[:2]}/{self.bytes_hash}"
        os.makedirs(os.path.dirname(link), exist_ok=True)
        for older in (version, int(hint) - 1):  # before there were rules; by the rules before
            os.symlink(f"{older}:{key}", link)
            self.assertEqual(self.compile(local), (0, "process-local"))
            os.unlink(link)
        os.symlink(f"{hint}:{key}", link)  # the entry is sound: only the rules stand between
        self.assertEqual(self.compile(local), (2, "hit"))

    def crash(self, text, **env):
        folder = f"{self.dir}/crashed"
        env = dict(os.environ, LD_PRELOAD=BUILD + "/lib/libstet.so", STET_DIR=folder, STET_STORE=self.store, **env)
        for name in ("STET", "STET_PLUGIN", "STET_RUN"):
            env.pop(name, None)
        return subprocess.Popen([HARNESS, FAKE, self.program(text)], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def quarantined(self):
        return len(glob.glob(self.store + "/quarantine/*"))

    def test_two_crashes_inside_a_load_condemn_its_entry(self):
        crashing = dict(FAKE_CRASH="PJRT_Executable_DeserializeAndLoad")
        self.compile(PLAIN)
        for times in (1, 2):
            self.assertEqual(self.crash(PLAIN, **crashing).wait(60), -signal.SIGABRT)
            self.assertEqual(self.quarantined(), times)
        self.assertEqual(self.compile(PLAIN, **crashing), (0, "condemned"))
        self.assertEqual(self.compile(PLAIN), (0, "condemned"))
        (path,) = self.entries()
        removed = subprocess.run([STET, "cache", "rm", "--store", self.store, os.path.basename(path)[:32]], check=True,
                                 capture_output=True, text=True)
        self.assertEqual(removed.stderr, "stet: 1 entry removed\n")
        self.assertEqual(self.compile(PLAIN), (0, "miss"))
        self.assertEqual(self.compile(PLAIN), (2, "hit"))

    def test_loads_that_fail_condemn_nothing(self):
        self.compile(PLAIN)
        for _ in range(3):  # say, the device was full
            self.assertEqual(self.compile(PLAIN, FAKE_FAIL="PJRT_Executable_DeserializeAndLoad"), (0, "load-failed"))
        self.assertEqual(self.compile(PLAIN), (2, "hit"))

    def test_a_kill_inside_a_load_condemns_nothing(self):
        self.compile(PLAIN)
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
            hanging = self.crash(PLAIN, FAKE_HANG="PJRT_Executable_DeserializeAndLoad")
            time.sleep(0.5)
            self.assertIsNone(hanging.poll())
            hanging.send_signal(number)
            self.assertEqual(hanging.wait(60), -number)
        self.assertEqual(self.quarantined(), 0)
        self.assertEqual(self.compile(PLAIN), (2, "hit"))

    def test_entries_of_a_newer_version_are_not_touched(self):
        self.compile(PLAIN)
        (path,) = self.entries()
        subprocess.run([BUILD + "/bin/store-move", self.store, "version", "9"], check=True)
        with open(path, "rb") as f:
            before = f.read()
        self.assertEqual(self.compile(PLAIN), (0, "newer"))
        with open(path, "rb") as f:
            self.assertEqual(f.read(), before)

    def test_a_folder_that_anyone_can_write_to_is_not_used(self):
        os.makedirs(self.store)
        os.chmod(self.store, 0o777)
        self.assertEqual(self.compile(PLAIN), (0, "unsafe-folder"))
        self.assertEqual(os.listdir(self.store), [])
        done = subprocess.run([STET, "run", "--quiet", "--", "true"], capture_output=True, text=True,
                              env=dict(os.environ, STET_STORE=self.store, STET_STATE_DIR=self.dir + "/state"))
        self.assertIn("the store is off", done.stderr)
        listed = subprocess.run([STET, "cache", "ls", "--store", self.store], capture_output=True, text=True)
        self.assertEqual(listed.returncode, 3)
        self.assertIn("anyone can write there", listed.stderr)

    def run_it(self, text, **env):
        subprocess.run([STET, "run", "--quiet", "--", HARNESS, FAKE, self.program(text)], check=True, cwd=self.dir,
                       stdout=subprocess.DEVNULL, env=dict(os.environ, STET_STORE=self.store, STET_STATE_DIR=self.dir + "/state", **env))

    def test_programs_that_are_not_stored_are_counted_by_reason(self):
        def stats():
            return json.loads(subprocess.run([STET, "cache", "stats", "--format=json"], check=True, capture_output=True, text=True,
                                             cwd=self.dir, env=dict(os.environ, STET_STORE=self.store, STET_STATE_DIR=self.dir + "/state")).stdout)

        self.run_it(call("CustomSPMDPartitioning"))
        self.assertEqual(stats()["last_run"]["not_kept"], {"process-local": 1})
        self.run_it(PLAIN, FAKE_FAIL="PJRT_Executable_Serialize")
        self.assertEqual(stats()["last_run"]["not_kept"], {"not-written": 1})
        self.run_it(PLAIN)
        self.assertEqual((stats()["entries"], stats()["last_run"]["not_kept"]), (1, {}))

    def test_a_run_keeps_the_limits_it_was_given(self):
        self.run_it(PLAIN)
        self.run_it(call("Sharding"), STET_STORE_MAX_BYTES="1G", STET_STORE_MAX_AGE="1d")
        self.assertEqual(len(self.entries()), 2)
        self.run_it(PLAIN, STET_STORE_MAX_BYTES=str(os.path.getsize(self.entries()[0]) + 8))
        self.assertEqual(len(self.entries()), 1)  # the one just used
        self.assertEqual(self.compile(PLAIN), (2, "hit"))

    def test_a_group_shares_its_folder(self):
        os.makedirs(self.store)
        os.chmod(self.store, 0o2770)
        self.assertEqual(self.compile(PLAIN), (0, "miss"))
        self.assertEqual(self.compile(PLAIN), (2, "hit"))
        modes = {(os.path.isdir(p), oct(os.stat(p).st_mode & 0o7777))
                 for p in glob.glob(self.store + "/**", recursive=True) if not os.path.islink(p)}
        self.assertEqual(modes, {(True, "0o2770"), (False, "0o660")})

    def test_ranks_that_cannot_agree_are_not_served_unless_a_setting_allows_it(self):
        """Two devices, one of another process, and no key-value store: as on a TPU pod."""
        pod = dict(FAKE_DEVICES="2", FAKE_FOREIGN="1")
        self.assertEqual(self.compile(PLAIN, **pod), (0, "many-processes"))
        self.assertEqual(self.entries(), [])
        self.assertEqual(self.compile(PLAIN, STET_RANKS="all", **pod), (0, "many-processes"))
        self.assertEqual(self.compile(PLAIN, STET_RANKS="each", **pod), (0, "miss"))
        self.assertEqual(self.compile(PLAIN, STET_RANKS="each", **pod), (2, "hit"))
        self.assertEqual(self.compile(PLAIN, **pod), (0, "many-processes"))
        # alone with as many devices of its own: another topology, and nobody to agree with
        self.assertEqual(self.compile(PLAIN, FAKE_DEVICES="2")[0], 2)


if __name__ == "__main__":
    unittest.main()
