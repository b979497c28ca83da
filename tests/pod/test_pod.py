"""Jobs of jax.distributed on the CPU backend: ranks that differ are named with rank, cause and line, ranks that do not come
with their line, and clean jobs raise nothing and compute the same bits.

usage: test_pod.py BUILD_DIR PYTHON     a Python with JAX; POD_LONG=1 in the environment: 8 processes too, and how long it took
                                        to name each difference"""
import glob
import json
import os
import signal
import socket
import subprocess
import sys
import unittest

from pod_case import HERE, Case, marks

sys.path.insert(0, str(HERE.parent / "agent"))
from servers import Redis  # noqa: E402

Case.BUILD, Case.PYTHON = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
LINES = marks("job.py", "lib2/layers.py", "hang.py", "apart.py")
LONG = os.environ.get("POD_LONG") == "1"


class Differ(Case):
    """WAYS of job.py: the class of the change, and its marked line."""
    WAYS = {"constant": ("baked-constant", "here: constant"), "branch": ("graph-change", "here: branch"),
            "set": ("graph-change", "here: set"), "module": ("graph-change", "here: module"),
            "shape": ("shape-drift", "source: shape"), "flag": ("options-drift", None)}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.begin()

    def differ(self, way, ranks, **variables):
        name = self.start("job.py", way, ranks, STEPS="1000000", **variables)  # it is ended below
        try:
            found = self.until(lambda: [d for d in self.divergences() if d["finding"] == "differs" and
                                        d["function"] == "train_step" or way == "flag" and d["class"] == "options-drift"],
                               lambda: self.output(name, 0) + self.output(name, ranks - 1) + str(self.new_events()))
        finally:
            self.ended(name, kill=True)
        return found[0]

    def check(self, d, way, odd):
        cause, line = self.WAYS[way]
        self.assertEqual((d["rank"], d["other"], d["class"], d["certain"]), (odd, 0, cause, True), d)
        if line:
            at = d["source" if line.startswith("source") else "origin"]
            self.assertEqual((at["file"], at["line"]), LINES[line])
        if LONG:
            print(f"\n{odd + 1} processes, {way}: named {d['after_s']:.1f} s after the compile began", end="", flush=True)
        return d

    def test_each_kind_of_divergence_is_named_with_rank_cause_and_line(self):
        for way in self.WAYS:
            with self.subTest(way):
                d = self.check(self.differ(way, 2, **({"POD_FRESH": "1"} if way == "set" else {})), way, 1)
                changes = {c["what"]: (c["from"], c["to"]) for c in d["changes"]}
                if way == "constant":
                    self.assertEqual(changes["constant in multiply"], ("1.25", "1.5"))
                    self.assertEqual(d["trigger"]["line"], LINES["again: train_step"][1])
                if way == "shape":
                    self.assertEqual(changes["argument batch dimension 0"], ("8", "6"))
                    self.assertTrue(d["went_on"])
                if way == "flag":
                    self.assertEqual(changes["variable XLA_FLAGS"], ("not set", "--xla_cpu_enable_fast_math=true"))
                self.assertEqual(d["reordered"], way == "set")

    def test_of_several_ranks_the_one_that_differs_is_named(self):
        """Of eight, each has an order of its own in a set."""
        for ways, ranks in ((("constant",), 4), (("constant", "branch", "module", "shape", "flag"), 8))[:2 if LONG else 1]:
            for way in ways:
                with self.subTest(way=way, ranks=ranks):
                    d = self.check(self.differ(way, ranks), way, ranks - 1)
                    if way in ("constant", "branch", "module"):
                        self.assertEqual(sorted(d["like_other"] + [0]), list(range(ranks - 1)))
                        self.assertTrue(d["odd_known"])

    def test_other_channels_find_the_same(self):
        for channel in ("jax", "folder"):
            with self.subTest(channel):
                self.check(self.differ("constant", 2, STET_RANKS_CHANNEL=channel, STET_RANKS_DIR=self.dir + "/share"),
                           "constant", 1)

    def test_a_difference_that_is_written_late_names_its_job(self):
        """`stet run` stands still while ranks of a job differ, and writes it when the next job runs."""
        self.run_.send_signal(signal.SIGSTOP)
        try:
            name = self.start("job.py", "constant", 2, STEPS="1000000")
            of = self.pids

            def found():
                explained = self.stet("explain", "--format=json").stdout
                return [d for d in json.loads(explained or "{}").get("divergences", []) if d["pid"] in of]

            job = self.until(found)[0]["job"]
            self.ended(name, kill=True)
            name = self.start("job.py", "clean", 2)
            self.assertEqual(self.ended(name), [0, 0], self.output(name, 0))
        finally:
            self.run_.send_signal(signal.SIGCONT)
        late = self.until(self.written)
        self.assertEqual(({d["job"] for d in late}, {d["pid"] for d in late} <= set(of)), ({job}, True), late)
        self.assertEqual(self.divergences(), [])

    def test_a_compile_that_differs_is_refused_on_all_ranks(self):
        name = self.start("job.py", "constant", 3, STET_ON_DIVERGENCE="fail")
        codes = self.ended(name)
        self.assertEqual(codes, [1, 1, 1])
        for rank in range(3):
            self.assertIn("do not compile the same train_step", self.output(name, rank))
        self.assertIn("ranks 2 and 0 differ", self.output(name, 2))
        self.assertIn("ranks 0 and 2 differ", self.output(name, 0))

    def test_clean_jobs_raise_nothing_and_compute_the_same(self):
        for ranks in (2, 4, 8) if LONG else (2, 4):
            losses = set()
            # a rank that is forked has the layer already: one without it begins anew
            for variables in ({}, {"STET": "off", "POD_FRESH": "1"}, {"STET_ON_DIVERGENCE": "fail"})[:3 if ranks == 2 else 2]:
                name = self.start("job.py", "clean", ranks, **variables)
                self.assertEqual(self.ended(name), [0] * ranks, self.output(name, 0))
                journals = [glob.glob(f"{self.dir}/state/runs/*/journal/*-{pid}-*") != [] for pid in self.pids]
                self.assertEqual(journals, ["STET" not in variables] * ranks)
                for rank in range(ranks):
                    losses.update(l for l in self.output(name, rank).splitlines() if l.startswith("loss "))
                self.assertIn("evaluated ", self.output(name, 0))  # by rank 0 alone
            self.assertEqual(len(losses), 1, losses)
            self.assertEqual(self.divergences(), [])


class Apart(Case):
    """apart.py: ranks that have no device in common, so that nothing must be the same on all of them."""

    def test_what_one_rank_compiles_alone_is_not_reported_and_a_constant_is_named(self):
        for way, named in (("clean", []), ("constant", [("differs", "baked-constant", False, 2, 0, "train_step")])):
            with self.subTest(way):
                self.begin()
                name = self.start("apart.py", way, 3, EVENTS=self.events)
                self.assertEqual(self.ended(name), [0] * 3, self.output(name, 0))
                self.finish()
                account = json.loads(self.stet("explain", "--format=json").stdout)
                found = account["divergences"]
                self.assertEqual([(d["finding"], d["class"], d["certain"], d["rank"], d["other"], d["function"]) for d in found], named)
                self.assertEqual([(r["class"], r["function"]) for r in account["recompiles"] if not r["benign"]], [])
                self.assertEqual([d["origin"]["line"] for d in found], [LINES["here: apart"][1]] * len(named))


class Service(Case):
    """A coordination service of JAX that is dead, slow or lying, as the channel. Each job has a run of its own."""

    def job(self, how, policy):
        """The losses, and what the summary says about comparing."""
        self.begin()
        name = self.start("job.py", "clean", 2, STET_RANKS_CHANNEL="jax", SERVICE=how, STET_ON_DIVERGENCE=policy,
                          STET_RANKS_WAIT_MS="1000")
        self.assertEqual(self.ended(name), [0, 0], self.output(name, 0))
        losses = {l for r in range(2) for l in self.output(name, r).splitlines() if l.startswith("loss ")}
        self.assertEqual([d for d in self.divergences() if d["certain"]], [])
        self.finish()
        return losses, json.loads(self.stet("explain", "--format=json").stdout)["comparing"]

    def test_a_faulty_coordination_service_changes_nothing(self):
        losses = set()
        ways = [(h, p) for h in ("sound", "dead", "slow", "lie") for p in ("warn", "fail")]
        for how, policy in ways if LONG else (("sound", "fail"), ("dead", "warn"), ("lie", "fail")):
            with self.subTest(how=how, policy=policy):
                found, comparing = self.job(how, policy)
                losses |= found
                self.assertEqual((comparing["channel"], comparing["stopped"] > 0), ("jax", how != "sound"), comparing)
                if policy == "warn":
                    self.assertEqual(comparing["waited_s"], 0)
                if LONG:
                    print(f"\njax {how}, {policy}: waited {comparing['waited_s']:.1f} s; {comparing['why']}", end="", flush=True)
        self.assertEqual(len(losses), 1, losses)


class Hang(Case):
    """hang.py: the last ranks do not come; the others wait for them in a program of all."""
    KINDS = {"stop": "stopped", "loop": "host code", "lock": "waiting", "dead": "dead", "missing": "waiting", "loader": "waiting"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.begin()

    def ranks(self):
        out = self.stet("ranks", "--format=json")
        if out.returncode:
            return {}, {}
        listed = json.loads(out.stdout)
        return {r["rank"]: r for r in listed["ranks"] if r["pid"] in self.pids}, listed["hang"]

    def test_every_kind_of_hang_is_named_with_its_line(self):
        ways = list(self.KINDS)
        name = self.start("hang.py", ",".join(ways), len(ways) + 1)
        states = {}

        def as_expected():
            states.clear()
            states.update(self.ranks()[0])
            return len(states) == len(ways) + 1 and states[0]["kind"] == "device" and all(
                states[i + 1]["kind"] == self.KINDS[w] for i, w in enumerate(ways)) and all(
                s["age_ns"] > 2e9 for s in states.values())  # all that they did is written

        self.until(as_expected, lambda: json.dumps({r: [s["kind"], s["line"]] for r, s in states.items()}) + "".join(self.output(name, r) for r in range(7)))
        for i, way in enumerate(ways):
            if way != "dead":  # it has no line
                at = states[i + 1]["line"]
                self.assertEqual((at["file"], at["line"]), LINES["here: " + way])
                if way != "stop":  # it could not write what it did last
                    self.assertEqual((states[i + 1]["pending_executions"], states[i + 1]["finished_program"]), (0, "train_step"))
        self.assertEqual(states[0]["line"]["line"], LINES["here: device"][1])
        self.assertEqual((states[0]["pending_executions"], states[0]["pending_program"]), (1, "train_step"))
        self.ended(name, kill=True)

    def test_what_holds_a_job_up_is_printed_first(self):
        name = self.start("hang.py", "loop", 3)
        hang = self.until(lambda: (lambda r, h: h if len(r) == 3 and h.get("kind") else None)(*self.ranks()))
        self.assertEqual((hang["kind"], hang["ranks"], hang["waiting"]), ("host code", [2], 2))
        text = self.stet("ranks").stdout
        self.assertIn(f"hang.py:{LINES['here: loop'][1]} and has not come; 2 ranks wait for it in train_step\n", text)
        self.assertIn("ranks 0 and 1  device: waits for a program, at\n", text)
        self.ended(name, kill=True)

    def test_a_rank_that_waits_in_c_code_waits_for_its_program(self):
        name = self.start("hang.py", "lock", 2, BLOCK="1")
        states = self.until(lambda: (lambda r: r if len(r) == 2 and r[0]["kind"] == "device" else None)(self.ranks()[0]),
                            lambda: self.stet("ranks").stdout)
        self.assertEqual((states[0]["line"]["line"], states[0]["innermost"]), (LINES["here: block"][1], None))
        self.assertEqual((states[1]["kind"], states[1]["line"]["line"]), ("waiting", LINES["here: lock"][1]))
        self.ended(name, kill=True)

    def test_a_rank_that_never_comes_is_named_with_its_line(self):
        """Over the job's own store alone: what it says about itself."""
        name = self.start("hang.py", "loader", 3, AGAIN="1", STET_RANKS_LATE="1s")
        d = self.until(lambda: [d for d in self.divergences() if d["finding"] == "missing"], lambda: self.output(name, 0))[0]
        self.assertEqual((d["rank"], d["missing"], d["function"], d["answered"]), (0, [2], "train_step", True))
        self.assertEqual((d["other_at"]["file"], d["other_at"]["line"]), LINES["here: loader"])
        self.assertEqual(d["last_program"], "train_step")
        self.ended(name, kill=True)


class Elsewhere(Case):
    """A job on two hosts, with a `stet run` on each."""

    def on(self, host, **variables):
        return dict(self.env, OTHER_HOST=host, LD_PRELOAD=self.BUILD + "/lib/libother_host.so", **variables)

    def test_ranks_of_other_hosts_are_shown_with_kind_and_line(self):
        """They see one state folder, and so does a third host."""
        self.watch([self.on("alpha"), self.on("beta")], self.on("gamma"), "--no-store")

    def test_ranks_of_hosts_without_a_common_folder_are_shown_through_the_agent(self):
        redis = Redis(self.dir)
        self.addCleanup(redis.stop)
        hosts = []
        for host in ("alpha", "beta"):
            own = f"{self.dir}/{host}"
            os.makedirs(own, mode=0o700)
            hosts.append(self.on(host, XDG_RUNTIME_DIR=own, STET_STATE_DIR=own + "/state", STET_STORE=own + "/store",
                                 STET_TIERS=redis.url, STET_TRUST="any", STET_AGENT_IDLE="60"))
            self.addCleanup(subprocess.run, [self.stet_path, "agent", "stop"], env=hosts[-1], capture_output=True)
        self.watch(hosts, hosts[0])

    def watch(self, hosts, watcher, *options):
        """Both ranks are shown with kind and line, seen with the environment `watcher`."""
        runs = []
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        for rank, host in enumerate(hosts):
            env = dict(host, POD_RANK=str(rank), POD_WORLD="2", POD_PORT=str(port), STET_RANKS_CHANNEL="jax")
            runs.append(subprocess.Popen([self.stet_path, "run", "--cpu", *options, "--quiet", "--", self.PYTHON, str(HERE / "hang.py"),
                                          "loop"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.dir,
                                         start_new_session=True))
            self.addCleanup(self.kill, runs[-1])

        def ranks():
            out = subprocess.run([self.stet_path, "ranks", "--format=json"], env=watcher, capture_output=True, text=True)
            return {r["rank"]: r for r in json.loads(out.stdout)["ranks"]} if out.returncode == 0 else {}

        found = self.until(lambda: (lambda r: r if [r[k]["kind"] for k in sorted(r)] == ["device", "host code"] else None)(ranks()),
                           lambda: json.dumps(ranks(), indent=1))
        self.assertEqual([found[k]["host"] for k in (0, 1)], ["alpha", "beta"])
        self.assertEqual((found[1]["line"]["file"], found[1]["line"]["line"]), LINES["here: loop"])
        self.assertEqual(found[0]["line"]["line"], LINES["here: device"][1])
        self.assertEqual(found[0]["pending_program"], "train_step")
        text = subprocess.run([self.stet_path, "ranks"], env=watcher, capture_output=True, text=True).stdout
        self.assertRegex(text, r"rank 1 \(process \d+\) on beta, \d+ s ago  host code: Python runs, at\n    \S*hang.py:")

    @staticmethod
    def kill(run):
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], warnings="ignore")
