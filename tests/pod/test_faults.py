"""Channels of a job that are dead, slow, stuck, full or lying, while differences are printed (warn) and while compiles wait for the
other ranks (fail): the job goes on as without Stet, compiles wait for a bounded time, and both is printed.

usage: test_faults.py BUILD_DIR [TEST…]     POD_LONG=1 in the environment: prints how long compiles waited"""
import os
import sys
import unittest

import faulty
from light_case import BUILD, Case


class Faults(Case):
    def check_unharmed(self, policy, *job, stopped=None, **variables):
        """The job has computed, no difference is called certain, and compiles do not wait, or as long as they may."""
        said, account = self.job(*job, POD_STAY_MS="1500", STET_ON_DIVERGENCE=policy, STET_RANKS_WAIT_MS="1000", **variables)
        comparing = account["comparing"]
        self.assertEqual(self.code, 0, self.stderr)
        self.assertEqual([len(r["compile_ms"]) for r in said], [4] * 3)
        self.assertEqual([d for d in account["divergences"] if d["certain"]], [])
        if policy == "warn":
            self.assertEqual(comparing["waited_s"], 0)
        if comparing["waited_s"] >= 0.1:
            self.assertRegex(self.stderr, r"compiles waited [\d.]+ m?s for other ranks")
        if stopped is not None:
            self.assertEqual(comparing["stopped"], stopped, comparing)
        if stopped:
            self.assertIn("3 of 3 processes did not compare compiles with other ranks to the end (rank ", self.stderr)
            self.assertIn(comparing["why"], self.stderr)
        if "POD_LONG" in os.environ:
            print(f"\n{self.id().rsplit('.')[-1]}: {' '.join(job[:1])} {policy}: waited {comparing['waited_s']:.1f} s; {comparing['why']}",
                  end="", flush=True)
        return comparing

    def test_a_faulty_store_changes_nothing_but_is_printed(self):
        for store, why in (("dead", "the job's key-value store does not answer"), ("slow", "every call of the channel failed or took"),
                           ("hang", "a call of the channel did not return"), ("lie", "other values than were written"),
                           ("huge", "a value is too large")):
            for policy in ("warn", "fail"):
                with self.subTest(store=store, policy=policy):
                    comparing = self.check_unharmed(policy, store, 3, 4, stopped=3)
                    if (store, policy) != ("slow", "fail"):  # there the vote's thread may be the one that does not return
                        self.assertIn(why, comparing["why"])

    def test_without_a_store_the_runs_folder_is_used(self):
        comparing = self.check_unharmed("warn", "none", 3, 4, stopped=0)
        self.assertEqual(comparing["channel"], "folder")

    def test_a_faulty_agent_changes_nothing_but_is_printed(self):
        for how in ("dead", "stuck", "lie"):
            path = f"{self.dir}/{how}"
            listener = faulty.agent(path, how)
            for policy in ("warn", "fail"):
                with self.subTest(how=how, policy=policy):
                    self.check_unharmed(policy, "none", 3, 4, stopped=3, STET_RANKS_CHANNEL="agent", STET_AGENT=path)
            if listener:
                listener.close()

    def test_a_faulty_folder_changes_nothing(self):
        """Messages that vanish are as if they were never written; others are counted."""
        for how in ("dead", "lie"):
            for policy in ("warn", "fail"):
                with self.subTest(how=how, policy=policy):
                    fault = faulty.Folder(f"{self.dir}/{how}{policy}", how)
                    try:
                        comparing = self.check_unharmed(policy, "none", 3, 4, STET_RANKS_CHANNEL="folder", STET_RANKS_DIR=fault.folder)
                    finally:
                        fault.stop()
                    self.assertEqual(comparing["channel"], "folder")
                    self.assertGreater(fault.count, 0)

    def test_a_folder_on_a_slow_or_full_disk_changes_nothing_but_is_printed(self):
        for how, why in (("slow", ""), ("full", "No space left on device")):
            for policy in ("warn", "fail"):
                with self.subTest(how=how, policy=policy):
                    share = f"{self.dir}/{how}{policy}"
                    comparing = self.check_unharmed(policy, "none", 3, 4, stopped=3, STET_RANKS_CHANNEL="folder", STET_RANKS_DIR=share,
                                                    FAULTY_FOLDER=f"{how}:{share}", LD_PRELOAD=BUILD + "/lib/libfaulty_folder.so")
                    self.assertIn(why, comparing["why"])

    def test_a_folder_that_cannot_be_made_is_replaced_by_the_runs_own(self):
        comparing = self.check_unharmed("warn", "none", 3, 4, stopped=0, STET_RANKS_CHANNEL="folder", STET_RANKS_DIR="/dev/null/share")
        self.assertEqual(comparing["channel"], "folder")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings="ignore")
