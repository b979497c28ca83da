"""The S3 tier with an emulator that checks signatures."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(__file__))
PYTHON = sys.argv.pop(3)
from hosts import Case
from servers import Moto, wait_for


class S3(Case):
    def setUp(self):
        super().setUp()
        self.moto = Moto(self.dir, PYTHON)
        self.addCleanup(self.moto.stop)
        self.assertTrue(wait_for(lambda: os.path.exists(self.dir + "/keys"), 60))
        with open(self.dir + "/keys") as f:
            self.keys = json.load(f)
        self.url = f"s3://stet/fleet?endpoint=http://127.0.0.1:{self.moto.port}"

    def test_signed_requests_share_and_find_and_unsigned_ones_are_rejected(self):
        a, b = self.host(self.url, **self.keys), self.host(self.url, **self.keys)
        wrong = self.host(self.url, **dict(self.keys, AWS_SECRET_ACCESS_KEY="notTheSecret"))
        for p in self.programs[:3]:
            self.assertEqual(a.make(p, 0, 10000), "LEAD")
        self.assertTrue(a.shared())
        tier = a.status()["tiers"][0]
        self.assertEqual((tier["puts"], tier["put_errors"]), (3, 0), tier)
        for p in self.programs[:3]:
            self.assertEqual(b.ask(p, 10000)[:2], ("FOUND", "s3"))
        self.assertEqual(b.ask(self.programs[5], 10000)[0], "LEAD")  # a miss is a miss, not an error
        self.assertEqual(b.status()["tiers"][0]["errors"], 0)
        self.assertEqual(wrong.ask(self.programs[0], 10000)[0], "LEAD")
        self.assertIn("403", wrong.status()["tiers"][0]["last_error"])
        for host in (a, wrong):
            with open(host.dir + "/log") as f:
                log = f.read()
            for secret in (*self.keys.values(), "notTheSecret"):
                self.assertNotIn(secret, log)
        self.moto.stop()
        self.assertEqual(b.ask(self.programs[6], 3000)[0], "LEAD")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], warnings="ignore")
