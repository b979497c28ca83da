"""HTTP, S3 and gs servers that lie, stall, drip, answer garbage or send elsewhere: nothing of theirs is run, and a
thousand programs cost little."""
import itertools
import time

import attack
from hostile import TierCase, compile_thousand, compile_with, drip, http, pour, until_closed


def answers(text):
    return http(lambda c, _: c.sendall(text))


def held(forever=True):
    """Every program is being compiled by another host, which renews its lease for ever; or whose lease has no end."""
    beats = itertools.count()

    def answer(connection, head):
        text = b""
        if b"GET /" in head and b"/leases/" in head:
            text = b"%032d.%d" % (next(beats), time.time() * 1000 + 5000) if forever else b"7" * 32 + b".99999999999999"
        status = b"200 OK" if text else b"404 no" if head[:3] in (b"GET", b"HEA") else b"412 no"
        connection.sendall(b"HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (status, len(text), text))
    return http(answer)


WEBS = {
    "silent": until_closed,
    "drips": http(lambda c, _: drip(c, b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")),
    "drips its head": http(lambda c, _: drip(c, b"HTTP/1.1 200 OK\r\nX: ")),
    "garbage": answers(b"\x16\x03\x01\x02\x00 no HTTP\r\n\r\n"),
    "page": answers(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nwelcome"),
    "huge": answers(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\nx"),
    "endless": http(lambda c, _: pour(c, b"HTTP/1.1 200 OK\r\n\r\n")),
    "error": answers(b"HTTP/1.1 500 no\r\nContent-Length: 0\r\n\r\n"),
    "held, forged": held(),
    "held, no end": held(False),
}


class Webs(TierCase):
    def test_a_web_server_that_answers_wrongly_or_stalls_costs_a_thousand_programs_no_more_than_their_account(self):
        self.compile_all({name: f"http://127.0.0.1:{self.server(behave).port}/x" for name, behave in WEBS.items()})

    def test_an_s3_that_answers_wrongly_or_stalls_costs_a_thousand_programs_no_more_than_their_account(self):
        self.compile_all({name: f"s3://bucket?endpoint=http://127.0.0.1:{self.server(WEBS[name]).port}"
                      for name in ("silent", "drips", "page", "huge", "error")},
                     AWS_ACCESS_KEY_ID="AKID", AWS_SECRET_ACCESS_KEY="notShown")

    def test_a_gs_that_answers_wrongly_or_stalls_costs_a_thousand_programs_no_more_than_their_account(self):
        self.compile_all({name: f"gs://bucket?auth=none&endpoint=http://127.0.0.1:{self.server(WEBS[name]).port}"
                      for name in ("silent", "drips", "page", "huge", "error")})

    def test_a_metadata_server_that_answers_wrongly_or_stalls_costs_no_more_and_its_token_goes_nowhere(self):
        """A token with a line break in it would add a header."""
        storage = self.server(WEBS["error"])
        split = b'{"access_token":"a\\r\\nX: y","expires_in":3600}'
        webs = dict(WEBS, split=answers(b"HTTP/1.1 200 OK\r\nMetadata-Flavor: Google\r\nContent-Length: %d\r\n\r\n%s"
                                        % (len(split), split)))
        agents = {name: self.agent(name, f"gs://bucket?endpoint=http://127.0.0.1:{storage.port}", HOME=self.dir,
                                   GCE_METADATA_HOST=f"127.0.0.1:{self.server(webs[name]).port}")[0]
                  for name in ("silent", "page", "endless", "split")}
        compile_thousand(self, {"none": ("off", {}), **{name: (path, {}) for name, path in agents.items()}})
        for name, path in agents.items():
            self.assertIn("no access token: ", self.status(path), name)
        self.assertEqual(storage.connections, 0)

    def test_a_lease_that_never_ends_is_ignored_even_where_anyone_is_trusted(self):
        self.compile_all({"held, no end": f"http://127.0.0.1:{self.server(WEBS['held, no end']).port}"}, STET_TRUST="any")

    def test_a_wait_for_a_lease_that_is_renewed_for_ever_is_not_repeated(self):
        """Where anyone is trusted, so is a lease; but not twice."""
        server = self.server(held())
        path, _ = self.agent("held", f"http://127.0.0.1:{server.port}?connect=20s&timeout=20s", STET_TRUST="any")
        compile_with(self, self.programs, path, STET_AGENT_FLIGHT="3s", STET_AGENT_WAIT="20s")
        counts = self.counts(path)
        self.assertEqual((counts["asked"], counts["waited"]), (4, 1))

    def test_redirects_are_not_followed(self):
        """A redirect is an error, to a file as to another host."""
        elsewhere = self.server(answers(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno"))
        for n, target in enumerate(("file:///etc/passwd", f"http://127.0.0.1:{elsewhere.port}/", f"gopher://127.0.0.1:{elsewhere.port}/")):
            for code in (301, 302, 307, 308):
                web = self.server(answers(b"HTTP/1.1 %d no\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % (code, target.encode())))
                path, log = self.agent(f"{n}-{code}", f"http://127.0.0.1:{web.port}")
                compile_with(self, self.programs[:1], path)
                self.assertIn(f"answers {code}", self.status(path))
        self.assertEqual(elsewhere.connections, 0)


if __name__ == "__main__":
    attack.main()
