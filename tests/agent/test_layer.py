"""The layer's side: real processes with the layer in them, over the fake plugin (slow compiles) and over
the CPU backend."""
import json
import os
import socket
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.dirname(__file__))
from hosts import BUILD, CLIENT, SANITIZER, STET, Case, patient
from servers import wait_for

HARNESS, DUMP = BUILD + "/bin/pjrt_harness", BUILD + "/bin/journal_dump"
FAKE, CPU = BUILD + "/lib/libfake_pjrt.so", BUILD + "/lib/libstet_cpu.so"
RUNTIME = {"address": "libasan.so", "thread": "libtsan.so"}


def preload():
    found = [subprocess.run(["cc", "-print-file-name=" + so], capture_output=True, text=True).stdout.strip()
             for name, so in RUNTIME.items() if name in SANITIZER]
    return ":".join(found + [BUILD + "/lib/libstet.so"])


PRELOAD = preload()


class Layer(Case):
    def setUp(self):
        super().setUp()
        self.runs = 0

    def start(self, host, programs, plugin=FAKE, socket=None, **env):
        """A process that compiles these programs; its run folder is the last of self.folders."""
        self.runs += 1
        folder = f"{self.dir}/run{self.runs}"
        env = dict(os.environ, LD_PRELOAD=PRELOAD, STET_DIR=folder, STET_STORE=host.store if host else self.dir + "/store",
                   STET_AGENT=socket or host.socket, STET_TRUST=host.env["STET_TRUST"] if host else "", **{"STET_AGENT_WAIT": "30s", "ASAN_OPTIONS": "detect_leaks=0", **env})
        for name in ("STET", "STET_PLUGIN", "STET_RUN"):
            env.pop(name, None)
        p = subprocess.Popen([HARNESS, plugin, *programs], env=env, stdout=subprocess.PIPE, text=True)
        p.folder = folder
        self.addCleanup(p.stdout.close)
        return p

    def finish(self, p):
        """What it printed that must not depend on who stands between, and how each compile went."""
        out, _ = p.communicate(timeout=60)
        self.assertEqual(p.returncode, 0)
        dump = subprocess.run([DUMP, p.folder], capture_output=True, text=True, check=True).stdout
        ends = [json.loads(line) for line in dump.splitlines() if '"compile_end"' in line]
        return out.split(',"calls":')[0], ends

    def compiled(self, ends):
        return sum(not e.get("served") for e in ends)

    def fleet(self, hosts, plugin, **env):
        running = [self.start(hosts[c % len(hosts)], [self.programs[(c + i) % 10] for i in range(10)], plugin, **env)
                   for c in range(32)]
        return [self.finish(p)[1] for p in running]

    def check(self, fleet):
        self.assertEqual([len(ends) for ends in fleet], [10] * 32)
        self.assertEqual(sum(map(self.compiled, fleet)), 10)
        served = {(e.get("served"), e.get("tier")) for ends in fleet for e in ends if e.get("served")}
        self.assertLessEqual(served, {(2, None), (2, "agent"), (3, "redis")})
        self.assertIn((3, "redis"), served)

    def test_32_processes_compile_10_programs_10_times(self):
        redis = self.redis()
        hosts = [self.host(redis.url) for _ in range(4)]
        self.check(self.fleet(hosts, FAKE, FAKE_COMPILE_MS="50"))

    def test_32_processes_on_the_cpu_backend_compile_10_programs_10_times(self):
        redis = self.redis()
        hosts = [self.host(redis.url) for _ in range(4)]
        self.check(self.fleet(hosts, CPU))

    def test_killed_leaders_cost_no_second_compile_of_a_program(self):
        redis = self.redis()
        hosts = [self.host(redis.url) for _ in range(4)]
        doomed = [self.start(hosts[i % 4], [p], FAKE_COMPILE_MS="60000") for i, p in enumerate(self.programs)]
        self.assertTrue(wait_for(lambda: sum(h.status()["led"] for h in hosts) == 10))
        fleet = []
        flying = threading.Thread(target=lambda: fleet.extend(self.fleet(hosts, FAKE, FAKE_COMPILE_MS="50")))
        flying.start()
        self.assertTrue(wait_for(lambda: sum(h.status()["waited"] for h in hosts) >= 10))
        for d in doomed:
            d.kill()
            d.wait()
        flying.join()
        self.check(fleet)

    def test_executables_from_a_tier_compute_the_same_results(self):
        redis = self.redis()
        first, ends = self.finish(self.start(self.host(redis.url), self.programs, CPU))
        self.assertEqual(self.compiled(ends), 10)
        self.assertTrue(wait_for(lambda: redis.ask("DBSIZE") == b":10\r\n"))
        second, ends = self.finish(self.start(self.host(redis.url), self.programs, CPU))
        self.assertEqual(first, second)
        self.assertEqual({(e["served"], e["tier"], e["agent"]) for e in ends}, {(3, "redis", "found")})

    def test_a_read_only_store_is_served_from_tiers_and_stays_unchanged(self):
        redis = self.redis()
        _, ends = self.finish(self.start(self.host(redis.url), self.programs, CPU))
        self.assertEqual(self.compiled(ends), 10)
        self.assertTrue(wait_for(lambda: redis.ask("DBSIZE") == b":10\r\n"))
        reader = self.host(redis.url, STET_STORE_MODE="read-only")
        p = self.start(reader, self.programs, CPU, STET_STORE_MODE="read-only")
        _, ends = self.finish(p)
        self.assertEqual({(e["served"], e["tier"]) for e in ends}, {(3, "redis")})
        self.assertEqual(os.listdir(reader.store), [])
        self.assertEqual([f for _, _, files in os.walk(p.folder) for f in files if f.endswith(".stet")], [])
        # what nobody has is compiled at once, and nobody waits for one who keeps nothing
        with open(self.programs[0]) as f:
            text = f.read().replace("stablehlo.add", "stablehlo.multiply")
        with open(self.programs[0], "w") as f:
            f.write(text)
        _, ends = self.finish(self.start(reader, self.programs[:1], CPU, STET_STORE_MODE="read-only"))
        self.assertEqual((self.compiled(ends), ends[0]["agent"]), (1, "alone"))
        self.assertEqual(reader.status()["led"], 0)

    def test_an_entry_that_a_read_only_process_fetched_is_copied_to_a_nearer_tier(self):
        redis, nginx = self.redis(), self.nginx()
        first = self.host(nginx.url)
        self.assertEqual(self.compiled(self.finish(self.start(first, self.programs[:1], CPU))[1]), 1)
        self.assertTrue(wait_for(lambda: first.status()["shared"] == 1))
        redis.ask("CONFIG", "SET", "maxmemory", "1")  # takes nothing: it will be tried again
        reader = self.host(redis.url, nginx.url, STET_STORE_MODE="read-only")
        _, ends = self.finish(self.start(reader, self.programs[:1], CPU, STET_STORE_MODE="read-only"))
        self.assertEqual({(e["served"], e["tier"]) for e in ends}, {(3, "http")})
        redis.ask("CONFIG", "SET", "maxmemory", "0")
        self.assertTrue(wait_for(lambda: redis.ask("DBSIZE") == b":1\r\n"))
        self.assertEqual(reader.status()["not_shared"], 0)

    def test_an_entry_that_failed_to_load_is_copied_to_no_tier(self):
        redis, nginx = self.redis(), self.nginx()
        first = self.host(nginx.url)
        self.finish(self.start(first, self.programs[:4]))
        self.assertTrue(wait_for(lambda: first.status()["shared"] == 4))
        reader = self.host(redis.url, nginx.url, STET_STORE_MODE="read-only")
        _, ends = self.finish(self.start(reader, self.programs[:4], STET_STORE_MODE="read-only",
                                         FAKE_FAIL="PJRT_Executable_DeserializeAndLoad"))
        self.assertEqual([(e["store"], e["tier"]) for e in ends], [("load-failed", "http")] * 4)
        # nor what its loader died of
        p = self.start(reader, self.programs[:1], STET_STORE_MODE="read-only", FAKE_CRASH="PJRT_Executable_DeserializeAndLoad")
        p.communicate(timeout=60)
        self.assertNotEqual(p.returncode, 0)
        reader.stop()  # once it has shared what it has to
        self.assertEqual(redis.ask("DBSIZE"), b":0\r\n")

    def test_a_read_only_process_records_no_failed_load(self):
        redis = self.redis()
        self.finish(self.start(self.host(redis.url), self.programs[:2]))
        self.assertTrue(wait_for(lambda: redis.ask("DBSIZE") == b":2\r\n"))
        reader = self.host(redis.url, STET_STORE_MODE="read-only")
        failing = dict(STET_STORE_MODE="read-only", FAKE_FAIL="PJRT_Executable_DeserializeAndLoad")
        p = self.start(reader, self.programs[:2], **failing)
        _, ends = self.finish(p)
        self.assertEqual([e["store"] for e in ends], ["load-failed"] * 2)
        left = [f for folder, _, files in os.walk(p.folder) for f in files if "fetched-" in folder]
        self.assertEqual((left, os.listdir(reader.store)), ([], []))

    def alone(self, socket, word, **env):
        """Three programs are compiled, whatever the agent at this socket does."""
        _, ends = self.finish(self.start(None, self.programs[:3], socket=socket, **env))
        self.assertEqual(self.compiled(ends), 3)
        self.assertEqual([e["agent"] for e in ends], [word] * 3)
        return ends

    def test_without_an_agent_programs_are_compiled(self):
        self.alone(self.dir + "/nobody", "agent-absent")

    def listener(self, answer):
        """An agent that does what it likes."""
        s = socket.socket(socket.AF_UNIX)
        s.bind(self.dir + "/odd")
        s.listen(16)
        self.addCleanup(s.close)
        self.guests = []

        def accept():
            while True:
                try:
                    c, _ = s.accept()
                except OSError:
                    return
                self.guests.append(c)
                try:
                    c.recv(1000)
                    answer(c)
                except OSError:  # who only tells something does not wait for an answer
                    pass
        threading.Thread(target=accept, daemon=True).start()
        return self.dir + "/odd"

    def test_an_agent_that_hangs_delays_one_compile_by_the_bound(self):
        ends = self.alone(self.listener(lambda c: None), "agent-silent", STET_AGENT_WAIT="500ms")
        self.assertGreaterEqual(ends[0]["agent_ns"], 499e6)
        self.assertEqual([e.get("agent_ns", 0) for e in ends[1:]], [0, 0])  # neither asked
        self.assertEqual(len(self.guests), 1)

    def test_an_agent_that_closes_the_connection_is_ignored(self):
        self.alone(self.listener(lambda c: c.close()), "agent-gone")

    def test_an_agent_that_sends_garbage_is_ignored(self):
        self.alone(self.listener(lambda c: (c.sendall(b"nonsense" * 100), c.close())), "agent-gone")

    def test_an_agent_that_claims_to_have_fetched_is_not_believed(self):
        liar = subprocess.Popen([CLIENT, "lie", self.dir + "/liar"])
        self.addCleanup(liar.wait)
        self.addCleanup(liar.kill)
        self.assertTrue(wait_for(lambda: os.path.exists(self.dir + "/liar")))
        self.alone(self.dir + "/liar", "found")

    def test_a_leader_whose_compile_fails_lets_the_others_try(self):
        with open(self.programs[0], "a") as f:
            f.write("// error 3 it does not please\n")
        host, go = self.host(), self.dir + "/go"
        leader = self.start(host, self.programs[:1], FAKE_COMPILE_UNTIL=go)
        self.assertTrue(wait_for(lambda: host.status()["led"] == 1))
        others = [self.start(host, self.programs[:1]) for _ in range(3)]
        self.assertTrue(wait_for(lambda: host.status()["waited"] == 3))
        with open(go, "w"):
            pass
        for p in [leader, *others]:
            p.communicate(timeout=60)
        # all at once, none behind another
        self.assertEqual((host.status()["led"], host.status()["alone"]), (1, 3))

    @unittest.skipIf(SANITIZER, "a sanitized layer can't be loaded into what `stet run` starts")
    def test_a_run_starts_the_agent_by_itself(self):
        redis = self.redis()
        for name, served in (("one", 0), ("two", 3)):
            env = dict(os.environ, XDG_RUNTIME_DIR=f"{self.dir}/{name}", STET_STORE=f"{self.dir}/{name}/store",
                       STET_STATE_DIR=f"{self.dir}/{name}/state", STET_TIERS=patient(redis.url), STET_AGENT_IDLE="20", STET_TRUST="any", STET_AGENT_WAIT="30s")
            env.pop("STET_AGENT", None)
            os.makedirs(env["XDG_RUNTIME_DIR"])
            done = subprocess.run([STET, "run", "--", HARNESS, CPU, *self.programs], env=env, capture_output=True,
                                  text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            shown = json.loads(subprocess.run([STET, "show", "--format=json"], env=env, capture_output=True, text=True,
                                              check=True).stdout)
            compiles = [c for p in shown["processes"] for c in p["compiles"]]
            self.assertEqual({(c["served"], c.get("tier")) for c in compiles},
                             {("remote", "redis") if served else ("compiled", None)})
            self.assertEqual("10 from redis" in done.stderr, bool(served), done.stderr)
            self.assertTrue(wait_for(lambda: redis.ask("DBSIZE") == b":10\r\n"))
            self.assertEqual(subprocess.run([STET, "agent", "stop"], env=env).returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], warnings="ignore")
