"""What every tier over HTTP must do, whatever its server: the classes of test_s3.py, test_gs.py and test_web.py inherit it."""
import json
import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

from hosts import STET
from servers import wait_for


class Conformance:
    """A class gives, in setUp: `server` (a process), `url` (a tier), `keys` (its credentials as variables), `wrong`
    (others that the server rejects), `rejected` (what the agent then shows) and `secrets` (what nothing shows); `atomic` is
    False for a server whose conditional writes are not."""
    atomic = True

    def config(self, name):
        """A user with a key of its own, who trusts nobody else."""
        folder = f"{self.dir}/config-{name}"
        subprocess.run([STET, "cache", "key", "new"], env=dict(os.environ, XDG_CONFIG_HOME=folder), check=True,
                       capture_output=True)
        return dict(self.keys, STET_TRUST="", XDG_CONFIG_HOME=folder)

    def share(self, host, program):
        self.assertEqual(host.make(program)[:4], "LEAD")
        self.assertTrue(host.shared())

    def tier_of(self, host):
        return host.status()["tiers"][0]

    def test_what_one_host_shares_another_finds_and_a_miss_is_not_an_error(self):
        a, b = self.host(self.url, **self.keys), self.host(self.url, **self.keys)
        for p in self.programs[:3]:
            self.share(a, p)
        tier = self.tier_of(a)
        self.assertEqual((tier["puts"], tier["put_errors"], tier["errors"]), (3, 0, 0), tier)
        for p in self.programs[:3]:
            self.assertEqual(b.ask(p)[:2], ("FOUND", self.url.split(":")[0]))
        self.assertEqual(b.ask(self.programs[5])[0], "LEAD")
        tier = self.tier_of(b)
        self.assertEqual((tier["hits"], tier["misses"], tier["errors"]), (3, 1, 0), tier)

    def test_wrong_credentials_are_rejected_and_no_credentials_are_shown(self):
        good, wrong = self.host(self.url, **self.keys), self.host(self.url, **self.wrong)
        self.share(good, self.programs[0])
        self.assertEqual(wrong.ask(self.programs[0])[0], "LEAD")
        self.assertIn(self.rejected, self.tier_of(wrong)["last_error"])
        self.assertEqual(self.tier_of(wrong)["hits"], 0)
        for host in (good, wrong):
            seen = json.dumps(host.status())
            for path in (host.dir + "/log", f"/proc/{host.process.pid}/cmdline"):
                with open(path) as f:
                    seen += f.read()
            for secret in self.secrets:
                self.assertNotIn(secret, seen)

    def test_the_first_signer_keeps_the_name_and_another_gets_a_slot(self):
        one, two = self.config("one"), self.config("two")
        self.share(self.host(self.url, **one), self.programs[0])
        stranger = self.host(self.url, **two)
        self.share(stranger, self.programs[0])
        self.assertEqual(self.tier_of(stranger)["refused"], {"untrusted": 1})
        for config in (one, two):
            self.assertEqual(self.host(self.url, **config).ask(self.programs[0])[0], "FOUND")

    def test_an_unsigned_entry_is_refused_and_replaced(self):
        self.share(self.host(self.url, XDG_CONFIG_HOME=self.dir + "/none", **self.keys), self.programs[0])
        one = self.config("one")
        signer = self.host(self.url, **one)
        self.share(signer, self.programs[0])
        self.assertEqual(self.tier_of(signer)["refused"], {"unsigned": 1})
        self.assertEqual(self.host(self.url, **one).ask(self.programs[0])[0], "FOUND")

    def test_a_read_only_tier_is_never_written(self):
        a, b = self.host(self.url + "&mode=read-only", **self.keys), self.host(self.url, **self.keys)
        self.share(a, self.programs[0])
        self.assertEqual(self.tier_of(a)["puts"], 0)
        self.assertEqual(b.ask(self.programs[0])[0], "LEAD")

    def test_a_silent_server_is_given_up_and_used_again_when_it_answers(self):
        """The timeout of half a second is the subject: the server is stopped."""
        a = self.host(self.url, **self.keys)
        self.share(a, self.programs[0])
        b = self.host(self.url + "&connect=500ms&timeout=500ms", **self.keys)
        self.server.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.server.process.send_signal, signal.SIGCONT)
        self.assertEqual(b.ask(self.programs[0])[0], "LEAD")
        self.assertEqual(self.tier_of(b)["errors"], 1)
        self.server.process.send_signal(signal.SIGCONT)
        self.assertTrue(wait_for(lambda: b.ask(self.programs[0])[0] == "FOUND", 180), self.tier_of(b))

    def test_a_message_of_a_job_is_written_once_and_is_not_an_entry(self):
        a, b = self.host(self.url, **self.keys), self.host(self.url, **self.keys)
        self.assertEqual(b.message("rank/0"), "NOTHING ")
        self.assertEqual(a.message("rank/0", "first"), "OKAY ")
        self.assertEqual(b.message("rank/0", "second"), "TAKEN ")
        self.assertEqual((a.message("rank/0"), b.message("rank/0")), ("TEXT first", "TEXT first"))
        for host in (a, b):
            tier = self.tier_of(host)
            self.assertEqual((tier["hits"], tier["misses"], tier["puts"], tier["errors"]), (0, 0, 0, 0), tier)
        if not self.atomic:
            return
        with ThreadPoolExecutor(8) as pool:  # of many writers one wins
            answers = list(pool.map(lambda i: (a, b)[i % 2].message("decision", str(i)), range(8)))
        self.assertEqual(sorted(answers), ["OKAY "] + ["TAKEN "] * 7)
        self.assertEqual((a.message("decision"), b.message("decision")), (f"TEXT {answers.index('OKAY ')}",) * 2)

    def test_one_host_compiles_and_the_others_load_it(self):
        """The compile takes longer than a lease, which is signed and renewed."""
        one = self.config("one")
        a, b = (self.host(self.url + "&lease=1s", **one) for _ in range(2))
        slow = self.lead_and_die(a, self.programs[0], 3000)
        self.assertEqual(b.make(self.programs[0]), "FOUND")
        slow.communicate(timeout=60)
        self.assertEqual(([h.status()["led"] for h in (a, b)], b.status()["waited"]), ([1, 0], 1))
        self.assertEqual([self.tier_of(h)["errors"] for h in (a, b)], [0, 0])
        if self.atomic:  # many at the same moment
            self.check_flights(self.fly((a, b), 4, ms=20), 9)

    def test_a_host_that_died_is_waited_for_no_longer_than_its_lease(self):
        """Anyone is trusted; nothing but the lease itself says that it is over."""
        a, b, c = (self.host(self.url + "&lease=1s", **self.keys) for _ in range(3))
        doomed = self.lead_and_die(a, self.programs[0])
        a.process.send_signal(signal.SIGKILL)
        self.assertEqual((b.make(self.programs[0]), b.status()["waited"]), ("LEAD", 1))
        self.assertTrue(b.shared())
        self.assertEqual(c.make(self.programs[0]), "FOUND")
        doomed.kill()
        doomed.wait()

    def test_when_its_compiling_process_dies_a_host_gives_its_lease_up(self):
        a, b = (self.host(self.url + "&lease=600s", **self.keys) for _ in range(2))
        doomed = self.lead_and_die(a, self.programs[0])
        doomed.kill()
        doomed.wait()
        self.assertEqual(b.make(self.programs[0]), "LEAD")  # far sooner than the lease would end

    def test_hosts_that_wait_for_a_compile_that_fails_compile_by_themselves(self):
        a, b = (self.host(self.url + "&lease=600s", **self.keys) for _ in range(2))
        failing = self.lead_and_die(a, self.programs[0], -1000)
        self.assertEqual((b.make(self.programs[0]), b.status()["waited"]), ("ALONE", 1))
        failing.communicate(timeout=60)

    def test_a_host_does_not_wait_for_the_lease_of_one_that_it_does_not_trust(self):
        a, b = (self.host(self.url, **self.config(name)) for name in ("one", "two"))
        doomed = self.lead_and_die(a, self.programs[0])
        self.assertEqual((b.make(self.programs[0]), b.status()["waited"]), ("LEAD", 0))
        self.assertIsNone(doomed.poll())  # the other one still compiles
        doomed.kill()
        doomed.wait()
