"""A plugin that answers nonsense: the layer takes none of it for true, and the program runs as it would without it."""
import glob
import json
import os
import re
import subprocess

import attack

ODD = ("null-text", "wild-text", "long-text", "control-text", "null-list", "null-list wild-count", "wild-count", "garbage-bytes", "no-bytes", "null-bytes",
       "wild-bytes", "null-text null-list wild-count null-bytes")
VARIANTS = ("", "_0_29", "_0_56", "_0_75", "_0_90", "_longer", "_holes", "_novtable", "_null", "_1_0", "_0_28", "_garbage", "_second")


class Plugin(attack.Case):
    def setUp(self):
        super().setUp()
        self.programs = [self.file(f"p{i}.mlir", attack.program(op)) for i, op in enumerate(("add", "multiply"))]

    def results(self, plugin=attack.FAKE, layer=True, expect=0, **env):
        """What the framework saw; the layer's presence may not show in it."""
        folder = f"{self.dir}/run{len(os.listdir(self.dir))}"
        env = self.environment(**env)
        if layer:
            env.update(LD_PRELOAD=attack.LAYER, STET_DIR=folder)
        done = subprocess.run([attack.HARNESS, "--roundtrip", "--input", "f32[2,3]", plugin, *self.programs], env=env, capture_output=True,
                              timeout=60, cwd=self.dir)
        if expect is not None:
            self.assertEqual(done.returncode, expect, (env.get("FAKE_ODD"), done.stderr[-300:]))
        try:
            # which call of an entry failed depends on who else called it
            return done.returncode, json.loads(re.sub(rb"\(call \d+\)", b"", done.stdout)).get("results"), folder
        except ValueError:
            return done.returncode, done.stdout, folder

    def test_odd_answers_change_nothing(self):
        _, truth, _ = self.results(layer=False)
        self.assertTrue(truth)
        for odd in ODD:
            for _ in range(2):  # the second time with what the first left in the store
                _, seen, folder = self.results(FAKE_ODD=odd)
                self.assertEqual(seen, truth, odd)
            compiles = [r for r in self.records(folder) if r["record"] == "compile_begin"]
            self.assertGreaterEqual(len(compiles), 2, odd)
        self.assertEqual(self.results()[1], truth)

    def test_executables_that_are_garbage_are_compiled_instead(self):
        for odd in ("garbage-bytes", "no-bytes", "null-bytes", "wild-bytes"):
            self.store = f"{self.dir}/store-{odd}"
            self.compile(*(attack.program(op) for op in ("add", "multiply")), FAKE_ODD=odd)
            again = self.compile(*(attack.program(op) for op in ("add", "multiply")))
            self.assertEqual([served for served, _ in again], [0, 0], (odd, again))

    def test_every_build_of_the_plugin_gives_what_it_gives_without_the_layer(self):
        """Older, newer and broken tables: the exit code and the results are those without the layer."""
        for variant in VARIANTS:
            plugin = attack.FAKE.replace("libfake_pjrt.so", f"libfake_pjrt{variant}.so")
            self.assertTrue(os.path.exists(plugin), plugin)
            code, truth, _ = self.results(plugin, layer=False, expect=None)
            for env in ({}, {"FAKE_ODD": "null-text null-list wild-count"}):
                seen, values, _ = self.results(plugin, expect=None, **env)
                self.assertEqual((seen, values), (code, truth), (variant, env))

    def test_control_characters_in_errors_reach_no_terminal(self):
        evil = "\x1b]0;PWNED\x07\x1b[2J\u202e ::error::x token=SEKRET001"
        bad = self.file("bad.mlir", "// fake program p\n// error 3 " + evil + "\nmodule @p {}\n")
        done = subprocess.run([attack.STET, "run", "--", "sh", "-c", f"{attack.HARNESS} {attack.FAKE} {bad} > {self.dir}/seen; true"],
                              env=self.environment(FAKE_ODD="control-text"), capture_output=True, timeout=60, cwd=self.dir)
        with open(self.dir + "/seen", "rb") as f:
            self.assertIn(b"token=SEKRET001", f.read())  # the framework gets its error as it is
        self.assertNotIn(b"\x1b", done.stderr)
        for words in (["show"], ["explain"], ["runs"], ["report", "-o", "r.html"], ["show", "--format=json"]):
            said = subprocess.run([attack.STET, *words], env=self.environment(), capture_output=True, timeout=60, cwd=self.dir)
            for text in (said.stdout, said.stderr):
                self.assertNotIn(b"\x1b", text, words)
                self.assertNotIn("\u202e".encode(), text, words)
                self.assertNotIn(b"SEKRET001", text, words)
        for path in glob.glob(self.dir + "/state/runs/*/journal/*") + [self.dir + "/r.html"]:
            with open(path, "rb") as f:
                self.assertNotIn(b"SEKRET001", f.read(), path)

    def test_every_entry_may_fail(self):
        """Each entry that the layer calls of its own fails, for everybody: what the framework sees does not depend on the layer."""
        for entry in ("PJRT_Executable_Name", "PJRT_Executable_Fingerprint", "PJRT_Executable_Serialize", "PJRT_Client_PlatformName",
                      "PJRT_Client_PlatformVersion", "PJRT_Client_Devices", "PJRT_Client_AddressableDevices", "PJRT_Executable_NumOutputs",
                      "PJRT_Executable_GetCompiledMemoryStats", "PJRT_Plugin_Attributes", "PJRT_TopologyDescription_Attributes",
                      "PJRT_Client_TopologyDescription", "PJRT_LoadedExecutable_GetExecutable", "PJRT_Executable_DeserializeAndLoad",
                      "PJRT_Client_Create", "PJRT_Client_Compile"):
            code, truth, _ = self.results(layer=False, expect=None, FAKE_FAIL=entry)
            seen, values, _ = self.results(expect=None, FAKE_FAIL=entry, STET_STORE="off")
            self.assertEqual((seen, values), (code, truth), entry)


attack.main()
