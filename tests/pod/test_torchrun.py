"""Jobs of torchrun: torch.compile over gloo on the CPU, and TorchTPU on the CPU backend. Ranks that differ are named with rank,
cause and line; clean jobs raise nothing and compute the same bits.

usage: test_torchrun.py BUILD_DIR PYTHON [TEST…]     PYTHON of an environment with TorchTPU; POD_LONG=1 in the environment:
                                                     every way, and a table of how long it took to name them"""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

from pod_case import marks

HERE = pathlib.Path(__file__).resolve().parent
BUILD, PYTHON = (os.path.abspath(p) for p in sys.argv[1:3])
LONG = os.environ.get("POD_LONG") == "1"
LINES = marks("torch_job.py", "torch2/blocks.py")
# The class of the change, and its marked line.
WAYS = {"constant": ("baked-constant", "here: constant"), "branch": ("graph-change", "here: branch"),
        "set": ("graph-change", "here: set"), "module": ("graph-change", "here: module"), "flag": ("options-drift", None)}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Torchrun(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="stet-torchrun-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("TORCH", "STET_", "XLA_", "JAX_", "POD_"))}
        self.env.update(STET_STATE_DIR=self.dir + "/state", HOME=self.dir, PYTHONHASHSEED="random", OMP_NUM_THREADS="1",
                        STET_STORE="off", PYTHONWARNINGS="ignore")

    def tpu(self, ranks):
        """What TorchTPU wants to be set before torchrun; its own cache is shared through memory, by name."""
        name = f"stet-pod-{os.getpid()}-{free_port()}"
        self.addCleanup(shutil.rmtree, "/dev/shm/torch_tpu_cache/" + name, ignore_errors=True)
        return {"TORCH_TPU_TOPOLOGY": f"{ranks},1,1", "TORCH_TPU_XPROF_SESSION_ID": "1", "TORCH_TPU_TIER2_COMPILATION_CACHE": name,
                "TORCH_TPU_SLICEBUILDER_ADDRESSES": ",".join(f"localhost:{free_port()}" for _ in range(ranks))}

    def job(self, way, device, ranks, **variables):
        """The losses by rank, and the differences that were named while it ran."""
        state, events = tempfile.mkdtemp(dir=self.dir), f"{self.dir}/events"
        env = dict(self.env, TORCHINDUCTOR_CACHE_DIR=state, **variables)
        env.update(self.tpu(ranks) if device == "tpu" else {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"})
        if os.path.exists(events):
            os.remove(events)
        for name in {"HOLD", "UNTIL"} & set(variables):
            env[name] = events
        done = subprocess.run([BUILD + "/bin/stet", "run", *(["--cpu"] if device == "tpu" else []), "--json-events=" + events, "--",
                               os.path.dirname(PYTHON) + "/torchrun", f"--nproc-per-node={ranks}", str(HERE / "torch_job.py"), way,
                               device], env=env, capture_output=True, text=True, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr[-4000:])
        self.stderr, self.stdout = done.stderr, done.stdout
        self.events = [json.loads(line) for line in open(events)] if os.path.exists(events) else []
        if variables.get("HOLD") and way != "shape":
            return None, [d for e in self.events for d in e.get("divergences", ())]
        losses = dict(re.findall(r"loss (\d) (\S+?p[+-]\d+)", done.stdout))  # ranks may share a line
        self.assertEqual(sorted(losses), [str(r) for r in range(ranks)], done.stdout)
        return losses, [d for e in self.events for d in e.get("divergences", ())]

    def check(self, way, device, ranks=2):
        """The first difference of each lane."""
        cause, line = WAYS[way]
        backend = {"UNTIL": "1"} if device == "tpu" else {"BACKEND": "aot_eager"} if way != "flag" else {}
        _, found = self.job(way, device, ranks, **backend)
        found = [d for d in found if (d["finding"], d["class"], d["rank"], d["other"]) == ("differs", cause, ranks - 1, 0)]
        self.assertTrue(found, self.events)
        for d in found[:1]:
            if line:
                self.assertEqual((d["origin"]["file"], d["origin"]["line"]), LINES[line], d)
            if LONG:
                print(f"\n{device} {way}: {d['lane']}, {d['changes'][0]['what']} {d['changes'][0]['from']} -> "
                      f"{d['changes'][0]['to']}, named {d['after_s']:.1f} s after the later compile began", end="")
        return found

    def test_torchtpu_ranks_that_differ_are_named_in_both_lanes(self):
        found = {d["lane"]: d for d in self.check("constant", "tpu")}
        self.assertEqual(sorted(found), ["torch", "xla"])
        for d in found.values():
            self.assertEqual((d["origin"]["file"], d["origin"]["line"]), LINES["here: constant"])
        self.assertEqual([(c["from"], c["to"]) for c in found["xla"]["changes"]], [("1.25", "1.5")])

    def test_a_clean_torchtpu_job_raises_nothing_and_computes_the_same(self):
        losses, found = self.job("clean", "tpu", 2)
        self.assertEqual(found, [])
        self.assertNotEqual(losses["0"], losses["1"])  # they have data of their own
        self.assertEqual(self.job("clean", "tpu", 2, STET="off")[0], losses)

    def test_a_setting_of_inductor_is_named_before_it_has_generated_code(self):
        """Code is generated and compiled only after the difference was named; its complete settings come later still."""
        _, found = self.job("flag", "cpu", 2, HOLD="1")
        self.assertEqual(sorted(re.findall(r"rank (\d): named before code was generated", self.stdout)), ["0", "1"])
        self.assertEqual([(d["class"], d["rank"], d["other"], [(c["what"], c["from"], c["to"]) for c in d["changes"]]) for d in found],
                         [("options-drift", 1, 0, [("inductor_config[epilogue_fusion]", "default", "False")])])

    def test_another_shape_of_one_rank_is_named_while_it_compiles(self):
        """Code for the new shape is generated only after the difference was named."""
        losses, found = self.job("shape", "cpu", 2, HOLD="1", BACKEND="held")
        self.assertEqual(re.findall(r"rank (\d): named before code was generated", self.stdout), ["1"])
        d, = found
        self.assertEqual((d["class"], d["rank"], d["other"], [(c["from"], c["to"]) for c in d["changes"]]),
                         ("last-batch", 1, 0, [("4", "3")]), d)
        self.assertEqual((d["source"]["file"], d["source"]["line"]), LINES["source: shape"])
        self.assertIn("rank-divergence and last-batch: rank 1 compiles loss_of again, and rank 0 does not", self.stderr)
        if LONG:
            print(f"\ncpu shape, while it compiles: named {d['after_s']:.1f} s after the compile began", end="")

    @unittest.skipUnless(LONG, "POD_LONG=1")
    def test_every_way_is_named(self):
        for device in ("cpu", "tpu"):
            for way in WAYS:
                with self.subTest(device=device, way=way):
                    self.check(way, device)

    @unittest.skipUnless(LONG, "POD_LONG=1")
    def test_another_shape_is_named_on_its_rank(self):
        for device in ("cpu", "tpu"):
            with self.subTest(device):
                self.job("shape", device, 2, **({"BACKEND": "aot_eager"} if device == "cpu" else {}))
                again = [e for e in self.events if e.get("lane") == "torch" and e.get("rank") == 1 and e.get("function") == "loss_of"]
                self.assertEqual((again[0]["changes"][0]["from"], again[0]["changes"][0]["to"]), ("4", "3"))
                self.assertEqual((again[0]["source"]["file"], again[0]["source"]["line"]), LINES["source: shape"])
                self.assertIn("rank 1: loss_of (", self.stderr)
                self.assertIn("rank 1 compiles loss_of again, and rank 0 does not", self.stderr)
                d, = [d for e in self.events for d in e.get("divergences", ()) if d["class"] == "last-batch"]
                print(f"\n{device} shape: named {d['after_s']:.1f} s after the compile began", end="")

    @unittest.skipUnless(LONG, "POD_LONG=1")
    def test_clean_jobs_of_four_ranks_compute_the_same(self):
        for device in ("cpu", "tpu"):
            with self.subTest(device):
                losses, found = self.job("clean", device, 4)
                self.assertEqual(found, [])
                self.assertEqual(self.job("clean", device, 4, STET="off")[0], losses)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], warnings="ignore")
