"""Facts about `stet doctor`: the right verdict for whole and for deliberately broken environments.

usage: test_doctor.py BUILD_DIR [unittest arguments]
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import unittest

from stage import CPU, FAKE, LIB, STET, Staged


class Doctor(Staged):
    def doctor(self, *args, deadline="60", preexec=None, **variables):
        out = subprocess.run([STET, "doctor", "--format=json", f"--deadline={deadline}", *args],
                             capture_output=True, text=True, timeout=500, cwd=self.dir,
                             env=dict(self.env, **variables), preexec_fn=preexec)
        self.assertIn(out.returncode, (0, 1), out.stderr)
        told = json.loads(out.stdout)
        self.assertEqual(told["schema"], "stet.doctor/1")
        self.assertEqual(told["ok"], out.returncode == 0)
        return told

    def broken(self, told, plugin, step, result, words):
        """The plugin breaks at this step, in this way, with these words; everything before went well."""
        p = next(p for p in told["plugins"] if p["path"].endswith(plugin))
        self.assertFalse(told["ok"])
        self.assertFalse(p["alive"])
        self.assertEqual(p["broken"], step, p["steps"])
        found = next(s for s in p["steps"] if s["step"] == step)
        self.assertEqual(found["result"], result, p["steps"])
        self.assertIn(words, found["detail"])
        return p

    def rows(self, told):
        return [r["id"] for r in told["rows"]]

    def check(self, told, what):
        return next(c for c in told["checks"] if c["what"] == what)

    def test_a_working_plugin_is_reported_with_its_memory(self):
        told = self.doctor(PJRT_NAMES_AND_LIBRARY_PATHS=f"stet:{CPU}")
        p = told["plugins"][0]
        self.assertTrue(told["ok"], told)
        self.assertTrue(p["alive"])
        self.assertEqual([s["result"] for s in p["steps"]], ["fine"] * 12)
        self.assertEqual(p["devices"][0]["kind"], "Stet CPU")
        self.assertGreater(p["devices"][0]["bytes_limit"], 1 << 20)
        self.assertEqual(self.check(told, "store")["result"], "fine")

    def test_no_plugins_are_not_counted_as_none_of_none(self):
        out = subprocess.run([STET, "doctor", "--quick", "--no-frameworks"], capture_output=True, text=True, cwd=self.dir,
                             env=self.env)
        self.assertEqual(out.returncode, 0, out.stdout)
        self.assertIn("all is well: no compiler plugin is installed; torch.compile and JAX's CPU need none", out.stdout)
        self.assertNotIn("0 of 0", out.stdout)

    def test_plugins_are_found_in_every_way_the_frameworks_know(self):
        def placed(*path):
            full = os.path.join(self.site, *path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            shutil.copy(CPU, full)
            return full
        placed("jax_plugins", "one", "one.so")
        placed("two_plugin", "two.so")
        placed("three_plugin", "lib.so")
        placed("libtpu", "libtpu.so")
        elsewhere = placed("..", "elsewhere.so")
        config = os.path.join(self.dir, "c.json")
        with open(config, "w") as f:
            json.dump({"library_path": placed("..", "by_json.so")}, f)
        self.install("two", "1", entry_points="[jax_plugins]\ntwo = two_plugin\n\n[other]\nx = y\n")
        self.install("three", "1", entry_points="[torch_xla.plugins]\nthree = three_plugin:Three\n")
        told = self.doctor("--quick", "--no-frameworks", PJRT_NAMES_AND_LIBRARY_PATHS=f"a:{CPU},b:{config}",
                           PJRT_DEVICE="LIBRARY", PJRT_LIBRARY_PATH=elsewhere)
        found = {os.path.basename(p["path"]): p["found_by"] for p in told["plugins"]}
        self.assertEqual(found, {
            "libstet_cpu.so": "PJRT_NAMES_AND_LIBRARY_PATHS", "by_json.so": "PJRT_NAMES_AND_LIBRARY_PATHS",
            "elsewhere.so": "PJRT_LIBRARY_PATH", "one.so": "jax_plugins", "two.so": "jax_plugins",
            "lib.so": "torch_xla.plugins", "libtpu.so": "package libtpu"})

    def test_the_backend_of_stets_own_wheel_is_tried(self):
        self.site = self.env["PYTHONPATH"] = os.path.join(self.dir, "lib", "python3.11", "site-packages")
        os.makedirs(self.site)
        shutil.copy(CPU, os.path.join(self.dir, "lib", "libstet_cpu.so"))
        self.install("stet-cli", "0.1.0", {"stet_cpu/__init__.py": "", "stet_cpu/jax.py": ""},
                     entry_points='[jax_plugins]\nstet = stet_cpu.jax\n\n[torch_xla.plugins]\nstet = stet_cpu.torch_xla:Plugin\n')
        told = self.doctor("--quick", "--no-frameworks")
        self.assertEqual([(os.path.basename(p["path"]), p["found_by"], p["alive"]) for p in told["plugins"]],
                         [("libstet_cpu.so", "jax_plugins, torch_xla.plugins", True)])
        out = subprocess.run([STET, "doctor", "--quick", "--no-frameworks"], capture_output=True, text=True, cwd=self.dir, env=self.env)
        self.assertIn("makes a client (Stet's own CPU backend)", out.stdout)
        self.assertNotIn("without a plugin file", out.stdout)

    # -- plugins that are broken, each in its own way

    def test_a_truncated_file_is_reported(self):
        """Far ahead of its segments' end, and by a byte, with which the loader still could live."""
        cut = os.path.join(self.dir, "cut.so")
        for size in 1 << 14, os.path.getsize(CPU) - 1:
            with open(CPU, "rb") as f, open(cut, "wb") as g:
                g.write(f.read(size))
            self.broken(self.doctor(f"--plugin={cut}"), "cut.so", "file", "failed", "truncated")

    def test_a_file_for_another_machine_is_reported(self):
        other = os.path.join(self.dir, "other.so")
        with open(CPU, "rb") as f:
            data = bytearray(f.read())
        data[18:20] = (183 if data[18] == 62 else 62).to_bytes(2, "little")
        with open(other, "wb") as f:
            f.write(data)
        self.broken(self.doctor(f"--plugin={other}"), "other.so", "file", "failed", "not for this machine")

    def test_a_text_file_or_an_empty_one_is_reported(self):
        for content, words in ((b"#!/bin/sh\n", "not an ELF"), (b"", "empty")):
            path = os.path.join(self.dir, "none.so")
            with open(path, "wb") as f:
                f.write(content)
            self.broken(self.doctor(f"--plugin={path}"), "none.so", "file", "failed", words)

    def test_a_library_that_is_not_a_plugin_is_reported(self):
        with open("/proc/self/maps") as f:
            libc = next(line.split()[-1] for line in f if "/libc.so.6" in line or "/libc-2" in line)
        self.broken(self.doctor(f"--plugin={libc}"), os.path.basename(libc), "load", "failed", "no symbol GetPjrtApi")

    def test_a_plugin_without_a_table_is_reported(self):
        told = self.doctor(f"--plugin={LIB}/libfake_pjrt_null.so")
        self.broken(told, "null.so", "api", "failed", "returned NULL")

    def test_a_table_of_garbage_is_reported(self):
        told = self.doctor(f"--plugin={LIB}/libfake_pjrt_garbage.so")
        self.broken(told, "garbage.so", "api", "failed", "not valid")

    def test_another_major_version_is_reported(self):
        told = self.doctor(f"--plugin={LIB}/libfake_pjrt_1_0.so")
        self.broken(told, "1_0.so", "api", "failed", "API 1.116 cannot be used")
        self.assertIn("plugin-api-too-old", self.rows(told))

    def test_a_version_older_than_anything_can_use_is_reported(self):
        told = self.doctor(f"--plugin={LIB}/libfake_pjrt_0_28.so")
        self.broken(told, "0_28.so", "api", "failed", "API 0.28 cannot be used")
        self.assertIn("plugin-api-too-old", self.rows(told))

    def test_the_one_version_with_another_order_is_reported(self):
        told = self.doctor(f"--plugin={LIB}/libfake_pjrt_0_56.so")
        self.broken(told, "0_56.so", "api", "failed", "0.56")
        self.assertIn("plugin-api-0-56", self.rows(told))

    def test_functions_that_frameworks_need_are_reported_if_missing(self):
        told = self.doctor(f"--plugin={LIB}/libfake_pjrt_holes.so")
        self.broken(told, "holes.so", "api", "failed", "PJRT_Plugin_Attributes, PJRT_Event_Await")

    def test_a_plugin_that_makes_no_client_is_reported(self):
        told = self.doctor(f"--plugin={FAKE}", FAKE_FAIL="PJRT_Client_Create=14")
        self.broken(told, "pjrt.so", "client", "failed", "UNAVAILABLE: PJRT_Client_Create told to fail")

    def test_a_client_that_never_comes_is_reported(self):
        told = self.doctor(f"--plugin={FAKE}", deadline="10", FAKE_HANG="PJRT_Client_Create")
        self.broken(told, "pjrt.so", "client", "hung", "did not answer within 10 s")

    def test_a_compiler_that_crashes_is_reported(self):
        told = self.doctor(f"--plugin={FAKE}", FAKE_CRASH="PJRT_Client_Compile")
        p = self.broken(told, "pjrt.so", "compile", "crashed", "SIGABRT")
        self.assertIn("Check failed: PJRT_Client_Compile", p["said"])

    def test_a_plugin_that_computes_wrong_numbers_is_reported(self):
        told = self.doctor(f"--plugin={FAKE}", FAKE_PARAMS="f32[4]", FAKE_OUTPUTS="f32[4]")
        self.broken(told, "pjrt.so", "execute", "failed", "wrong numbers")

    def test_a_device_that_does_not_report_its_memory_is_reported(self):
        told = self.doctor(f"--plugin={FAKE}", "--quick", FAKE_FAIL="PJRT_Device_MemoryStats=12")
        step = next(s for s in told["plugins"][0]["steps"] if s["step"] == "memory")
        self.assertEqual(step["result"], "missing")
        self.assertIn("PJRT_Device_MemoryStats: UNIMPLEMENTED", step["detail"])
        self.assertNotIn("bytes_in_use", told["plugins"][0]["devices"][0])
        self.assertIn("memory-statistics-missing", self.rows(told))

    def test_a_path_that_leads_nowhere_is_reported(self):
        told = self.doctor(TPU_LIBRARY_PATH="/no/such/libtpu.so")
        self.broken(told, "libtpu.so", "file", "failed", "no such file")
        self.assertIn("tpu-library-path-missing", self.rows(told))

    def test_a_cache_that_is_written_and_never_read_back_is_reported(self):
        told = self.doctor(f"--plugin={LIB}/libdeaf_pjrt.so")
        p = self.broken(told, "libdeaf_pjrt.so", "reload", "failed", "PJRT_Executable_DeserializeAndLoad")
        self.assertEqual([s["result"] for s in p["steps"]], ["fine"] * 10 + ["failed", "skipped"])
        text = self.stet("doctor", "--no-frameworks", f"--plugin={LIB}/libdeaf_pjrt.so")
        self.assertEqual(text.returncode, 1)
        self.assertIn("INSTALLED, NOT ALIVE", text.stdout)

    # -- the store

    def test_a_store_that_cannot_be_created_is_reported(self):
        blocked = os.path.join(self.dir, "blocked")
        open(blocked, "w").close()
        told = self.doctor(STET_STORE=os.path.join(blocked, "store"))
        self.assertFalse(told["ok"])
        self.assertEqual(self.check(told, "store")["result"], "wrong")
        self.assertIn("cannot be created", self.check(told, "store")["text"])

    def test_a_full_store_is_reported(self):
        def no_room():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
        told = self.doctor(preexec=no_room)
        self.assertFalse(told["ok"])
        self.assertIn("full", self.check(told, "store")["text"])

    @unittest.skipUnless(os.environ.get("INJECTION") == "ON", "the build reads no STET_TEST_ variables")
    def test_a_remote_store_is_reported(self):
        told = self.doctor(STET_TEST_FILESYSTEM="NFS")
        self.assertIn("NFS", self.check(told, "store place")["text"])

    def test_a_store_that_is_off_or_has_bad_entries_is_reported(self):
        told = self.doctor(STET_STORE="off")
        self.assertIn("off", self.check(told, "store")["text"])
        folder = os.path.join(self.dir, "s")
        os.makedirs(os.path.join(folder, "quarantine"))
        open(os.path.join(folder, "quarantine", "0" * 32 + ".crash-1"), "w").close()
        told = self.doctor(STET_STORE=folder)
        self.assertIn("1 load of", self.check(told, "store quarantine")["text"])

    # -- rows of the matrix

    def expect_row(self, row, *args, **variables):
        told = self.doctor("--no-frameworks", *args, **variables)
        self.assertIn(row, self.rows(told))
        self.assertFalse(told["ok"])

    def test_a_jaxlib_newer_than_jax_is_reported(self):
        self.install("jax", "0.10.1")
        self.install("jaxlib", "0.10.2")
        self.expect_row("jaxlib-newer-than-jax")

    def test_a_jaxlib_older_than_jax_needs_is_reported(self):
        self.install("jax", "0.10.2", {"jax/version.py": "_minimum_jaxlib_version = '0.10.1'\n"})
        self.install("jaxlib", "0.9.9")
        self.expect_row("jaxlib-too-old")

    def test_a_torch_xla_of_another_torch_is_reported(self):
        self.install("torch", "2.8.0+cpu")
        self.install("torch_xla", "2.9.0", requires=["torch"])
        self.expect_row("torch-xla-torch-skew")

    def test_competing_and_remote_caches_are_reported(self):
        self.install("jax", "0.10.2")
        told = self.doctor("--no-frameworks", JAX_COMPILATION_CACHE_DIR="gs://bucket/cache")
        self.assertEqual(self.rows(told), ["jax-cache-threshold", "jax-cache-path-in-key", "jax-cache-remote"])
        self.install("torch_xla", "2.9.0", requires=["torch"])
        self.expect_row("torch-xla-cache-never-read", XLA_PERSISTENT_CACHE_PATH="/tmp/x")

    def test_debug_switches_left_on_are_reported(self):
        told = self.doctor(XLA_IR_DEBUG="1", JAX_DEBUG_NANS="true", XLA_FLAGS="--xla_dump_to=/tmp/d",
                           TF_CPP_VMODULE="a=3", XLA_USE_BF16="1")
        self.assertEqual(self.rows(told), ["dump-left-on", "torch-xla-debug-left-on", "jax-debug-left-on",
                                           "verbose-logs-left-on", "xla-use-bf16"])

    def test_flags_in_the_wrong_place_are_reported(self):
        self.expect_row("tpu-flags-in-xla-flags", XLA_FLAGS="--xla_tpu_enable_x=true")
        self.expect_row("autotuning-off", XLA_FLAGS="--xla_gpu_autotune_level=0")
        self.expect_row("tpu-flags-without-libtpu", LIBTPU_INIT_ARGS="--xla_tpu_a=1")

    def test_torch_compile_stacked_on_xla_is_reported(self):
        self.install("torch", "2.9.0")
        self.install("torch_xla", "2.9.0", requires=["torch"])
        self.expect_row("torch-compile-on-xla", PJRT_DEVICE="TPU", ACCELERATE_DYNAMO_BACKEND="INDUCTOR")

    def test_a_framework_that_does_not_import_is_reported(self):
        self.install("jax", "0.10.2", {"jax/__init__.py": "raise RuntimeError('broken on purpose')\n"})
        told = self.doctor()
        self.assertEqual(self.check(told, "jax")["result"], "wrong")
        self.assertIn("broken on purpose", self.check(told, "jax")["text"])
        self.assertFalse(told["ok"])

    def test_a_sound_environment_matches_no_row(self):
        self.install("jax", "0.10.2", {"jax/version.py": "_minimum_jaxlib_version = '0.10.1'\n"})
        self.install("jaxlib", "0.10.2")
        self.install("numpy", "2.4.6")
        self.install("torch", "2.9.0+cu128")
        self.install("torch_xla", "2.9.0", requires=["torch"])
        told = self.doctor("--no-frameworks", XLA_FLAGS="--xla_gpu_autotune_level=4", JAX_ENABLE_X64="1",
                           ACCELERATE_DYNAMO_BACKEND="NO", PJRT_NAMES_AND_LIBRARY_PATHS=f"stet:{CPU}")
        self.assertEqual(self.rows(told), [])
        self.assertTrue(told["ok"])

    # -- rows of one's own, usage, progress

    def test_user_rows_are_added_and_bad_ones_refused_with_line_and_column(self):
        mine = os.path.join(self.dir, "mine.txt")
        row = ("[our-cluster]\narea = launch\nkind = launch policy\nsymptom = s\nversions = v\n"
               "evidence = e\ndo = d\ndetect = env.JAX_OURS = yes\n")
        with open(mine, "w") as f:
            f.write(row)
        told = self.doctor(f"--matrix={mine}", JAX_OURS="yes")
        self.assertEqual([(r["id"], r["source"]) for r in told["rows"]], [("our-cluster", mine)])
        with open(mine, "w") as f:
            f.write(row.replace("= yes", "= yes and and"))
        out = self.stet("doctor", f"--matrix={mine}")
        self.assertEqual(out.returncode, 3)
        self.assertIn("mine.txt:8:", out.stderr)

    def test_long_checks_print_progress(self):
        out = self.stet("doctor", "--no-frameworks", f"--plugin={FAKE}", "--deadline=10",
                        FAKE_HANG="PJRT_Client_Create")
        self.assertEqual(out.returncode, 1)
        self.assertIn("stet: libfake_pjrt.so: 2 s", out.stderr)
        self.assertIn("INSTALLED, NOT ALIVE", out.stdout)
        self.assertIn("client         hung", out.stdout)

    def test_wrong_arguments_are_refused(self):
        self.assertEqual(self.stet("doctor", "x").returncode, 2)
        self.assertEqual(self.stet("doctor", "--deadline=soon").returncode, 2)
        self.assertEqual(self.stet("doctor", "--help").returncode, 0)
        rows = json.loads(self.stet("doctor", "--rows", "--format=json").stdout)["rows"]
        self.assertGreaterEqual(len(rows), 25)


if __name__ == "__main__":
    unittest.main(verbosity=2)
