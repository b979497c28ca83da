"""The agent with real servers: stopped, slow, lying; single flight with leaders that die."""
import json
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from hosts import STET, Case
from servers import certificate, free_port, wait_for


class Tiers(Case):
    def through(self, server):
        """Kept on one host, found on another."""
        a, b = self.host(server.url), self.host(server.url)
        self.assertEqual(a.make(self.programs[0]), "LEAD")
        self.assertTrue(a.shared())
        self.assertTrue(server.has(self.key(self.programs[0])))
        verdict, tier, _ = b.ask(self.programs[0])
        self.assertEqual((verdict, tier), ("FOUND", server.url.split(":")[0]))
        self.assertEqual(b.status()["tiers"][0]["hits"], 1)

    def test_an_entry_of_one_host_is_found_by_another_in_redis(self):
        self.through(self.redis())

    def test_an_entry_of_one_host_is_found_by_another_over_http(self):
        self.through(self.nginx())

    def test_an_entry_of_a_later_tier_is_copied_to_the_earlier_ones(self):
        redis, nginx = self.redis(), self.nginx()
        key = self.key(self.programs[0])
        nginx.put(key, self.entry(self.programs[0]))
        a = self.host(redis.url, nginx.url)
        self.assertEqual(a.ask(self.programs[0])[:2], ("FOUND", "http"))
        self.assertTrue(a.shared() and redis.has(key))

    def test_a_read_only_tier_is_never_written(self):
        nginx = self.nginx()
        a = self.host(nginx.url + "?mode=read-only")
        a.make(self.programs[0])
        self.assertTrue(a.shared())
        self.assertFalse(nginx.has(self.key(self.programs[0])))

    def test_entries_can_have_the_layout_of_bazel(self):
        nginx = self.nginx()
        a = self.host(nginx.url + "/cache?layout=bazel")
        a.make(self.programs[0])
        self.assertTrue(a.shared())
        key = self.key(self.programs[0])
        self.assertTrue(os.path.exists(f"{nginx.dir}/dav/cache/ac/{key}{key}"))
        os.remove(a.store + f"/entries/{key[:2]}/{key}.stet")
        self.assertEqual(a.ask(self.programs[0])[:2], ("FOUND", "http"))

    def test_tls_is_verified(self):
        tls = certificate(self.dir)
        for server in (self.nginx(tls=tls), self.redis(tls=tls)):
            good, bad = self.host(server.url, STET_TLS_CA=tls + ".crt"), self.host(server.url)
            good.make(self.programs[0])
            self.assertTrue(good.shared())
            os.remove(good.store + "/entries/{0:.2}/{0}.stet".format(self.key(self.programs[0])))
            self.assertEqual(good.ask(self.programs[0])[0], "FOUND")
            self.assertEqual(bad.ask(self.programs[0])[0], "LEAD")
            self.assertIn("ertificate", bad.status()["tiers"][0]["last_error"])

    def test_secrets_show_nowhere(self):
        users = self.dir + "/users"
        with open(users, "w") as f:
            f.write("stet:{PLAIN}nginxSecret99\n")
        redis, nginx = self.redis(password="redisSecret77"), self.nginx(user=users)
        a = self.host(f"redis://:redisSecret77@127.0.0.1:{redis.port}",
                      f"http://stet:nginxSecret99@127.0.0.1:{nginx.port}",
                      "s3://bucket?endpoint=http://127.0.0.1:1", AWS_ACCESS_KEY_ID="AKIDnotshown",
                      AWS_SECRET_ACCESS_KEY="awsSecret55", AWS_SESSION_TOKEN="sessionSecret44")
        wrong = self.host(f"redis://:wrongSecret88@127.0.0.1:{redis.port}",
                          f"http://stet:wrongSecret88@127.0.0.1:{nginx.port}")
        a.make(self.programs[0])
        wrong.ask(self.programs[0])
        self.assertTrue(wait_for(lambda: a.status()["tiers"][1]["puts"] == 1 and redis.process))
        self.assertEqual([t["puts"] for t in a.status()["tiers"][:2]], [1, 1])
        self.assertEqual([t["hits"] for t in wrong.status()["tiers"]], [0, 0])
        seen = json.dumps(a.status()) + json.dumps(wrong.status())
        for host in (a, wrong):
            with open(host.dir + "/log") as f:
                seen += f.read()
            with open(f"/proc/{host.process.pid}/cmdline") as f:
                seen += f.read()
        self.assertIn("WRONGPASS", seen)  # the wrong password is complained about
        for secret in ("redisSecret77", "nginxSecret99", "awsSecret55", "sessionSecret44", "wrongSecret88", "AKIDnotshown"):
            self.assertNotIn(secret, seen)


class Trust(Case):
    def test_only_what_a_trusted_key_signed_is_taken(self):
        redis = self.redis()
        config = lambda n: {"STET_TRUST": "", "XDG_CONFIG_HOME": f"{self.dir}/config{n}"}
        keys = lambda n, *a: subprocess.run([STET, "cache", "key", *a], env=dict(os.environ, **config(n)), text=True,
                                            capture_output=True, check=True).stdout
        keys(1, "new")
        self.assertEqual(self.host(redis.url, **config(1)).make(self.programs[0]), "LEAD")
        self.assertTrue(wait_for(lambda: redis.has(self.key(self.programs[0]))))
        stranger = self.host(redis.url, **config(2))
        self.assertEqual(stranger.ask(self.programs[0])[0], "LEAD")
        self.assertEqual(stranger.status()["tiers"][0]["refused"], {"untrusted": 1})
        public = next(w for w in keys(1, "show").split() if w.startswith("ed25519:"))
        keys(2, "trust", public)
        self.assertEqual(self.host(redis.url, **config(2)).ask(self.programs[0])[:2], ("FOUND", "redis"))
        self.assertEqual(self.host(redis.url, **config(1)).ask(self.programs[0])[:2], ("FOUND", "redis"))


class Trouble(Case):
    def lie(self, server, entry, reason):
        """What the server gives for program 0 is refused, counted, written anew; nothing of it is kept."""
        key = self.key(self.programs[0])
        server.put(key, entry)
        a = self.host(server.url)
        self.assertEqual(a.ask(self.programs[0])[:2], ("LEAD", ""))
        self.assertFalse(os.path.exists(a.store + f"/entries/{key[:2]}/{key}.stet"))
        self.assertEqual(a.status()["tiers"][0]["refused"].get(reason), 1, a.status())
        self.assertEqual(a.make(self.programs[0]), "LEAD")
        self.assertTrue(a.shared())
        b = self.host(server.url)
        self.assertEqual(b.ask(self.programs[0])[:2], ("FOUND", server.url.split(":")[0]))

    def lies(self, server):
        good, other = self.entry(self.programs[0]), self.entry(self.programs[1])
        flipped = bytearray(good)
        flipped[-5] ^= 1
        self.lie(server, bytes(flipped), "damaged")
        self.lie(server, good[:-30], "damaged")
        self.lie(server, b"<html>welcome to the hotel's network</html>", "damaged")
        self.lie(server, b"", "damaged")
        self.lie(server, other, "other-key")

    def test_a_lying_redis_is_never_believed(self):
        self.lies(self.redis())

    def test_a_lying_http_server_is_never_believed(self):
        self.lies(self.nginx())

    def test_a_program_under_the_key_of_another_is_never_believed(self):
        """Checksums and key are right, but the program in the entry is not the one its words speak of."""
        self.lie(self.redis(), self.entry(self.programs[0], self.programs[1]), "other-program")

    def test_truncated_and_malformed_answers_are_misses(self):
        redis, nginx = self.redis(), self.nginx()
        key = self.key(self.programs[0])
        redis.put(key, self.entry(self.programs[0]))
        nginx.put(key, self.entry(self.programs[0]))
        for server in (redis, nginx):
            for change in (lambda b: b[: len(b) // 2] if len(b) > 200 else b, lambda b: None,
                           lambda b: b"\x00garbage\r\n" * 20, lambda b: b"$999999999999\r\nx",
                           lambda b: b"*100000000\r\n", lambda b: b"HTTP/1.1 200 OK\r\n\r\nhello"):
                proxy = self.proxy(server.port, change=change)
                a = self.host(f"{server.url.split(':')[0]}://127.0.0.1:{proxy.port}?timeout=300ms")
                self.assertEqual(a.ask(self.programs[0])[:2], ("LEAD", ""))
                self.assertIsNone(a.process.poll())
                a.stop()

    def left_alone(self, *tiers, quick_failures=0):
        """All programs are compiled, and a tier that failed is asked again only when its pause is over.

        The agent counts its calls. It leaves a tier alone after three quick failures or one slow one, for two
        seconds, then four and so on, by its own clock: so `up_s` bounds how often it may have asked."""
        a = self.host(*tiers)
        self.assertEqual([a.ask(p)[:2] for p in self.programs], [("LEAD", "")] * len(self.programs))
        status = a.status()
        for t in status["tiers"]:
            self.assertGreaterEqual(t["breaker_opened"], 1, t)
            self.assertEqual(t["hits"], 0, t)
            self.assertIn(t["errors"] - t["breaker_opened"], range(quick_failures + 1), t)
            self.assertGreaterEqual(t["skipped"], len(self.programs) - t["errors"], t)
            self.assertLessEqual(2 * (2 ** (t["breaker_opened"] - 1) - 1), status["up_s"], t)

    def test_servers_that_refuse_connections_are_left_alone(self):
        self.left_alone(f"redis://127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}", quick_failures=2)

    def test_servers_that_do_not_answer_are_left_alone(self):
        self.left_alone(f"redis://127.0.0.1:{self.proxy(self.redis().port, delay=30).port}?timeout=2s")

    def test_a_slow_server_is_waited_for_only_so_long(self):
        """It has all entries, and would give them after its delay."""
        nginx = self.nginx()
        for p in self.programs:
            nginx.put(self.key(p), self.entry(p))
        self.left_alone(f"http://127.0.0.1:{self.proxy(nginx.port, delay=30).port}?timeout=2s")

    def test_a_server_that_comes_back_is_used_again(self):
        redis = self.redis()
        a = self.host(redis.url)
        redis.stop()
        for p in self.programs[:4]:
            a.ask(p)
        self.assertEqual(a.status()["tiers"][0]["state"], "left-alone")
        redis.start()
        redis.put(self.key(self.programs[5]), self.entry(self.programs[5]))
        self.assertTrue(wait_for(lambda: a.ask(self.programs[5])[0] == "FOUND"))

    def test_an_entry_that_could_not_be_shared_is_shared_later(self):
        redis = self.redis()
        a = self.host(redis.url)
        redis.stop()
        a.make(self.programs[0])
        redis.start()
        self.assertTrue(wait_for(lambda: redis.has(self.key(self.programs[0]))))


class Flight(Case):
    def test_32_clients_on_one_host_compile_10_programs_10_times(self):
        self.check_flights(self.fly([self.host()], 32), 10)

    def test_32_clients_on_4_hosts_compile_10_programs_10_times(self):
        redis = self.redis()
        hosts = [self.host(redis.url) for _ in range(4)]
        self.check_flights(self.fly(hosts, 32), 10)
        self.assertEqual(sum(h.status()["led"] for h in hosts), 10)

    def test_hosts_of_one_key_compile_10_programs_10_times(self):
        """Leases are signed, and renewed under a new signature: the compiles take longer than a lease."""
        redis, (env, _) = self.redis(), self.keyed("fleet")
        hosts = [self.host(redis.url + "?lease=1s", **env) for _ in range(2)]
        slow = subprocess.Popen(hosts[0].client("make", self.programs[0], 20000, 3000), stdout=subprocess.PIPE, text=True)
        self.assertEqual(slow.stdout.readline().split()[0], "LEAD")
        self.assertEqual(hosts[1].make(self.programs[0]), "FOUND")
        slow.communicate(timeout=60)
        self.check_flights(self.fly(hosts, 8), 9)
        self.assertEqual(sum(h.status()["led"] for h in hosts), 10)

    def test_a_host_does_not_wait_for_one_that_it_does_not_trust(self):
        redis = self.redis()
        a, b = self.host(redis.url, **self.keyed("a")[0]), self.host(redis.url, **self.keyed("b")[0])
        doomed = self.lead_and_die(a, self.programs[0])
        self.assertEqual(b.make(self.programs[0]), "LEAD")
        self.assertIsNone(doomed.poll())  # the other one still compiles
        self.assertEqual(b.status()["waited"], 0)
        doomed.kill()
        doomed.wait()

    def test_a_web_server_that_ignores_conditions_has_at_most_one_leader_per_host(self):
        nginx = self.nginx()
        hosts = [self.host(nginx.url) for _ in range(2)]
        answers = self.fly(hosts, 8)
        compiles = sum(h.status()["led"] for h in hosts)
        self.check_flights(answers, compiles)
        self.assertIn(compiles, range(10, 21))

    def test_when_leaders_are_killed_others_take_over(self):
        redis = self.redis()
        hosts = [self.host(redis.url) for _ in range(4)]
        doomed = [self.lead_and_die(hosts[i % 4], p) for i, p in enumerate(self.programs)]
        answers = []
        flying = threading.Thread(target=lambda: answers.extend(self.fly(hosts, 32)))
        flying.start()
        self.assertTrue(wait_for(lambda: all(h.status()["waited"] for h in hosts)))
        for d in doomed:
            d.kill()
            d.wait()
        flying.join(100)
        self.check_flights(answers, 10)
        self.assertEqual(sum(h.status()["led"] for h in hosts), 20)  # ten died

    def test_when_a_whole_host_dies_its_leases_expire(self):
        redis = self.redis()
        a = self.host(redis.url + "?lease=1s")
        b = self.host(redis.url + "?lease=1s")
        doomed = self.lead_and_die(a, self.programs[0])
        a.process.send_signal(signal.SIGKILL)
        self.assertEqual(b.make(self.programs[0]), "LEAD")
        self.assertEqual(redis.ask("EXISTS", "stet:1:entry:" + self.key(self.programs[0])), b":1\r\n")
        doomed.kill()
        doomed.wait()

    def test_a_host_that_slept_through_its_lease_does_not_overwrite_anothers_entry(self):
        redis = self.redis()
        a = self.host(redis.url + "?lease=500ms")
        b = self.host(redis.url + "?lease=500ms")
        sleeper = self.lead_and_die(a, self.programs[0])
        a.process.send_signal(signal.SIGSTOP)
        self.assertEqual(b.make(self.programs[0], 0, 5000), "LEAD")
        self.assertTrue(b.shared())
        before = redis.ask("GET", "stet:1:entry:" + self.key(self.programs[0]))
        a.process.send_signal(signal.SIGCONT)
        sleeper.kill()
        sleeper.wait()
        self.assertEqual(a.ask(self.programs[0])[0], "FOUND")
        self.assertEqual(before, redis.ask("GET", "stet:1:entry:" + self.key(self.programs[0])))

    def test_hosts_that_wait_compile_when_redis_dies(self):
        redis = self.redis()
        a, b = self.host(redis.url), self.host(redis.url)
        doomed = self.lead_and_die(a, self.programs[0])
        waiting = subprocess.Popen(b.client("make", self.programs[0], 2000, 0), stdout=subprocess.PIPE, text=True)
        self.assertTrue(wait_for(lambda: b.status()["waited"] == 1))
        redis.stop()
        out, _ = waiting.communicate(timeout=60)
        self.assertEqual(out.split()[0], "LEAD")
        doomed.kill()
        doomed.wait()


class Races(Case):
    """One busy scene that decides nothing by the clock, for ThreadSanitizer: flights, leaders that die, shares,
    lies, keys that change, a tier that goes away and comes back, questions about it all the while."""
    fly, lead_and_die, keyed = Flight.fly, Flight.lead_and_die, Flight.keyed

    def test_concurrent_flights_shares_and_failures_have_no_data_race(self):
        redis, nginx = self.redis(), self.nginx()
        redis.put(self.key(self.programs[9]), b"a lie")
        env, _ = self.keyed("fleet")
        hosts = [self.host(redis.url, nginx.url, **env) for _ in range(2)]
        doomed = [self.lead_and_die(hosts[i % 2], p) for i, p in enumerate(self.programs[:3])]
        answers, over = [], threading.Event()
        flying = threading.Thread(target=lambda: answers.extend(self.fly(hosts, 8, 20)))

        def ask():
            while not over.wait(0.05):
                os.utime(env["XDG_CONFIG_HOME"] + "/stet/trusted.keys")  # it is read again
                for h in hosts:
                    h.status()
        asking = threading.Thread(target=ask)
        flying.start()
        asking.start()
        time.sleep(0.5)
        for d in doomed:
            d.kill()
            d.wait()
        flying.join(200)
        redis.stop()
        for h in hosts:
            h.ask(self.programs[0])
            h.forget(self.key(self.programs[0]))
            h.ask(self.programs[0])
        redis.start()
        over.set()
        asking.join(100)
        self.assertEqual([(len(a), a[-1]) for a in answers], [(11, 0)] * 8)
        for h in hosts:
            h.process.terminate()
            self.assertEqual(h.process.wait(60), 0)
            with open(h.dir + "/log") as f:
                self.assertNotIn("ThreadSanitizer", f.read())


class Process(Case):
    def test_only_one_agent_listens_at_a_socket(self):
        a = self.host()
        second = subprocess.run([STET, "agent", "--foreground", "--socket", a.socket], capture_output=True,
                                text=True, env=a.env)
        self.assertEqual(second.returncode, 3)
        self.assertIn("another agent listens there", second.stderr)

    def test_it_starts_in_the_background_and_stops(self):
        env = dict(os.environ, XDG_RUNTIME_DIR=self.dir, STET_STATE_DIR=self.dir + "/state", STET_TIERS="",
                   XDG_CONFIG_HOME=self.dir)
        env.pop("STET_AGENT", None)
        run = lambda *a: subprocess.run([STET, "agent", *a], capture_output=True, text=True, env=env, timeout=60)
        self.assertIn("no tiers", run().stdout)
        again = run("status")
        self.assertEqual(again.returncode, 0)
        stopped = run("stop")
        self.assertEqual(stopped.returncode, 0)
        self.assertIn("has ended", stopped.stderr)
        self.assertEqual(run("status").returncode, 1)  # at once: stop waits for its end

    def test_it_ends_when_idle(self):
        a = self.host(STET_AGENT_IDLE="1")
        self.assertEqual(a.process.wait(60), 0)

    def test_a_socket_that_a_killed_agent_left_is_taken_over(self):
        a = self.host()
        a.process.kill()
        a.process.wait()
        a.start()
        self.assertTrue(wait_for(lambda: a.ask(self.programs[0])[0] == "LEAD"))

    def test_garbage_on_the_socket_does_not_stop_the_agent(self):
        import socket
        a = self.host()
        for data in (b"", b"x" * 100000, b"STETAGT\n" + b"\xff" * 100, b"STETAGT\n\1\0\0\0\0\0\0\0" + b"\0" * 16):
            s = socket.socket(socket.AF_UNIX)
            s.connect(a.socket)
            try:
                s.sendall(data)
                s.shutdown(socket.SHUT_WR)
                s.recv(100)
            except OSError:
                pass
            s.close()
        self.assertEqual(a.ask(self.programs[0])[0], "LEAD")
        self.assertGreaterEqual(a.status()["strange"], 2)

    def test_malformed_tiers_are_refused_with_a_message(self):
        for tiers, word in (("ftp://x", "no such kind"), ("nonsense", "address like"), ("redis://h:port", "port"),
                            ("http://h?timeout=soon", "not a time"), ("s3:///x", "bucket")):
            out = subprocess.run([STET, "agent", "--foreground", "--socket", self.dir + "/s"], capture_output=True,
                                 text=True, env=dict(os.environ, STET_TIERS=tiers))
            self.assertNotEqual(out.returncode, 0)
            self.assertIn(word, out.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], warnings="ignore")
