"""A job on two hosts: two runs of Stet, with two ranks each over the fake plugin, that share only a tier of the agent (Redis, or a
web server) or a folder. Ranks that differ are named on both, and refused with `fail`; tiers that are dead, slow or lying change
nothing.

usage: test_hosts.py BUILD_DIR [TEST…]"""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "agent"))
from servers import Nginx, Proxy, Redis, wait_for  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
STET = BUILD + "/bin/stet"
STAYING = """local n = 0
for _, key in ipairs(redis.call('keys', '*')) do if redis.call('pttl', key) < 0 then n = n + 1 end end
return n"""
PATIENT = "?connect=30s&timeout=60s"  # the machine may be slow


class Host:
    """One `stet run` with some ranks of a job, its state and its agent."""

    def __init__(self, folder, name, ranks, world, count, odd, store=False, **variables):
        self.dir, self.events = f"{folder}/{name}", f"{folder}/{name}/events"
        os.makedirs(self.dir, exist_ok=True)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("STET_", "JAX_", "POD_", "LIGHT_"))}
        self.env.update(STET_STATE_DIR=self.dir + "/state", HOME=self.dir, XDG_RUNTIME_DIR=self.dir, STET_AGENT_IDLE="20",
                        LIGHT_ONLY=ranks, LIGHT_JOB="coordinator:1234", **variables)
        if os.path.exists(self.events):
            os.remove(self.events)
        self.process = subprocess.Popen(
            [STET, "run", *([] if store else ["--no-store"]), "--json-events=" + self.events, "--", sys.executable, HERE / "light.py",
             BUILD + "/bin/pod_rank", BUILD + "/lib/libfake_pjrt.so", "none", str(world), str(count), *odd],
            env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.dir)

    def divergences(self):
        if not os.path.exists(self.events):
            return []
        with open(self.events) as f:
            return [d for line in f if line.endswith("}\n") for d in json.loads(line).get("divergences", ())]

    def finish(self):
        """What the ranks printed, what `stet run` printed, and the account of the run."""
        out, self.stderr = self.process.communicate(timeout=300)
        self.code = self.process.returncode
        explained = subprocess.run([STET, "explain", "--format=json"], env=self.env, capture_output=True, text=True)
        return [json.loads(line) for line in out.splitlines()], json.loads(explained.stdout)

    def stop_agent(self):
        subprocess.run([STET, "agent", "stop"], env=self.env, capture_output=True)


class Hosts(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="stet-hosts-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def server(self, kind):
        server = kind(tempfile.mkdtemp(dir=self.dir))
        self.addCleanup(server.stop)
        return server

    def launch(self, *odd, count=4, **variables):
        """A job of four ranks, of which the last one's program ODD is another. It stays until `self.over` exists."""
        self.over = f"{self.dir}/over{random.random()}"
        hosts = [Host(self.dir, name, ranks, 4, count, odd, POD_STAY_UNTIL=self.over, **variables)
                 for name, ranks in (("one", "0,1"), ("two", "2,3"))]
        for h in hosts:
            self.addCleanup(h.stop_agent)
        return hosts

    def let_go(self):
        pathlib.Path(self.over).touch()

    def agent(self, tier):
        return dict(STET_RANKS_CHANNEL="agent", STET_TIERS=tier, STET_TRUST="any")

    def check_named(self, hosts, channel):
        named = wait_for(lambda: all(h.divergences() for h in hosts), 120)
        self.let_go()
        for said, account in (h.finish() for h in hosts):
            self.assertTrue(named, account["comparing"])
            self.assertEqual([len(r["compile_ms"]) for r in said], [4, 4])
            self.assertEqual((account["comparing"]["channel"], account["comparing"]["stopped"]), (channel, 0))
            d = account["divergences"][0]
            self.assertEqual((d["finding"], d["rank"], d["other"], d["class"], d["certain"]),
                             ("differs", 3, 0, "baked-constant", True), d)
            self.assertEqual([(c["from"], c["to"]) for c in d["changes"]], [("2.5", "2.75")])

    def check_refused(self, hosts):
        self.let_go()
        for said, account in (h.finish() for h in hosts):
            self.assertEqual([r.get("failed") for r in said], [2, 2], said)
            self.assertIn("do not compile the same step", said[0]["why"])

    def test_ranks_that_share_a_redis_are_compared_launch_after_launch(self):
        """All launches have one name: the messages of the first are still there when the second begins."""
        redis = self.server(Redis)
        variables = self.agent(redis.url + PATIENT)
        self.check_named(self.launch("2", **variables), "agent")
        self.assertNotEqual(redis.ask("DBSIZE"), b":0\r\n")
        self.assertEqual(redis.ask("EVAL", STAYING, 0), b":0\r\n")  # all messages are removed some time
        self.check_named(self.launch("2", **variables), "agent")
        self.check_refused(self.launch("2", **variables, STET_ON_DIVERGENCE="fail"))
        hosts = self.launch(**variables, STET_ON_DIVERGENCE="fail")
        self.let_go()
        for said, account in (h.finish() for h in hosts):  # the user has mended it
            self.assertEqual([len(r["compile_ms"]) for r in said], [4, 4])
            self.assertEqual((account["divergences"], account["comparing"]["stopped"]), ([], 0), account["comparing"])

    def test_ranks_that_share_a_web_server_are_compared(self):
        variables = self.agent(self.server(Nginx).url + PATIENT)
        self.check_named(self.launch("2", **variables), "agent")
        self.check_refused(self.launch("2", **variables, STET_ON_DIVERGENCE="fail"))

    def test_ranks_that_share_a_folder_are_compared(self):
        variables = dict(STET_RANKS_CHANNEL="folder", STET_RANKS_DIR=self.dir + "/share")
        self.check_named(self.launch("2", **variables), "folder")
        self.check_refused(self.launch("2", **variables, STET_ON_DIVERGENCE="fail"))

    def test_a_program_is_compiled_once_for_the_whole_job(self):
        """Where compiles do not wait for each other, as with libtpu. While one rank compiles, the others wait, and load it."""
        once = dict(store=True, FAKE_PLATFORM="tpu", FAKE_COMPILE_MS="300", STET_TRUST="any")
        hosts = self.launch(**once, STET_TIERS=self.server(Redis).url + PATIENT, STET_AGENT_WAIT="60s")
        self.let_go()
        by = [h.finish()[1]["store"]["from"] for h in hosts]
        self.assertEqual(sum(b["compiled"] for b in by), 4, by)
        self.assertEqual(sum(sum(b.values()) for b in by), 16, by)
        alone = Host(self.dir, "alone", "0,1,2,3", 4, 4, (), **once, STET_AGENT="on", STET_AGENT_WAIT="60s")
        self.addCleanup(alone.stop_agent)
        self.assertEqual(alone.finish()[1]["store"]["from"], {"compiled": 4, "agent": 12})

    def check_unharmed(self, hosts, stopped):
        self.let_go()
        for h in hosts:
            said, account = h.finish()
            self.assertEqual((h.code, [len(r["compile_ms"]) for r in said]), (0, [4, 4]), h.stderr)
            self.assertEqual([d for d in account["divergences"] if d["certain"]], [])
            self.assertEqual(account["comparing"]["stopped"], stopped, account["comparing"])
            self.assertIn("2 of 2 processes did not compare compiles with other ranks to the end (rank ", h.stderr)
            yield account["comparing"]

    def test_a_tier_that_is_dead_slow_or_lying_changes_nothing_but_is_printed(self):
        redis = self.server(Redis)
        proxies = {"dead": None, "slow": Proxy(redis.port, delay=4), "lie": Proxy(redis.port, change=lambda b: b"$5\r\nhello\r\n")}
        for how, proxy in proxies.items():
            for policy in ("warn", "fail"):
                with self.subTest(how=how, policy=policy):
                    port = proxy.port if proxy else 1
                    hosts = self.launch(**self.agent(f"redis://127.0.0.1:{port}?connect=1s&timeout=1s"), STET_ON_DIVERGENCE=policy,
                                        STET_RANKS_WAIT_MS="1000")
                    for comparing in self.check_unharmed(hosts, 2):
                        if policy == "warn":
                            self.assertEqual(comparing["waited_s"], 0)
                        print(f"\nredis {how}, {policy}: waited {comparing['waited_s']:.1f} s: {comparing['why']}", end="", flush=True)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], warnings="ignore")
