"""The gs tier with a server that checks tokens, signatures and preconditions (gs.py)."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from conformance import Conformance
from hosts import STET, Case
from servers import Gcs


class Gs(Case):
    """One server for the tests of a class; each has its own prefix."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="stet-gs-")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.server = Gcs(cls.folder)
        cls.addClassCleanup(cls.server.stop)
        cls.service = cls.server.keys["service"]

    def setUp(self):
        super().setUp()
        self.url = f"gs://stet/{self._testMethodName}?endpoint=http://127.0.0.1:{self.server.port}"
        self.before = self.server.control(claims=None, down=False, flavor=True, heads=0)
        self.home = {"HOME": self.dir, "CLOUDSDK_CONFIG": ""}

    def file(self, name, content):
        path = f"{self.dir}/{name}.json"
        with open(path, "w") as f:
            f.write(content if isinstance(content, str) else json.dumps(content))
        return dict(self.home, GOOGLE_APPLICATION_CREDENTIALS=path)

    def metadata(self):
        return dict(self.home, GCE_METADATA_HOST=f"127.0.0.1:{self.server.port}")

    def counted(self, name):
        """In this test."""
        return self.server.control()[name] - self.before[name]


class ServiceAccount(Conformance, Gs):
    rejected = "no access token: the server answers 400 invalid_grant"

    def setUp(self):
        super().setUp()
        other = subprocess.run(["openssl", "genrsa", "2048"], check=True, capture_output=True, text=True).stdout
        self.keys = self.file("service", self.service)
        self.wrong = self.file("wrong", dict(self.service, private_key=other))
        self.secrets = (*self.service["private_key"].split("\n")[1:3], *other.split("\n")[1:3], "ya29.", "assertion")


class User(Conformance, Gs):
    rejected = "no access token: the server answers 400 invalid_grant"

    def setUp(self):
        super().setUp()
        user = self.server.keys["user"]
        os.makedirs(self.dir + "/.config/gcloud")  # where gcloud puts it, without a variable
        with open(self.dir + "/.config/gcloud/application_default_credentials.json", "w") as f:
            json.dump(user, f)
        self.keys = self.home
        self.wrong = self.file("wrong", dict(user, refresh_token="notTheToken"))
        self.secrets = (user["refresh_token"], user["client_secret"], "notTheToken", "ya29.")


class Metadata(Conformance, Gs):
    rejected = "401"

    def setUp(self):
        super().setUp()
        self.keys = self.metadata()
        self.secrets = ("ya29.",)
        elsewhere = os.path.join(self.dir, "elsewhere")
        os.mkdir(elsewhere)
        other = Gcs(elsewhere)  # gives out tokens that this storage does not know
        self.addCleanup(other.stop)
        self.wrong = dict(self.home, GCE_METADATA_HOST=f"127.0.0.1:{other.port}")


class Hmac(Conformance, Gs):
    rejected = "403"

    def setUp(self):
        super().setUp()
        keys = self.server.keys["hmac"]
        self.keys = dict(self.home, **keys)
        self.wrong = dict(self.keys, STET_GS_HMAC_SECRET="notTheSecret")
        self.secrets = (*keys.values(), "notTheSecret")


class Writes(Gs):
    def test_of_hosts_that_write_at_the_same_moment_one_writes(self):
        """Both ask whether the entry is there and hear no; the server lets them go on together. They do not trust each
        other, so neither waits for the other's lease."""
        users = [self.keyed(name)[0] for name in ("one", "two")]
        for n, keys in enumerate((self.metadata(), dict(self.home, **self.server.keys["hmac"])), 1):
            self.server.control(heads=2)
            hosts = [self.host(self.url, **{**keys, **user}) for user in users]
            program = self.programs.pop()
            threads = [threading.Thread(target=h.make, args=(program,)) for h in hosts]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            for h in hosts:
                self.assertTrue(h.shared())
                self.assertEqual(h.status()["tiers"][0]["put_errors"], 0, h.status())
            self.assertEqual([self.counted("puts"), self.counted("lost")], [n, n])
            self.assertEqual(set(self.server.control()["objects"].values()), {1})


class Tokens(Gs):
    def shared_host(self, **env):
        a = self.host(self.url, **env)
        a.make(self.programs[0])
        self.assertTrue(a.shared())
        a.forget(self.key(self.programs[0]))
        return a

    def test_one_token_serves_many_requests(self):
        a = self.shared_host(**self.file("service", self.service))
        for p in self.programs[1:]:
            self.assertEqual(a.ask(p)[0], "LEAD")
        self.assertEqual(self.counted("issued"), 1)

    def test_a_token_is_replaced_before_it_expires(self):
        """The server accepts its tokens longer than it says, so that only the clock can be the reason."""
        for env in (self.metadata(), self.file("service", self.service)):
            before = self.server.control(claims=4)["issued"]
            a = self.shared_host(**env)
            time.sleep(4)
            self.assertEqual(a.ask(self.programs[0])[0], "FOUND")
            self.assertGreater(self.server.control()["issued"], before + 1)
            self.assertEqual(self.counted("denied"), 0)

    def test_a_revoked_token_is_replaced(self):
        a = self.shared_host(**self.metadata())
        self.server.control(revoke=True)
        self.assertEqual(a.ask(self.programs[0])[0], "FOUND")
        self.assertEqual((self.counted("issued"), self.counted("denied")), (2, 1))

    def test_a_changed_credentials_file_is_read_for_the_next_token(self):
        env = self.file("service", dict(self.service, private_key_id="unknown"))
        a = self.host(self.url, **env)
        self.assertEqual(a.ask(self.programs[0])[0], "LEAD")
        self.assertIn("invalid_grant", a.status()["tiers"][0]["last_error"])
        self.file("service", self.service)
        self.assertEqual(a.ask(self.programs[0])[0], "LEAD")
        self.assertEqual(a.status()["tiers"][0]["misses"], 1)

    def test_a_server_that_is_not_a_metadata_server_is_not_trusted(self):
        self.server.control(flavor=False)
        a = self.host(self.url, **self.metadata())
        self.assertEqual(a.ask(self.programs[0])[0], "LEAD")
        self.assertIn("is not a metadata server", a.status()["tiers"][0]["last_error"])

    def test_a_token_server_that_fails_is_an_error_of_the_tier(self):
        self.server.control(down=True)
        for env in (self.metadata(), self.file("service", self.service)):
            a = self.host(self.url, **env)
            self.assertEqual(a.ask(self.programs[0])[0], "LEAD")
            self.assertIn("no access token: the server answers 503", a.status()["tiers"][0]["last_error"])

    def test_a_public_bucket_needs_no_token(self):
        a = self.host(self.url + "&auth=none", **self.file("service", self.service))
        self.assertEqual(a.ask(self.programs[0])[0], "LEAD")
        self.assertIn("401", a.status()["tiers"][0]["last_error"])  # this bucket is not public
        self.assertEqual(self.counted("issued"), 0)


class Mistakes(Gs):
    def complaint(self, tier, env):
        out = subprocess.run([STET, "agent", "--foreground", "--socket", self.dir + "/s"], capture_output=True, text=True,
                             env={**os.environ, **env, "STET_TIERS": tier})
        self.assertNotEqual(out.returncode, 0)
        return out.stderr

    def test_a_faulty_credentials_file_is_named_and_not_quoted(self):
        pem = self.service["private_key"]
        good = json.dumps(self.service)
        for content, words in (
                (good[:200], "not JSON at byte 200"),
                (good.replace('"private_key":', '"private_key"'), "not JSON at byte"),
                (good.replace('"type"', '"private_key"'), "not JSON at byte"),
                ("[]", "must be service_account or authorized_user"),
                (dict(self.service, type="external_account"), "must be service_account or authorized_user"),
                (dict(self.service, private_key=7), '"private_key" is missing'),
                (dict(self.service, client_email=""), '"client_email" is missing'),
                (dict(self.service, token_uri="http://example.com/token"), "not an https address"),
                (dict(self.service, token_uri="http://127.0.0.1:80@example.com/"), "not an https address"),
                (dict(self.service, token_uri="https://a\r\nX: y"), "not an https address"),
                (" " * 70000, "65536")):
            said = self.complaint(self.url, self.file("faulty", content))
            self.assertIn(self.dir + "/faulty.json", said)
            self.assertIn(words, said)
            self.assertNotIn(pem.split("\n")[1][:20], said)

    def test_a_private_key_that_cannot_sign_is_an_error_of_the_tier(self):
        encrypted = subprocess.run(["openssl", "rsa", "-aes128", "-passout", "pass:x"], input=self.service["private_key"],
                                   check=True, capture_output=True, text=True).stdout
        for pem in ("nonsense", encrypted):
            a = self.host(self.url, **self.file("key", dict(self.service, private_key=pem)))
            self.assertEqual(a.ask(self.programs[0])[0], "LEAD")
            self.assertIn("the private key cannot sign", a.status()["tiers"][0]["last_error"])

    def test_malformed_addresses_are_refused_with_a_message(self):
        for tier, env, words in (("gs:///x", {}, "the bucket's name is missing"),
                                 ("gs://b?auth=some", {}, "auth=some: there is only none"),
                                 ("gs://b", {"GOOGLE_APPLICATION_CREDENTIALS": "/none.json"}, "/none.json: No such file")):
            self.assertIn(words, self.complaint(tier, dict(self.home, **env)))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], warnings="ignore")
