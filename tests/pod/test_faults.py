"""Channels of a job that are dead, slow, stuck, full or lying, while differences are printed (warn) and while compiles wait for the
other ranks (fail): the job goes on as without Stet, compiles wait for a bounded time, and both is printed.

usage: test_faults.py BUILD_DIR [TEST…]     POD_LONG=1 in the environment: prints how long compiles waited"""
import os
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor

import faulty
from light_case import BUILD, Case

POLICIES = ("warn", "fail")


class Faults(Case):
    def check_unharmed(self, fault, policy, stopped, why, store="none", **variables):
        """The job has computed, no difference is called certain, and compiles do not wait, or as long as they may."""
        done, _, said, account = self.run_job(store, 3, 4, POD_STAY_MS="1500", STET_ON_DIVERGENCE=policy, STET_RANKS_WAIT_MS="1000",
                                              STET_STATE_DIR=tempfile.mkdtemp(dir=self.dir), **variables)
        comparing = account["comparing"]
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([len(r["compile_ms"]) for r in said], [4] * 3)
        self.assertEqual([d for d in account["divergences"] if d["certain"]], [])
        if policy == "warn":
            self.assertEqual(comparing["waited_s"], 0)
        if comparing["waited_s"] >= 0.1:
            self.assertRegex(done.stderr, r"compiles waited [\d.]+ m?s for other ranks")
        if stopped is not None:
            self.assertEqual(comparing["stopped"], stopped, comparing)
        if stopped:
            self.assertIn("3 of 3 processes did not compare compiles with other ranks to the end (rank ", done.stderr)
            self.assertIn(comparing["why"], done.stderr)
            self.assertIn(why, comparing["why"])
        if "POD_LONG" in os.environ:
            print(f"\n{fault}, {policy}: waited {comparing['waited_s']:.1f} s; {comparing['why']}", end="", flush=True)
        return comparing

    def each(self, checks):
        """Side by side, since they mostly wait."""
        with ThreadPoolExecutor(6) as pool:
            for words, done in [(c, pool.submit(self.check_unharmed, *c[:-1], **c[-1])) for c in checks]:
                with self.subTest(words[0], policy=words[1]):
                    yield words, done.result()

    def test_a_faulty_store_changes_nothing_but_is_printed(self):
        stores = (("dead", "the job's key-value store does not answer"), ("hang", "a call of the channel did not return"),
                  ("lie", "other values than were written"), ("huge", "a value is too large"), ("slow", ""))
        for _ in self.each([("kv " + s, p, 3, why, dict(store=s)) for s, why in stores for p in POLICIES]):
            pass

    def test_a_faulty_agent_changes_nothing_but_is_printed(self):
        ways = ("dead", "stuck", "lie")
        listeners = [faulty.agent(f"{self.dir}/{how}", how) for how in ways]
        for _ in self.each([("agent " + how, p, 3, "", dict(STET_RANKS_CHANNEL="agent", STET_AGENT=f"{self.dir}/{how}"))
                            for how in ways for p in POLICIES]):
            pass
        for listener in filter(None, listeners):
            listener.close()

    def test_a_faulty_folder_changes_nothing(self):
        """Messages that vanish are as if they were never written; others are counted."""
        faults = {(how, p): faulty.Folder(f"{self.dir}/{how}{p}", how) for how in ("dead", "lie") for p in POLICIES}
        try:
            for words, comparing in self.each([(f"folder {how}", p, None, "", dict(STET_RANKS_CHANNEL="folder", STET_RANKS_DIR=f.folder))
                                               for (how, p), f in faults.items()]):
                self.assertEqual(comparing["channel"], "folder")
        finally:
            for fault in faults.values():
                fault.stop()
        self.assertTrue(all(f.count for f in faults.values()))

    def test_a_folder_on_a_slow_or_full_disk_changes_nothing_but_is_printed(self):
        def variables(how, policy):
            share = f"{self.dir}/{how}{policy}"
            return dict(STET_RANKS_CHANNEL="folder", STET_RANKS_DIR=share, FAULTY_FOLDER=f"{how}:{share}",
                        LD_PRELOAD=BUILD + "/lib/libfaulty_folder.so")

        for _ in self.each([("folder " + how, p, 3, why, variables(how, p))
                            for how, why in (("slow", ""), ("full", "No space left on device")) for p in POLICIES]):
            pass

    def test_without_another_channel_the_runs_folder_is_used(self):
        checks = [("no store", "warn", 0, "", {}),
                  ("a folder that cannot be made", "warn", 0, "", dict(STET_RANKS_CHANNEL="folder", STET_RANKS_DIR="/dev/null/share"))]
        for _, comparing in self.each(checks):
            self.assertEqual(comparing["channel"], "folder")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings="ignore")
