"""The http tier with a server that honours the conditions of writes, and with the same server when it does not, is slow or
keeps leases that nobody can use."""
import os
import shutil
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from conformance import Conformance
from hosts import Case
from servers import Web, wait_for

TOKEN = "0123456789abcdef" * 2


class Tier(Case):
    """One server for the tests of a class; each has its own folder there."""
    keys = {"STET_HTTP_USER": "stet", "STET_HTTP_PASSWORD": "webSecret66"}

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="stet-web-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.server = Web(cls.folder)
        cls.addClassCleanup(cls.server.stop)

    def host(self, *tiers, **env):
        return super().host(*tiers, **{**self.keys, **env})

    def setUp(self):
        super().setUp()
        self.path = "/" + self._testMethodName
        self.url = f"http://127.0.0.1:{self.server.port}{self.path}?layout=folders"
        self.server.control(reset=True, honours=True, refuses=0, removes=True, weak=False, delay=0, together=0)

    def lease(self, program):
        key = self.key(program)
        return f"{self.path}/leases/{key[:2]}/{key}.stet"

    def counts(self):
        return self.server.control()["counts"]


class Honours(Conformance, Tier):
    rejected = "401"
    wrong = dict(Tier.keys, STET_HTTP_PASSWORD="notTheSecret")
    secrets = ("webSecret66", "notTheSecret")


class Leases(Tier):
    def both(self, program):
        """Two hosts make it at the same moment; how many compiled it."""
        hosts = [self.host(self.url) for _ in range(2)]
        threads = [threading.Thread(target=h.make, args=(program,)) for h in hosts]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual([h.status()["tiers"][0]["errors"] for h in hosts], [0, 0])
        return sum(h.status()["led"] for h in hosts)

    def test_of_hosts_that_claim_at_the_same_moment_one_compiles(self):
        self.server.control(together=2)
        self.assertEqual(self.both(self.programs[0]), 1)
        self.assertGreaterEqual(self.counts()["PUT lease"], 2)

    def test_a_server_that_grants_the_lease_to_both_costs_a_compile_and_nothing_else(self):
        self.server.control(together=2, honours=False)
        self.assertIn(self.both(self.programs[0]), (1, 2))
        self.assertEqual(self.host(self.url).ask(self.programs[0])[0], "FOUND")

    def test_a_server_with_weak_tags_has_leases_that_are_renewed_and_given_up(self):
        """Conditions on such tags never hold, so they are not made."""
        self.server.control(weak=True)
        a, b = (self.host(self.url + "&lease=1s") for _ in range(2))
        slow = self.lead_and_die(a, self.programs[0], 3000)
        self.assertEqual(b.make(self.programs[0]), "FOUND")
        slow.communicate(timeout=60)
        self.assertTrue(a.shared())
        self.assertTrue(wait_for(lambda: self.lease(self.programs[0]) not in self.server.control()["files"]))

    def test_a_server_that_refuses_leases_is_asked_once(self):
        for status in (501, 400, 403):
            self.server.control(reset=True, refuses=status)
            a = self.host(self.url)
            for p in self.programs[:4]:
                self.assertEqual(a.ask(p)[0], "LEAD")
            self.assertEqual(self.counts()["PUT lease"], 1)
            self.assertEqual(a.status()["tiers"][0]["errors"], 0)

    def test_a_server_that_removes_nothing_keeps_leases_that_are_over(self):
        self.server.control(removes=False)
        a, b = self.host(self.url), self.host(self.url)
        doomed = self.lead_and_die(a, self.programs[0])
        doomed.kill()
        doomed.wait()
        self.assertTrue(wait_for(lambda: self.server.control()["files"][self.lease(self.programs[0])].endswith(".0")))
        self.assertEqual((b.make(self.programs[0]), b.status()["waited"]), ("LEAD", 0))

    def test_a_lease_that_is_no_lease_is_replaced(self):
        now = int(time.time() * 1000)
        for n, (text, times) in enumerate((("hello", 1), ("\x00\xff\n", 1), ("x", 10**7), ("", 1), (TOKEN, 1), (TOKEN + ".", 1),
                                           (f"{TOKEN}.{now - 3600000}", 1), (f"{TOKEN}.{now + 86400000}", 1),
                                           (f"{TOKEN}.-1", 1), (f"{TOKEN}.18446744073709551615", 1))):
            program = self.programs[n]
            self.server.control(files={self.lease(program): text}, times=times)
            a = self.host(self.url)
            self.assertEqual((a.make(program), a.status()["waited"]), ("LEAD", 0), text)
            self.assertTrue(a.shared())
            self.assertNotIn(self.lease(program), self.server.control()["files"])
            self.assertEqual(a.status()["tiers"][0]["put_errors"], 0)
            a.stop()

    def test_a_lease_from_a_clock_that_is_off_makes_no_host_wait_longer_than_a_lease(self):
        """Within the 30 seconds that clocks may differ a lease is waited for, but one that does not change only as long as a
        lease lasts."""
        for n, off in enumerate((-20000, 20000)):
            program = self.programs[n]
            self.server.control(files={self.lease(program): f"{TOKEN}.{int(time.time() * 1000) + off}"})
            a = self.host(self.url + "&lease=1s")
            self.assertEqual((a.make(program), a.status()["waited"]), ("LEAD", 1))

    def test_an_unsigned_lease_is_not_waited_for_where_keys_are_trusted(self):
        self.server.control(files={self.lease(self.programs[0]): f"{TOKEN}.{int(time.time() * 1000) + 5000}"})
        a = self.host(self.url, **self.keyed("one")[0])
        self.assertEqual((a.make(self.programs[0]), a.status()["waited"]), ("LEAD", 0))

    def test_a_server_that_is_slow_with_leases_is_not_waited_for(self):
        """The timeout of half a second is the subject."""
        self.server.control(delay=3)
        a = self.host(self.url + "&connect=30s&timeout=500ms")
        self.assertEqual(a.make(self.programs[0]), "LEAD")
        self.assertEqual((a.status()["waited"], a.status()["tiers"][0]["breaker_opened"]), (0, 1))

    def test_few_messages_are_needed(self):
        """docs/agent.md has the numbers."""
        a, b = (self.host(self.url + "&lease=600s") for _ in range(2))
        self.assertEqual(a.make(self.programs[0]), "LEAD")
        self.assertTrue(a.shared())
        self.assertTrue(wait_for(lambda: "DELETE lease" in self.counts()))
        self.assertEqual(self.counts(), {"GET entry": 2, "HEAD entry": 1, "PUT entry": 1, "GET lease": 3, "PUT lease": 1,
                                         "DELETE lease": 1})
        slow = self.lead_and_die(a, self.programs[1], 2000)
        before = self.counts()
        self.assertEqual(b.make(self.programs[1]), "FOUND")
        slow.communicate(timeout=60)
        after = self.counts()
        # 20 ms, 40 ms and so on up to two seconds: not five times a second
        self.assertLess(after["GET lease"] - before["GET lease"], 14)
        self.assertEqual((after["GET entry"] - before["GET entry"], after["PUT lease"] - before["PUT lease"]), (2, 0))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], warnings="ignore")
