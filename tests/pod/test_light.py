"""Ranks over the fake plugin: jobs of many processes, and channels that are dead, slow, stuck or lying.

usage: test_light.py BUILD_DIR [TEST…]     POD_RANKS=512 in the environment: so many processes, and a table of what they cost"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import faulty

HERE = pathlib.Path(__file__).resolve().parent
BUILD = os.path.abspath(sys.argv[1])
RANKS = int(os.environ.get("POD_RANKS", "12"))


class Light(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="stet-pod-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("STET_", "JAX_", "POD_"))}
        self.env.update(STET_STATE_DIR=self.dir + "/state", HOME=self.dir)

    def job(self, store, ranks, count, *odd, **variables):
        """Returns what each rank printed, and the account of the run."""
        command = [BUILD + "/bin/stet", "run", "--no-store", "--", sys.executable, HERE / "light.py", BUILD + "/bin/pod_rank",
                   BUILD + "/lib/libfake_pjrt.so", store, str(ranks), str(count), *odd]
        done = subprocess.run(command, env=dict(self.env, **variables), capture_output=True, text=True, cwd=self.dir)
        self.stderr = done.stderr
        explained = subprocess.run([BUILD + "/bin/stet", "explain", "--format=json"], env=self.env, capture_output=True, text=True,
                                   cwd=self.dir)
        self.assertIn(explained.returncode, (0, 1), explained.stderr)
        account = json.loads(explained.stdout)
        self.code, self.explained = done.returncode, explained.returncode
        return [json.loads(line) for line in done.stdout.splitlines()], account

    def test_ranks_that_agree_exchange_few_messages(self):
        said, account = self.job("serve", RANKS, 8, POD_STAY_MS="2000")
        self.assertEqual(self.code, 0, self.stderr)
        self.assertEqual((account["divergences"], account["comparing"]["stopped"]), ([], 0), account["comparing"])
        self.assertEqual((account["comparing"]["processes"], account["comparing"]["channel"]), (RANKS, "kv"))
        self.assertGreater(account["comparing"]["compiles"], RANKS)
        self.assertEqual(account["comparing"]["waited_s"], 0)  # compiles do not wait
        served, ranks = said[-1], said[:-1]
        self.assertLess(served["puts"] + served["gets"], 40 * RANKS)  # not with its square
        if "POD_RANKS" in os.environ:
            worst = max(max(r["compile_ms"]) for r in ranks)
            print(f"\n{RANKS} processes, 8 programs: {served['puts']} writes and {served['gets']} reads of the store, "
                  f"{served['bytes'] / 1024:.0f} KB; at most {account['comparing']['cpu_s'] * 1e3 / 8:.2f} ms of processor time a "
                  f"program in one rank; longest compile {worst:.1f} ms; store {served['cpu_ms']:.0f} ms in all")

    def test_the_rank_that_differs_is_named_among_many(self):
        _, account = self.job("serve", RANKS, 8, "5", POD_STAY_MS="3000")
        d = account["divergences"][0]
        self.assertEqual((d["finding"], d["rank"], d["other"], d["certain"]), ("differs", RANKS - 1, 0, True), d)
        self.assertEqual(d["class"], "baked-constant")
        self.assertEqual([(c["from"], c["to"]) for c in d["changes"]], [("5.5", "5.75")])
        self.assertTrue(d["odd_known"])
        self.assertEqual((self.explained, len(account["divergences"])), (1, 1))

    def test_a_faulty_channel_changes_nothing_but_is_printed(self):
        for store in ("dead", "slow", "hang", "lie", "none"):
            with self.subTest(store):
                said, account = self.job(store, 3, 4, POD_STAY_MS="1500")
                self.assertEqual(self.code, 0, self.stderr)
                self.assertEqual([len(r["compile_ms"]) for r in said], [4, 4, 4])
                self.assertEqual([d for d in account["divergences"] if d["certain"]], [])
                self.assertEqual(account["comparing"]["waited_s"], 0)
                if store in ("dead", "slow", "hang"):
                    self.assertEqual(account["comparing"]["stopped"], 3, account["comparing"])
                    self.assertIn("3 of 3 processes did not compare compiles with other ranks to the end (rank ", self.stderr)

    def check_unharmed(self, said, account):
        """The job has computed, and no difference is called certain."""
        self.assertEqual(self.code, 0, self.stderr)
        self.assertEqual([len(r["compile_ms"]) for r in said], [4, 4, 4])
        self.assertEqual([d for d in account["divergences"] if d["certain"]], [])
        self.assertEqual(account["comparing"]["waited_s"], 0)

    def test_a_faulty_agent_changes_nothing_but_is_printed(self):
        for how in ("dead", "stuck", "lie"):
            with self.subTest(how):
                path = f"{self.dir}/{how}"
                listener = faulty.agent(path, how)
                said, account = self.job("none", 3, 4, STET_RANKS_CHANNEL="agent", STET_AGENT=path, POD_STAY_MS="1500")
                self.check_unharmed(said, account)
                self.assertEqual(account["comparing"]["stopped"], 3)
                self.assertIn("3 of 3 processes did not compare compiles with other ranks to the end (rank ", self.stderr)
                if listener:
                    listener.close()

    def test_a_faulty_folder_changes_nothing(self):
        for how in ("dead", "lie"):
            with self.subTest(how):
                fault = faulty.Folder(f"{self.dir}/{how}", how)
                said, account = self.job("none", 3, 4, STET_RANKS_CHANNEL="folder", STET_RANKS_DIR=fault.folder, POD_STAY_MS="1500")
                fault.stop()
                self.check_unharmed(said, account)
                self.assertEqual(account["comparing"]["channel"], "folder")
                self.assertGreater(fault.count, 0)

    def test_a_folder_that_cannot_be_made_is_replaced_by_the_runs_own(self):
        said, account = self.job("none", 3, 4, STET_RANKS_CHANNEL="folder", STET_RANKS_DIR="/dev/null/share", POD_STAY_MS="1500")
        self.check_unharmed(said, account)
        self.assertEqual((account["comparing"]["channel"], account["comparing"]["stopped"]), ("folder", 0))

    def test_compiles_that_must_agree_wait_a_bounded_time(self):
        """The job goes on without an answer, and the delay is printed."""
        for store in ("dead", "hang", "lie"):
            with self.subTest(store):
                said, account = self.job(store, 2, 2, STET_ON_DIVERGENCE="fail", STET_RANKS_WAIT_MS="500")
                self.assertEqual(self.code, 0, self.stderr)
                self.assertEqual([len(r["compile_ms"]) for r in said], [2, 2])

    def test_a_compile_that_differs_is_refused_everywhere(self):
        said, account = self.job("serve", 4, 8, "3", STET_ON_DIVERGENCE="fail")
        self.assertNotEqual(self.code, 0)
        self.assertEqual([r.get("failed") for r in said[:-1]], [3] * 4, said)
        self.assertIn("do not compile the same step", said[0]["why"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings="ignore")
