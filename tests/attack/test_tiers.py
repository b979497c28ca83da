"""A Redis that lies, stalls, drips or answers garbage: nothing of it is run, and a thousand programs cost little."""
import time

import attack
from hostile import TierCase, compile_with, drip, pour, redis, until_closed

NIL = b"$-1\r\n"


def held(ttl_ms):
    """A Redis that says of every program that another host compiles it."""
    def answer(words):
        if words[0] == b"EVAL":  # the lease, whether there is an entry and, if asked, how long the lease lasts
            lease = b"$32\r\n" + b"7" * 32 + b"\r\n:0\r\n"
            return b"*3\r\n%s:%d\r\n" % (lease, ttl_ms) if b"pttl" in words[1] else b"*2\r\n" + lease
        return NIL
    return redis(answer)


def free(words):
    """Gives no lease, and says that nobody has it."""
    return b"*3\r\n$-1\r\n:0\r\n:-2\r\n" if words[0] == b"EVAL" else NIL


def slow(words):
    """Just before anybody would give it up."""
    time.sleep(1.5)
    return NIL


def echo(words):
    """What Redis says of a command it does not know: it repeats the arguments."""
    return b"-ERR unknown command '%s', with args beginning with: %s \x1b]0;pwned\x07\x1b[31mred\r\n" % (
        words[0], b" ".join(b"'%s'" % w[:60] for w in words[1:3]))


REDISES = {
    "silent": until_closed,
    "slow": redis(slow),
    "drips": lambda c: drip(c, b"$100000\r\n"),
    "garbage": lambda c: c.sendall(b"\x00\xff garbage\r\n" * 100),
    "endless": lambda c: pour(c, b"$536870000\r\n"),
    "huge": lambda c: c.sendall(b"$99999999999999\r\n"),
    "nested": lambda c: c.sendall(b"*1\r\n" * 100000),
    "error": redis(echo),
    "held, no expiry": held(-1),
    "held, long expiry": held(10**12),
    "held, forged": held(5000),
    "held, free": redis(free),
}


class Tiers(TierCase):
    def test_a_redis_that_answers_wrongly_or_stalls_costs_a_thousand_programs_no_more_than_their_account(self):
        self.compile_all({name: f"redis://127.0.0.1:{self.server(behave).port}" for name, behave in REDISES.items()})

    def test_a_lease_that_never_expires_is_ignored_even_where_anyone_is_trusted(self):
        self.compile_all({name: f"redis://127.0.0.1:{self.server(REDISES[name]).port}"
                      for name in ("held, no expiry", "held, long expiry")}, STET_TRUST="any")

    def test_a_servers_error_text_shows_no_secret_and_commands_no_terminal(self):
        server = self.server(redis(echo))
        for n, tier in enumerate((f"redis://alice:SEKRETpw@127.0.0.1:{server.port}", f"redis://127.0.0.1:{server.port}")):
            path, log = self.agent(f"echo{n}", tier)
            compile_with(self, self.programs, path)
            with open(log, "rb") as f:
                seen = f.read() + self.status(path).encode() + self.stet("agent", "status", "--socket", path, "--format=json").stdout.encode()
            self.assertIn(b"redis: ", seen)
            for secret in (b"SEKRETpw", b"alice", b"\x1b", b"\x07", b"\\u001b"):
                self.assertNotIn(secret, seen)

    def test_an_entry_of_another_key_is_refused_though_a_trusted_key_signed_it(self):
        server = self.redis()
        host = self.host("one", server.url)
        host.key()
        host.run(self.programs)
        host.stop()
        names = sorted(server.ask("KEYS", "stet:1:entry:*").split(b"\r\n")[2::2])
        values = [server.ask("GET", name).split(b"\r\n", 1)[1][:-2] for name in names]
        for name, value in zip(names, values[1:] + values[:1]):
            server.ask("SET", name, value)
        host.forget()
        served, said = host.run(self.programs)
        self.assertEqual(served, {("compiled", None)})
        self.assertIn("stet: 4 entries were refused: stored under the key of another program\n", said)
        host.stop()  # what was no good has been replaced
        host.forget()
        self.assertEqual(host.run(self.programs)[0], {("remote", "redis")})

    def test_a_wait_for_another_host_that_brought_nothing_is_not_repeated(self):
        """Where anyone is trusted, so is who says that it compiles; but not twice."""
        server = self.server(held(5000))
        path, _ = self.agent("held", f"redis://127.0.0.1:{server.port}", STET_TRUST="any")
        compile_with(self, self.programs, path, STET_AGENT_FLIGHT="3s", STET_AGENT_WAIT="20s")
        counts = self.counts(path)
        self.assertEqual((counts["asked"], counts["waited"]), (4, 1))


if __name__ == "__main__":
    attack.main()
