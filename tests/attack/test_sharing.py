"""Sharing between hosts: whose entries are taken, who may write, and what a user is told."""
import fcntl
import json
import os
import re
import shlex
import subprocess

import attack
from attack import FAKE, HARNESS, STET
from hostile import Case, free_port

COMPILED, REDIS, HTTP = {("compiled", None)}, {("remote", "redis")}, {("remote", "http")}
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def signer(sealed):
    """The public key in the head of an archive; None when it is not signed."""
    return "ed25519:" + sealed[16:48].hex() if sealed[12] else None


class Sharing(Case):
    def values(self, redis):
        """All entries in a Redis, by name."""
        names = redis.ask("KEYS", "stet:1:entry:*").split(b"\r\n")[2::2]
        return {name: redis.ask("GET", name).split(b"\r\n", 1)[1] for name in names}

    def shared(self, redis, name="one", programs=None):
        """A host with a key that has put its programs into this Redis."""
        host = self.host(name, redis.url)
        host.public = host.key()
        self.assertEqual(host.run(programs or self.programs)[0], COMPILED)
        host.stop()
        return host

    def test_the_quick_start_works_on_two_hosts_as_it_is_written(self):
        redis, keys = self.redis(), {}
        hosts = {name: self.host(name) for name in ("host1", "host2")}
        with open(f"{ROOT}/docs/agent.md") as f:
            commands = re.findall(r"^    (host[12])\$ (.*)$", f.read(), re.M)
        self.assertGreater(len(commands), 6)
        told, seen = "", {"host1": [], "host2": []}
        for name, command in commands:
            command = command.split("#")[0].replace("redis://cache.internal:6379", redis.url)
            command = command.replace("python train.py", shlex.join([HARNESS, FAKE, *self.programs]))
            command = re.sub(r"ed25519:(host[12])", lambda m: keys[m[1]], command)
            host = hosts[name]
            if command.startswith("export "):
                key, value = command[7:].strip().split("=", 1)
                host.env[key] = value.strip('"')
                continue
            host.env["PATH"] = os.path.dirname(STET) + ":" + os.environ["PATH"]
            done = subprocess.run(command, shell=True, env=host.env, capture_output=True, text=True, cwd=host.dir, timeout=60)
            self.assertEqual(done.returncode, 0, (command, done.stderr))
            if "key new" in command:
                keys[name] = done.stdout.split()[0]
            if " run " in command:
                seen[name].append("4 from redis" in done.stderr)
                told += "".join(line for line in done.stderr.splitlines() if "refused" in line or "nothing was shared" in line)
                host.stop()
                host.forget()
        self.assertEqual(told, "")
        self.assertEqual((seen["host1"][0], seen["host2"][-1]), (False, True))

    def test_a_run_names_the_signers_of_refused_entries_and_how_to_trust_them(self):
        redis = self.redis()
        one, two = self.shared(redis), self.host("two", redis.url)
        two.key()
        served, said = two.run(self.programs)
        self.assertEqual(served, COMPILED)
        line = f"stet: 4 entries were refused: signed by {one.public}, which this user does not trust; to trust: "
        told = [x for x in said.splitlines() if "refused" in x]
        self.assertEqual(told, [line + f"stet cache key trust {one.public}"])
        command = told[0].split("to trust: ")[1].split()
        two.forget()
        self.assertEqual(two.stet(*command[1:]).returncode, 0)
        served, said = two.run(self.programs)  # the agent that refused them still runs
        self.assertEqual(served, REDIS)
        self.assertNotIn("refused", said)

    def test_hosts_that_do_not_trust_each_other_keep_what_each_has(self):
        redis = self.redis()
        one = self.shared(redis)
        first = self.values(redis)
        two = self.host("two", redis.url)
        two.public = two.key()
        for _ in range(2):
            two.run(self.programs)
            two.stop()
            two.forget()
        after = self.values(redis)
        self.assertEqual({k: after[k] for k in first}, first)
        self.assertEqual({signer(v) for k, v in after.items() if k not in first}, {two.public})
        for host in (one, two):  # each is served by its own
            host.forget()
            self.assertEqual(host.run(self.programs)[0], REDIS)

    def test_a_host_without_a_key_writes_nothing_and_reports_it(self):
        redis = self.redis()
        keyless = self.host("keyless", redis.url)
        served, said = keyless.run(self.programs[:2])
        keyless.stop()
        self.assertEqual((served, redis.ask("DBSIZE")), (COMPILED, b":0\r\n"))
        self.assertIn("stet: nothing was shared: this user has no key and trusts none; to make one: stet cache key new\n", said)
        one = self.shared(redis)
        before = self.values(redis)
        keyless.forget()
        keyless.run(self.programs)
        keyless.stop()
        self.assertEqual(self.values(redis), before)
        reader = self.host("reader", redis.url)  # no key of its own either, but it knows whom it trusts
        reader.stet("cache", "key", "trust", one.public)
        served, said = reader.run(self.programs)
        self.assertEqual((served, "nothing was shared" in said), (REDIS, False))

    def test_trust_in_anyone_ends_with_the_run_that_asked_for_it(self):
        redis = self.redis()
        anyone = self.host("anyone", redis.url, STET_TRUST="any")
        anyone.run(self.programs)  # unsigned, and shared since it was asked for
        anyone.stop()
        self.assertEqual({signer(v) for v in self.values(redis).values()}, {None})
        user = self.host("user", redis.url)
        self.assertEqual(user.run(self.programs[:2], STET_TRUST="any")[0], REDIS)
        # what that run took is neither given to the next one by its agent nor found in the store
        self.assertEqual(user.run(self.programs)[0], COMPILED)
        user.forget()
        self.assertEqual(user.run(self.programs[:1], STET_TRUST="any")[0], REDIS)
        self.assertEqual(user.run(self.programs[:1], STET_TRUST="any")[0], {("disk", "agent")})

    def test_an_agent_that_trusts_anyone_serves_only_runs_that_asked_for_it(self):
        """Also when it is named by STET_AGENT."""
        redis = self.redis()
        anyone = self.host("anyone", redis.url, STET_TRUST="any")
        anyone.run(self.programs)
        path = json.loads(anyone.stet("agent", "status", "--format=json").stdout)["socket"]
        user = self.host("user", redis.url)
        self.assertEqual(user.run(self.programs, STET_AGENT=path)[0], COMPILED)
        user.forget()
        self.assertEqual(user.run(self.programs, STET_AGENT=path, STET_TRUST="any")[0], REDIS)

    def test_a_key_that_is_no_longer_trusted_serves_nothing_more(self):
        redis = self.redis()
        one, two = self.shared(redis), self.host("two", redis.url)
        two.stet("cache", "key", "trust", one.public, "a friend")
        self.assertEqual(two.run(self.programs[:2])[0], REDIS)
        done = two.stet("cache", "key", "untrust", one.public)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("is no longer trusted, and 2 entries signed by it were removed from", done.stdout)
        self.assertEqual(two.run(self.programs)[0], COMPILED)  # neither from the store nor by the agent
        self.assertEqual(two.stet("cache", "key", "untrust", one.public).returncode, 1)
        own = two.key()
        self.assertEqual(two.stet("cache", "key", "untrust", own).returncode, 2)

    def test_new_credentials_are_used_at_once(self):
        redis = self.redis(password="rightSecret77")
        one = self.host("one", f"redis://127.0.0.1:{redis.port}", STET_REDIS_PASSWORD="rightSecret77")
        public = one.key()
        one.run(self.programs)
        one.stop()
        two = self.host("two", f"redis://127.0.0.1:{redis.port}")
        two.stet("cache", "key", "trust", public)
        served, said = two.run(self.programs, STET_REDIS_PASSWORD="wrongSecret88")
        self.assertEqual(served, COMPILED)
        self.assertIn("did not serve 4 programs: redis: the server did not accept user and password (WRONGPASS)", said)
        two.forget()
        self.assertEqual(two.run(self.programs, STET_REDIS_PASSWORD="rightSecret77")[0], REDIS)

    def test_a_list_of_keys_may_be_named_from_where_the_user_is(self):
        redis = self.redis()
        one, two = self.shared(redis), self.host("two", redis.url)
        self.file("two/my.keys", one.public + "\n")
        self.assertEqual(two.run(self.programs, STET_TRUSTED_KEYS="my.keys")[0], REDIS)

    def test_entries_keep_their_maker_through_tiers_and_archives(self):
        redis, nginx = self.redis(), self.nginx()
        one, two, three = self.host("one", nginx.url), self.host("two", redis.url, nginx.url), self.host("three")
        maker, passer = one.key(), two.key()
        one.run(self.programs)
        one.stop()
        two.stet("cache", "key", "trust", maker)
        self.assertEqual(two.run(self.programs)[0], HTTP)
        two.stop()  # it has filled the nearer tier
        self.assertEqual({signer(v) for v in self.values(redis).values()}, {maker})
        self.assertEqual(len(self.values(redis)), 4)
        # an archive under two's name holds nothing that another made
        out = json.loads(two.stet("cache", "export", "a.stet", "--format=json").stdout)
        self.assertEqual((out["entries"], out["made_elsewhere"], out["signer"]), (0, 4, passer))
        # nor does one of what came without a signature
        two.stet("cache", "export", "--unsigned", "b.stet")
        three.key()
        taken = json.loads(three.stet("cache", "import", "--unsigned", two.dir + "/b.stet", "--format=json").stdout)
        out = json.loads(three.stet("cache", "export", "c.stet", "--format=json").stdout)
        self.assertEqual((taken["imported"], out["entries"], out["made_elsewhere"]), (4, 0, 4))

    def test_recompiling_an_entry_from_a_tier_does_not_share_it_as_ones_own(self):
        """The seal is of the entry's bytes: an entry that was compiled anew is one's own again."""
        redis = self.redis()
        one, two = self.shared(redis), self.host("two", redis.url)
        two.stet("cache", "key", "trust", one.public)
        own = two.key()
        self.assertEqual(two.run(self.programs)[0], REDIS)
        out = lambda: json.loads(two.stet("cache", "export", "a.stet", "--format=json").stdout)
        self.assertEqual(out()["entries"], 0)
        subprocess.run(["rm", "-rf", two.store + "/entries"], check=True)
        self.assertEqual(two.run(self.programs, STET_AGENT="off", FAKE_COMPILE_MS="3")[0], COMPILED)
        self.assertEqual((out()["entries"], out()["signer"]), (4, own))

    def test_missing_and_silent_tiers_are_reported_in_one_line(self):
        host = self.host("one", "bogus://x")
        host.key()
        told = lambda said: [x for x in said.splitlines() if "bogus" in x or "redis" in x or "agent" in x]
        self.assertEqual(told(host.run(self.programs)[1]), [
            "stet: running without shared tiers: bogus: no such kind of tier; there are redis, rediss, http, https, s3, gs"])
        host.forget()
        port = free_port()
        lines = told(host.run(self.programs, STET_TIERS=f"redis://user:hidden@127.0.0.1:{port}")[1])
        self.assertEqual(len(lines), 1, lines)
        self.assertIn(f"stet: redis://127.0.0.1:{port} did not serve 4 programs: ", lines[0])

    def test_an_agent_that_was_stopped_has_ended_and_the_next_run_has_another(self):
        redis = self.redis()
        host = self.shared(redis)
        for _ in range(3):
            host.forget()
            self.assertEqual(host.run(self.programs)[0], REDIS)
            at = json.loads(host.stet("agent", "status", "--format=json").stdout)["socket"]
            self.assertEqual(host.stop().returncode, 0)
            with open(at + ".lock") as lock:  # which an agent holds as long as it lives
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def test_the_agent_holds_no_descriptor_of_the_process_that_started_it(self):
        host = self.host("one", self.redis().url)
        host.key()
        path = self.file("lock", "")
        with open(path) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            os.set_inheritable(lock.fileno(), True)
            done = subprocess.run([STET, "run", "--", HARNESS, FAKE, *self.programs], env=host.env, close_fds=False,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
        self.assertEqual(done.returncode, 0)
        with open(path) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        pid = json.loads(host.stet("agent", "status", "--format=json").stdout)["pid"]
        held = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
        self.assertFalse([f for f in held if f.startswith("/") and not f.startswith((host.dir, "/dev/null"))], held)
        self.assertEqual(os.readlink(f"/proc/{pid}/cwd"), "/")
        with open(f"/proc/{pid}/status") as f:
            self.assertIn("Umask:\t0077", f.read())

    def test_the_agents_log_stays_small(self):
        host = self.host("one", self.redis().url)
        log = self.file("one/state/agent.log", "x" * (3 << 20))
        host.run(self.programs)
        self.assertLess(os.path.getsize(log), 1 << 20)
        self.assertEqual(os.path.getsize(log + ".old"), 3 << 20)


if __name__ == "__main__":
    attack.main()
