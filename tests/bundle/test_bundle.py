"""Facts about `stet bundle`, over staged packages.

usage: test_bundle.py BUILD_DIR [unittest arguments]
"""

import json
import os
import unittest

from stage import CPU, FAKE, Staged


class Bundle(Staged):
    def record(self, *args, **variables):
        out = self.stet("bundle", "record", *args, **variables)
        self.assertEqual(out.returncode, 0, out.stderr)
        return json.loads(out.stdout)

    def save(self, name, **variables):
        path = os.path.join(self.dir, name)
        out = self.stet("bundle", "record", f"--output={path}", **variables)
        self.assertEqual(out.returncode, 0, out.stderr)
        return path

    def test_packages_are_grouped_by_what_they_do(self):
        self.install("jax", "0.10.2", {"jax/version.py": "_git_hash: str = 'abc123'\n_git_hash_x = 'no'\n"})
        self.install("Flax-Like", "1.0", requires=["jax>=0.4 ; extra == 'x'"])
        self.install("equinox", "0.13.8", requires=["jax!=0.7.0,!=0.7.1,>=0.4.38"],
                     headers="License: Apache License\n        \n        with lines that hold blanks alone\n")
        self.install("libtpu", "0.0.51")
        self.install("tqdm", "4.0", requires=["jaxtyping"])
        self.install("mine", "2.0+gdeadbee.dirty", requires=["torch"])
        b = self.record()
        self.assertEqual(b["schema"], "stet.bundle/1")
        self.assertEqual(b["package"]["jax"], "0.10.2")
        self.assertEqual(b["package"]["flax_like"], "1.0")
        self.assertEqual(b["package"]["equinox"], "0.13.8")
        self.assertEqual(b["compiler"]["libtpu"], "0.0.51")
        self.assertEqual(b["other"]["tqdm"], "4.0")
        self.assertEqual(b["commit"]["jax"], "abc123")
        self.assertEqual(b["commit"]["mine"], "gdeadbee.dirty")
        self.assertRegex(b["python"]["version"], r"^3\.\d+\.\d+")
        self.assertIn("kernel", b["system"])
        self.assertIn("glibc", b["system"])

    def test_the_first_on_the_path_is_the_one_that_counts(self):
        self.install("jax", "0.10.2")
        second = os.path.join(self.dir, "second")
        os.makedirs(os.path.join(second, "jax-9.9.dist-info"))
        with open(os.path.join(second, "jax-9.9.dist-info", "METADATA"), "w") as f:
            f.write("Name: jax\nVersion: 9.9\n")
        b = self.record(PYTHONPATH=self.site + os.pathsep + second)
        self.assertEqual(b["package"]["jax"], "0.10.2")

    def test_local_changes_are_reported(self):
        self.install("jax", "0.10.2", {"jax/core.py": "a = 1\n"})
        with open(os.path.join(self.site, "jax/core.py"), "a") as f:
            f.write("a = 2  # a quick fix\n")
        self.install("torch", "2.9.0", extra={"direct_url.json": '{"url":"x","dir_info":{"editable": true}}'})
        self.install("flax", "1", requires=["jax"],
                     extra={"direct_url.json": '{"vcs_info":{"vcs":"git","commit_id":"0123abcd"}}'})
        b = self.record()
        self.assertIn("1 file whose size differs from its RECORD: jax/core.py", b["patch"]["jax"])
        self.assertIn("editable", b["patch"]["torch"])
        self.assertEqual(b["commit"]["flax"], "0123abcd")

    def test_a_wheel_of_the_same_version_and_other_content_is_another(self):
        self.install("jax", "0.10.2", {"jax/core.py": "a = 1\n"})
        a = self.save("a.json")
        self.install("jax", "0.10.2.dev1", {"jax/core.py": "a = 2\n"})
        os.rename(os.path.join(self.site, "jax-0.10.2.dist-info"), os.path.join(self.dir, "old"))
        info = os.path.join(self.site, "jax-0.10.2.dev1.dist-info", "METADATA")
        with open(info) as f:
            text = f.read()
        with open(info, "w") as f:
            f.write(text.replace("0.10.2.dev1", "0.10.2"))
        out = self.stet("bundle", "check", a)
        self.assertEqual(out.returncode, 1, out.stdout)
        self.assertIn("can change a program\n  wheel jax:", out.stdout)
        self.assertNotIn("package jax", out.stdout)

    def test_check_lists_what_changed_by_severity(self):
        self.install("jax", "0.10.2")
        good = self.save("good.json", XLA_FLAGS="--xla_a=1 --xla_b")
        out = self.stet("bundle", "check", good, XLA_FLAGS="--xla_b  --xla_a=1")
        self.assertEqual(out.returncode, 0, out.stdout)  # another order of the same flags
        out = self.stet("bundle", "check", good, XLA_FLAGS="--xla_a=2 --xla_b")
        self.assertEqual(out.returncode, 1)
        self.assertIn("can change what is compiled, or its cache key\n  flag xla_a: 1 -> 2", out.stdout)
        out = self.stet("bundle", "check", good, "--format=json", XLA_FLAGS="--xla_a=1 --xla_b",
                        JAX_ENABLE_X64="1", TF_CPP_MIN_LOG_LEVEL="2")
        told = json.loads(out.stdout)
        self.assertEqual((out.returncode, told["schema"], told["ok"]), (1, "stet.bundlecheck/1", False))
        self.assertEqual([(c["effect"], c["name"], c["from"]) for c in told["changes"]],
                         [("program", "JAX_ENABLE_X64", None), ("nothing", "TF_CPP_MIN_LOG_LEVEL", None)])
        quiet = self.stet("bundle", "check", good, XLA_FLAGS="--xla_a=1 --xla_b", TF_CPP_MIN_LOG_LEVEL="2")
        self.assertEqual(quiet.returncode, 0, quiet.stdout)
        strict = self.stet("bundle", "check", "--strict", good, XLA_FLAGS="--xla_a=1 --xla_b",
                           TF_CPP_MIN_LOG_LEVEL="2")
        self.assertEqual(strict.returncode, 1)

    def test_no_planted_secret_comes_out(self):
        secrets = {
            "JAX_AUTH_TOKEN": "planted-1",
            "TPU_URL": "https://user:planted-2@host/x?token=planted-3&a=1",
            "XLA_FLAGS": "--xla_a=1 --api_key=planted-4",
            "TORCH_HUB": "hf_planted5abcdefghijk",
            "NCCL_PASSWORD": "planted-6",
            "AWS_SECRET_ACCESS_KEY": "planted-7",
            "PJRT_X": "a=ghp_planted8abcdefghijk",
        }
        for command in ("record", "show"):
            out = self.stet("bundle", command, **secrets)
            self.assertEqual(out.returncode, 0, out.stderr)
            self.assertNotIn("planted", out.stdout)
            self.assertNotIn("AWS_SECRET", out.stdout)
            self.assertIn("xla_a", out.stdout)

    def test_plugins_are_listed_with_build_and_versions(self):
        b = self.record("--client", PJRT_NAMES_AND_LIBRARY_PATHS=f"stet:{CPU}")
        self.assertRegex(b["plugin"]["libstet_cpu.so"], "^build id [0-9a-f]+$")
        self.assertEqual(b["plugin"]["libstet_cpu.so api"], "0.116")
        self.assertRegex(b["plugin"]["libstet_cpu.so stablehlo"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(b["plugin"]["libstet_cpu.so found by"], "PJRT_NAMES_AND_LIBRARY_PATHS")
        self.assertEqual(b["topology"]["libstet_cpu.so devices"], "1 x Stet CPU")

    def test_a_plugin_that_hangs_costs_its_deadline_and_no_more(self):
        out = self.stet("bundle", "record", "--client", "--deadline=10", f"--plugin={FAKE}",
                        FAKE_HANG="PJRT_Client_Create")
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertEqual(json.loads(out.stdout)["plugin"]["libfake_pjrt.so api"], "0.116")

    @unittest.skipIf(os.environ.get("SANITIZED"), "a sanitized layer can't be loaded into ordinary programs")
    def test_every_run_is_recorded_with_what_its_journals_add(self):
        self.install("jax", "0.10.2")
        harness = os.path.join(os.path.dirname(os.path.dirname(CPU)), "bin", "pjrt_harness")
        out = self.stet("run", "--quiet", "--", harness, FAKE)
        self.assertEqual(out.returncode, 0, out.stderr)
        out = self.stet("bundle", "show", "latest", "--format=json")
        self.assertEqual(out.returncode, 0, out.stderr)
        b = json.loads(out.stdout)
        self.assertEqual(b["package"]["jax"], "0.10.2")
        self.assertEqual(b["plugin"]["libfake_pjrt.so api"], "0.116")
        self.assertIn("libfake_pjrt.so devices", b["topology"])
        self.assertNotIn("STET_DIR", b.get("env", {}))
        same = self.stet("bundle", "diff", "latest", "latest")
        self.assertEqual((same.returncode, same.stdout), (0, "the same\n"))

    def test_usage_errors_and_bad_files_have_different_exit_codes(self):
        bad = os.path.join(self.dir, "bad.json")
        with open(bad, "w") as f:
            f.write('{"schema":"stet.bundle/1",\n "env": nonsense}')
        out = self.stet("bundle", "check", bad)
        self.assertEqual(out.returncode, 3)
        self.assertIn("bad.json:2:", out.stderr)
        gone = self.stet("bundle", "check", os.path.join(self.dir, "gone.json"))
        self.assertEqual(gone.returncode, 3)
        self.assertIn("gone.json: No such file or directory", gone.stderr)
        self.assertEqual(self.stet("bundle", "check").returncode, 2)
        self.assertEqual(self.stet("bundle", "frobnicate").returncode, 2)
        self.assertEqual(self.stet("bundle", "record", "--python=/no/python").returncode, 2)
        self.assertEqual(self.stet("bundle", "--help").returncode, 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
