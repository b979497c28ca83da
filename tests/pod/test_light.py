"""Ranks over the fake plugin: jobs of many processes, ranks that differ, and ranks that are killed.

usage: test_light.py BUILD_DIR [TEST…]     POD_RANKS=512 in the environment: so many processes, and a table of what they cost"""
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import unittest

from light_case import BUILD, HERE, Case, wait_for

RANKS = int(os.environ.get("POD_RANKS", "12"))


class Light(Case):
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
        self.assertIn("stet: 1 difference between ranks; `stet explain` prints it first\n", self.stderr)
        self.check_report(d)
        self.check_diff()

    def test_a_process_of_an_earlier_launch_is_not_heard(self):
        """The store of both has one address, as a coordinator's may have; straggler.py."""
        done = subprocess.run([BUILD + "/bin/stet", "run", "--no-store", "--", sys.executable, HERE / "straggler.py",
                               BUILD + "/bin/pod_rank", BUILD + "/lib/libfake_pjrt.so"], env=self.env, capture_output=True, text=True)
        self.assertEqual([len(json.loads(line)["compile_ms"]) for line in done.stdout.splitlines()], [2, 2, 2], done.stderr)
        account = json.loads(self.stet("explain", "--format=json").stdout)
        self.assertEqual(account["divergences"], [])
        self.assertEqual((account["comparing"]["processes"], account["comparing"]["channel"]), (4, "kv"), account["comparing"])

    def check_report(self, d):
        """The headline is the difference, with its own fix; its section comes first."""
        self.stet("report", f"--output={self.dir}/page.html")
        page = pathlib.Path(self.dir + "/page.html").read_text()
        head = page[page.index("<h1>"):page.index('<nav class="sections"')]
        self.assertIn(f"Rank {RANKS - 1} compiled a different step than rank 0", head)
        self.assertIn("<b>Fix: </b>" + d["fix"], head)
        self.assertIn("Decide the value on one rank", d["fix"])

    def check_diff(self):
        """Two ranks of a run, as two runs."""
        other, same = self.stet("diff", "@0", f"@{RANKS - 1}"), self.stet("diff", "@0", "@1")
        self.assertIn("constant in multiply  5.5 -> 5.75", other.stdout)
        self.assertIn("nothing changed", same.stdout)
        self.assertEqual((other.returncode, same.returncode), (1, 0))
        self.assertIn("has no rank", self.stet("diff", "@0", f"@{RANKS}").stderr)

    def stet(self, *words):
        return subprocess.run([BUILD + "/bin/stet", *words], env=self.env, capture_output=True, text=True)

    def ranks(self):
        out = self.stet("ranks", "--format=json")
        return json.loads(out.stdout)["ranks"] if out.returncode == 0 else []

    def test_programs_that_have_finished_are_counted(self):
        """A plugin that does not say when something has finished changes nothing: it is not known then."""
        for fail, known in (("", (0, "step3")), ("PJRT_Event_OnReady:1+", (None, None))):
            with self.subTest(fail):
                over, done = f"{self.dir}/over{len(fail)}", []
                job = threading.Thread(target=lambda: done.append(self.job("serve", 3, 4, POD_STAY_UNTIL=over, FAKE_FAIL=fail)))
                job.start()
                seen = wait_for(lambda: [(r["executions"], r["pending_executions"], r["finished_program"]) for r in self.ranks()
                                         if r["rank"] is not None] == [(4, *known)] * 3)
                pathlib.Path(over).touch()
                job.join()
                self.assertTrue(seen, done)
                self.assertEqual([len(r["compile_ms"]) for r in done[0][0][:-1]], [4, 4, 4])

    def test_a_rank_that_is_killed_is_waited_for_once(self):
        """Rank 1 ends without a word before its third program; the others go on, over each channel."""
        for channel in ("kv", "folder"):
            with self.subTest(channel):
                said, account = self.job("serve" if channel == "kv" else "none", 3, 6, POD_DIE="1:2", STET_ON_DIVERGENCE="fail",
                                         STET_RANKS_WAIT_MS="1000", STET_RANKS_CHANNEL=channel, STET_RANKS_DIR=self.dir + "/share")
                alive = [r for r in said if "compile_ms" in r]
                self.assertEqual([len(r["compile_ms"]) for r in alive], [6, 6], self.stderr)
                self.assertEqual([d for d in account["divergences"] if d["certain"]], [])
                self.assertGreater(account["comparing"]["waited_s"], 0)
                # a second wait would be as long as the first
                self.assertEqual([sum(ms >= 900 for ms in r["compile_ms"]) for r in alive], [1, 1], alive)

    def test_ranks_of_other_hosts_are_missing_while_the_agent_is_silent(self):
        """`stet ranks` asks it for them, and goes on without an answer."""
        over, socket_path, done = f"{self.dir}/over", f"{self.dir}/agent", []
        agent = socket.socket(socket.AF_UNIX)
        self.addCleanup(agent.close)
        agent.bind(socket_path)
        agent.listen()
        self.env.update(STET_TIERS="redis://127.0.0.1:1")
        job = threading.Thread(target=lambda: done.append(self.job("none", 2, 1, LIGHT_ONLY="0", POD_STAY_UNTIL=over, STET_AGENT="off",
                                                                   STET_RANKS_CHANNEL="folder", STET_RANKS_DIR=self.dir + "/share")))
        job.start()
        wanted = {0: 1, 1: 0}  # executions
        self.assertTrue(wait_for(lambda: {r["rank"]: r["executions"] for r in self.ranks()} == wanted), done)
        self.env.update(STET_AGENT=socket_path)
        seen = self.ranks()
        pathlib.Path(over).touch()
        job.join()
        self.assertEqual({r["rank"]: r["kind"] == "missing" for r in seen}, {0: False, 1: True}, seen)
        agent.settimeout(60)
        agent.accept()[0].close()  # it was asked

    def late(self, channel, rank, *odd):
        """A rank that votes when the others have given it up and run: what it printed, and the certain differences."""
        said, account = self.job("serve" if channel == "kv" else "none", 3, 3, *odd, LIGHT_LATE=str(rank), STET_ON_DIVERGENCE="fail",
                                 STET_RANKS_WAIT_MS="1000", STET_RANKS_CHANNEL=channel, STET_RANKS_DIR=f"{self.dir}/{channel}")
        others = [r for i, r in enumerate(said[:3]) if i != rank]
        self.assertEqual([len(r.get("compile_ms", [])) for r in others], [3, 3], (said, self.stderr))
        self.assertGreater(account["comparing"]["waited_s"], 0)
        return said[rank], [d for d in account["divergences"] if d["certain"] and d["finding"] == "differs"]

    def test_a_rank_that_votes_late_passes_if_its_programs_are_the_same(self):
        for channel in ("kv", "folder"):
            for rank in (0, 2):  # the one that leads, and one that follows
                with self.subTest(channel=channel, rank=rank):
                    own, found = self.late(channel, rank)
                    self.assertEqual((len(own.get("compile_ms", [])), found, self.code), (3, [], 0), own)

    def test_a_rank_that_votes_late_is_refused_if_its_program_differs(self):
        for channel in ("kv", "folder"):
            for rank in (0, 2):
                with self.subTest(channel=channel, rank=rank):
                    own, found = self.late(channel, rank, "2")
                    self.assertEqual((own.get("failed"), self.code), (2, 1), (own, self.stderr))
                    self.assertIn("differ", own["why"])
                    self.assertEqual([(c["from"], c["to"]) for c in found[0]["changes"]],
                                     [("2.5", "2.75") if found[0]["rank"] == rank else ("2.75", "2.5")], found)

    def test_a_compile_that_differs_is_refused_everywhere(self):
        said, account = self.job("serve", 4, 8, "3", STET_ON_DIVERGENCE="fail")
        self.assertNotEqual(self.code, 0)
        self.assertEqual([r.get("failed") for r in said[:-1]], [3] * 4, said)
        self.assertIn("do not compile the same step", said[0]["why"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings="ignore")
