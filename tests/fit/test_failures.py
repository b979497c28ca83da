"""What `stet fit` says when something is missing, refuses or dies: over the fake plugin, without a framework.

usage: test_failures.py BUILD_DIR [unittest arguments]
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fake_case import CPU, FAKE, HARNESS, STET, Case  # noqa: E402


class Failures(Case):
    def test_a_run_fits_by_the_plugins_own_numbers(self):
        self.make_run("", "")
        verdict = self.over_fake()
        self.assertEqual((verdict["schema"], verdict["verdict"], verdict["fits"]), ("stet.fit/1", "fits", True))
        self.assertEqual(verdict["topology"]["memory_bytes"], 1000000)
        self.assertEqual([p["memory"]["source"] for p in verdict["programs"]], ["executable"] * 2)
        self.assertEqual({p["memory"]["temporaries"] for p in verdict["programs"]}, {64})
        self.assertEqual({p["compile"]["store"] for p in verdict["programs"]}, {"stored"})
        # the next launch finds them, and so does the next fit
        again = self.over_fake()["programs"]
        self.assertEqual({(p["compile"]["store"], p["compile"]["cpu_s"]) for p in again}, {("was stored", 0)})

    def stet(self, *words):
        out = subprocess.run([STET, *words], env=self.env, cwd=self.dir, capture_output=True, text=True, timeout=60)
        self.assertEqual(out.returncode, 0, out.stdout + out.stderr)
        return out.stdout

    def test_fit_and_warm_fill_the_store_for_a_launch_on_the_devices(self):
        def served():
            self.stet("run", "--quiet", "--", HARNESS, FAKE, self.dir + "/0.mlir", self.dir + "/1.mlir", "--input", "f32[4]")
            return json.loads(self.stet("explain", "--format=json"))["store"]["served"]

        self.make_run("", "")
        run = os.path.basename(glob.glob(self.dir + "/state/runs/*")[0])
        warm = ("warm", "--format=json", "--plugin", FAKE, "--topology=1", run)
        fitted = lambda: [p["compile"]["store"] for p in self.over_fake(run)["programs"]]  # noqa: E731
        self.assertEqual(fitted(), ["stored"] * 2)
        self.assertEqual(served(), 2)  # a process with the devices themselves
        self.assertEqual(json.loads(self.stet(*warm))["present"], 2)
        shutil.rmtree(self.dir + "/store")
        self.assertEqual(json.loads(self.stet(*warm))["kept"], 2)
        self.assertEqual(fitted(), ["was stored"] * 2)
        self.assertEqual(served(), 2)

    def test_more_than_the_memory_does_not_fit(self):
        self.make_run("")
        verdict = self.over_fake("--memory=50", status=1)
        self.assertEqual((verdict["verdict"], verdict["fits"]), ("exceeds", False))
        total = verdict["programs"][0]["memory"]["total"]
        self.assertEqual(verdict["exceeds_bytes"], total - 50)
        self.assertIn("does not fit: 298 B too much. p0 needs 348 B; each device of 1 has 50 B", self.fit("--plugin", FAKE, "--topology=1", "--memory=50", status=1))

    def test_a_compiler_that_refuses_one_program_leaves_the_verdict_about_the_rest(self):
        self.make_run("", "error 3 INVALID: no such layout", "")
        verdict = self.over_fake(status=1)
        self.assertEqual(verdict["verdict"], "failed")
        by_name = {p["program"]: p for p in verdict["programs"]}
        self.assertEqual({n: p["verdict"] for n, p in by_name.items()}, {"p0": "fits", "p1": "failed", "p2": "fits"})
        self.assertIn("no such layout", by_name["p1"]["error"])
        text = self.fit("--plugin", FAKE, "--topology=1", status=1)
        self.assertIn("not known: 1 of 3 programs did not compile", text)
        self.assertIn("no such layout", text)

    def test_a_message_about_memory_is_read(self):
        self.make_run("error 8 Ran out of memory on HBM, the total memory required for HLO temporaries (3.00G) exceeds "
                      "available HBM (1.00G). HLO module: p0.", "")
        verdict = self.over_fake(status=1)
        self.assertEqual((verdict["verdict"], verdict["exceeds_bytes"]), ("exceeds", 2 << 30))
        self.assertEqual(sorted(p["verdict"] for p in verdict["programs"]), ["exceeds", "fits"])

    def test_a_compiler_that_dies_is_named_with_its_last_words(self):
        self.make_run("")
        verdict = self.over_fake(status=1, FAKE_CRASH="PJRT_Compile")
        self.assertEqual(verdict["verdict"], "failed")
        self.assertRegex(verdict["programs"][0]["error"],
                         r"^the compiler ended its process \(signal 6\): F0000 fake.cc:1\] Check failed: PJRT_Compile$")

    def test_a_plugin_that_dies_while_it_starts_is_named(self):
        self.make_run("")
        self.assertEqual(self.fit("--plugin", FAKE, "--topology=1", status=3, FAKE_CRASH="PJRT_Plugin_Initialize"), "")
        self.assertRegex(self.err, r"libfake_pjrt.so crashed \(SIGABRT\) when it was asked for 1")

    def test_an_unknown_topology_is_refused_in_the_plugins_words(self):
        self.make_run("")
        self.assertEqual(self.fit("--plugin", FAKE, "--topology=v9:2x2", status=3,
                                  FAKE_FAIL="PJRT_TopologyDescription_Create"), "")
        self.assertIn("the plugin has no topology v9:2x2 (PJRT_TopologyDescription_Create told to fail", self.err)
        self.assertIn("v4, v5e, v5p, v6e, tpu7x", self.err)

    def test_a_file_that_is_not_a_plugin_is_refused(self):
        self.make_run("")
        self.fit("--plugin", "/nowhere/libtpu.so", "--topology=v6e:2x4", status=3)
        self.assertIn("/nowhere/libtpu.so: no such plugin", self.err)
        self.fit("--plugin", "/etc/passwd", "--topology=v6e:2x4", status=3)
        self.assertIn("/etc/passwd: cannot be loaded", self.err)

    def test_without_libtpu_the_message_names_the_places_searched_and_the_remedy(self):
        os.mkdir(self.dir + "/bin")
        python = self.dir + "/bin/python3"
        with open(python, "w") as f:  # a Python that has nothing
            f.write(f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")
        os.chmod(python, 0o755)
        self.fit("--topology=v6e:2x4", "--", python, "train.py", status=3)
        self.assertIn(f"no libtpu is installed for {python}, so its compiler cannot be asked: `pip install libtpu`", self.err)

    def test_the_memory_of_a_device_may_not_be_known(self):
        self.make_run("")
        verdict = self.over_fake(status=1, FAKE_DEVICE_ATTRIBUTES="coords=[0,0,0]")
        self.assertEqual((verdict["verdict"], verdict["topology"]["memory_bytes"]), ("unknown", None))
        self.assertEqual(self.over_fake("--memory=1M", FAKE_DEVICE_ATTRIBUTES="coords=[0,0,0]")["verdict"], "fits")

    def test_a_process_may_use_a_part_of_a_gpus_memory(self):
        self.make_run("")
        target = self.dir + "/target.txtpb"
        with open(target, "w") as f:
            f.write("gpu_device_info { device_memory_size: 1000 }")
        for env, memory in (({}, 750000), ({"XLA_PYTHON_CLIENT_MEM_FRACTION": ".5"}, 500000),
                            ({"XLA_CLIENT_MEM_FRACTION": "0.9"}, 900000), ({"XLA_CLIENT_MEM_FRACTION": "much"}, 1000000),
                            ({"XLA_PYTHON_CLIENT_ALLOCATOR": "platform"}, 1000000),
                            ({"FAKE_DEVICE_ATTRIBUTES": "coords=[0,0,0]"}, 750)):
            self.assertEqual(self.over_fake("--target", target, **env)["topology"]["memory_bytes"], memory, env)
        self.assertEqual(self.over_fake(XLA_CLIENT_MEM_FRACTION="0.5")["topology"]["memory_bytes"], 1000000)  # no GPU

    def test_a_command_runs_posed_as_the_topology(self):
        paths = self.write("", "")
        verdict = self.over_fake("--", HARNESS, CPU, *paths, "--input", "f32[4]", "--execute", "3")
        self.assertEqual(verdict["verdict"], "fits")
        self.assertEqual([(p["program"], p["executions"]) for p in verdict["programs"]], [("p0", 3), ("p1", 3)])
        # the harness keeps its argument and the last result while the next one is made
        self.assertEqual({p["beside_bytes"] for p in verdict["programs"]} - {0, 16, 32, 48}, set())
        self.assertIsNotNone(verdict["programs"][0]["beside_bytes"])

    def test_a_command_that_fails_has_a_verdict_until_then(self):
        path = self.write("")[0]
        with open(self.dir + "/both.sh", "w") as f:
            f.write(f"{HARNESS} {CPU} {path} --input 'f32[4]' && exit 7\n")
        verdict = self.over_fake("--", "sh", self.dir + "/both.sh", status=1)
        self.assertEqual(len(verdict["programs"]), 1)
        self.assertEqual((verdict["verdict"], verdict["fits"], verdict["exit_code"], verdict["signal"]), ("fits", False, 7, None))
        text = self.fit("--plugin", FAKE, "--topology=1", "--", "sh", self.dir + "/both.sh", status=1)
        self.assertTrue(text.startswith("fits so far, but the command failed: p0 needs "), text)
        self.assertIn("the command ended with exit code 7", text)

    def test_a_command_that_does_not_exist_or_compiles_nothing_is_named(self):
        self.fit("--plugin", FAKE, "--topology=1", "--", "/nowhere/python", status=3)
        self.assertIn("/nowhere/python: cannot be run", self.err)
        self.fit("--plugin", FAKE, "--topology=1", "--", "true", status=3)
        self.assertIn("the run compiled nothing", self.err)
        self.fit("--plugin", FAKE, "--topology=1", "--", "sh", "-c", "exit 5", status=3)
        self.assertIn("the command ended with exit code 5 and compiled nothing", self.err)

    def test_a_program_that_was_not_captured_whole_is_unknown(self):
        self.make_run("")
        for path in glob.glob(self.dir + "/state/runs/*/programs/*.mlir*"):
            os.unlink(path)
        verdict = self.over_fake(status=1)
        self.assertEqual([p["verdict"] for p in verdict["programs"]], ["unknown"])

    def test_a_full_folder_of_the_run_does_not_hide_the_verdict(self):
        self.make_run("")
        (folder,) = glob.glob(self.dir + "/state/runs/*")
        os.mkdir(folder + "/fit-1.json")  # the fit cannot be kept there
        self.assertEqual(self.over_fake()["verdict"], "fits")
        self.assertIn("fit-1.json", self.err)

    def test_a_damaged_last_fit_is_ignored(self):
        paths = self.write("")
        command = ("--", HARNESS, CPU, *paths, "--input", "f32[4]")
        self.over_fake(*command)
        (kept,) = glob.glob(self.dir + "/state/runs/*/fit-1.json")
        for bad in (b"", b"{", b'{"programs":[{"temporaries":[{"bytes":', os.urandom(300), b'[' * 1000):
            with open(kept, "wb") as f:
                f.write(bad)
            self.assertEqual(self.over_fake(*command, "--execute", "1")["verdict"], "fits")
            for later in set(glob.glob(self.dir + "/state/runs/*/fit-1.json")) - {kept}:
                os.unlink(later)

    def test_the_contract_is_kept_or_broken(self):
        one, two = self.write("", "")
        command = ("--contract", self.dir + "/c", "--", HARNESS, CPU, one, "--input", "f32[4]")
        self.over_fake(*command[2:])
        subprocess.run([STET, "contract", "init", "-o", self.dir + "/c"], env=self.env, check=True, cwd=self.dir, timeout=60,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.assertEqual(self.over_fake(*command)["contract"], {"checked": True, "kept": True, "violations": 0, "first": None})
        broken = self.over_fake(*command, two, status=1)
        self.assertEqual((broken["verdict"], broken["contract"]["kept"]), ("fits", False))
        self.assertIn("p1", broken["contract"]["first"])
        self.assertIn("contract: broken in ", self.fit("--plugin", FAKE, "--topology=1", *command, two, status=1))

    def blocks(self):
        """Three times nine operations, two of them in a call."""
        path = self.dir + "/blocks.mlir"
        with open(path, "w") as f:
            f.write("// fake program blocks\n// in f32[4]\n// out f32[4]\nmodule @blocks {\n"
                    "  func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
                    "    %b = stablehlo.tanh %a : tensor<4xf32>\n    return %b : tensor<4xf32>\n  }\n"
                    "  func.func @main(%x0: tensor<4xf32>) -> tensor<4xf32> {\n" +
                    "".join(f"    %a{i} = stablehlo.add %x{i}, %x{i} : tensor<4xf32>\n"
                            f"    %b{i} = stablehlo.multiply %a{i}, %x{i} : tensor<4xf32>\n"
                            f"    %c{i} = func.call @f(%b{i}) : (tensor<4xf32>) -> tensor<4xf32>\n"
                            f"    %d{i} = stablehlo.subtract %c{i}, %a{i} : tensor<4xf32>\n"
                            f"    %e{i} = stablehlo.maximum %d{i}, %x{i} : tensor<4xf32>\n"
                            f"    %x{i + 1} = stablehlo.negate %e{i} : tensor<4xf32>\n" for i in range(3)) +
                    "    return %x3 : tensor<4xf32>\n  }\n}\n")
        return ("--lines", "--", HARNESS, CPU, path, "--input", "f32[4]")

    def test_a_compiler_without_phases_is_measured_with_parts_left_out(self):
        (compile,) = [p["compile"] for p in self.over_fake(*self.blocks())["programs"]]
        self.assertIsNone(compile["fragments"])
        self.assertEqual([(b["copies"], b["operations"]) for b in compile["repeated"]["blocks"]], [(3, 9)])
        self.assertGreater(compile["repeated"]["without_copies_cpu_s"], 0)

    def test_a_compiler_that_refuses_a_part_keeps_its_verdict(self):
        fit = self.over_fake(*self.blocks(), FAKE_FAIL="PJRT_Compile:3+")
        self.assertEqual(fit["verdict"], "fits")
        self.assertIsNone(fit["programs"][0]["compile"]["repeated"]["without_copies_cpu_s"])

    def test_usage(self):
        for words, says in (((), "--topology is missing"), (("--topology=1", "a", "b"), "takes one run"),
                            (("--topology=1", "--zeros"), "--zeros is for a command"),
                            (("--topology=1", "--memory=lots"), "--memory is a size"),
                            (("--topology=1", "--jobs=0"), "--jobs is a number"),
                            (("--topology=1", "--search=batch=1..8"), "need a command"),
                            (("--topology=1", "--search=a=1..8", "--sweep=a=1", "--", "true"), "either --search or --sweep"),
                            (("--topology=1", "--search=batch", "--", "true"), "not NAME=FIRST..LAST"),
                            (("--topology=1", "--search=batch=8..4", "--", "true"), "not NAME=FIRST..LAST"),
                            (("--topology=1", "--sweep=batch=1,x", "--", "true"), "not NAME=FIRST..LAST")):
            self.assertEqual(self.fit(*words, status=2), "")
            self.assertIn(says, self.err)

    # ---- several values ----

    def script(self):
        """Compiles program 0 up to a size of 4, and program 1, which does not fit, above it."""
        small, large = self.write("", "error 8 Ran out of memory on HBM, the total memory required for HLO temporaries "
                                      "(3.00G) exceeds available HBM (1.00G). HLO module: p1.")
        path = self.dir + "/sized.sh"
        with open(path, "w") as f:
            f.write(f'while [ $# -gt 0 ]; do case $1 in --size) n=$2; shift;; --size=*|size=*) n=${{1#*=}};; esac; shift; done\n'
                    f'[ "${{n:=$SIZE}}" -eq 5 ] && exit 9\n'
                    f'p={small}; [ "$n" -gt 4 ] && p={large}\n'
                    f'exec {HARNESS} {CPU} $p --input "f32[4]"\n')
        return path

    def test_a_search_finds_the_largest_value_that_fits(self):
        path = self.script()
        for words in (("--size", "1"), ("--size=1",), ("size=1",), ("--size", "{size}")):
            found = self.over_fake("--search=size=1..64/3", "--", "sh", path, *words)
            self.assertEqual((found["schema"], found["found"]), ("stet.fitsearch/1", 4))
            self.assertEqual([t["value"] for t in found["tried"]], [1, 64, 31, 16, 7, 4])
            self.assertEqual([t["verdict"] for t in found["tried"]], ["fits"] + ["exceeds"] * 4 + ["fits"])
            self.assertEqual(found["fit"]["verdict"], "fits")

    def test_a_variable_is_searched_where_there_is_no_argument(self):
        found = self.over_fake("--search=SIZE=1..4/1", "--", "sh", self.script())
        self.assertEqual(found["found"], 4)

    def test_a_search_may_find_nothing_or_no_such_argument(self):
        found = self.over_fake("--search=size=8..16", "--", "sh", self.script(), "--size", "1", status=1)
        self.assertEqual((found["found"], found["fit"]), (None, None))
        self.fit("--plugin", FAKE, "--topology=1", "--search=batch=1..4", "--", "sh", self.script(), status=3)
        self.assertIn("the command has no argument --batch, batch= or {batch}", self.err)

    def test_a_value_at_which_the_command_fails_has_no_verdict(self):
        self.fit("--plugin", FAKE, "--topology=1", "--search=size=5..8/1", "--", "sh", self.script(), "--size", "1", status=3)
        self.assertIn("size=5 has no verdict", self.err)

    def test_a_sweep_is_a_table(self):
        swept = self.over_fake("--sweep=size=1..16", "--", "sh", self.script(), "--size", "1")
        self.assertEqual([(t["value"], t["verdict"]) for t in swept["tried"]],
                         [(1, "fits"), (2, "fits"), (4, "fits"), (8, "exceeds"), (16, "exceeds")])
        self.assertEqual(swept["found"], 4)
        text = self.fit("--plugin", FAKE, "--topology=1", "--sweep=size=2,5,8", "--", "sh", self.script(), "--size", "1")
        self.assertIn("the largest size that fits is 2", text)
        self.assertRegex(text, r"(?m)^ +5  - +the command ended with exit code 9 and compiled nothing$")


if __name__ == "__main__":
    unittest.main()
