"""Facts about the store under real frameworks: what was compiled is loaded back, and only that.

usage: test_store.py BUILD_DIR ENVIRONMENTS [unittest arguments]
"""

import glob
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(sys.argv.pop(1))
ENVS = os.path.abspath(sys.argv.pop(1))
STET = os.path.join(BUILD, "bin", "stet")

STEP = """\
import jax, jax.numpy as jnp
{comment}
@jax.jit
def step(w, x):
    return w - {lr} * jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w) ** 2))(w)

w = jnp.ones((4, 3), jnp.float32)
for i in range(3):
    w = step(w, jnp.full((2, 4), float(i), jnp.float32))
print("result", w.tolist())
"""

RANK = """\
import os, sys
import jax, jax.numpy as jnp
jax.distributed.initialize("localhost:" + os.environ["PORT"], 2, int(sys.argv[1]))
print("result", jax.jit(lambda x: jnp.tanh(x) * 2)(jnp.ones((3, 4))).sum(), flush=True)
"""

TPU_AHEAD = """\
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
t = topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x4")
s = jax.sharding.NamedSharding(jax.sharding.Mesh(np.array(t.devices[:1]), "x"), jax.sharding.PartitionSpec())
a = jax.ShapeDtypeStruct((128, 128), jnp.float32)

def f(w, x):
    return {body}

jax.jit(f, in_shardings=(s, s), out_shardings=s).trace(a, a).lower().compile()
"""
TPU_CALLBACK = TPU_AHEAD.format(body="w + jax.pure_callback(lambda v: v, a, x)")
TPU_AHEAD = TPU_AHEAD.format(body="w - jnp.tanh(x @ w)")
TPU = dict(TPU_SKIP_MDS_QUERY="1", TPU_ACCELERATOR_TYPE="v6e-8", TPU_WORKER_HOSTNAMES="localhost",
           ALLOW_MULTIPLE_LIBTPU_LOAD="1", JAX_PLATFORMS="cpu")

# Both give the compiler a function of this process: the first by an id, the second by an address.
PARTITIONED = """\
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import topologies
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import NamedSharding, PartitionSpec as P
t = topologies.get_topology_desc(platform="tpu", topology_name="v6e:2x4")
s = NamedSharding(jax.sharding.Mesh(np.array(t.devices), "x"), P("x"))
a = jax.ShapeDtypeStruct((128, 128), jnp.float32)
"""
CUSTOM_PARTITIONING = PARTITIONED + """
@custom_partitioning
def g(x):
    return jnp.tanh(x)

def partition(mesh, args, result):
    return mesh, lambda x: jnp.tanh(x), args[0].sharding, (args[0].sharding,)

g.def_partition(partition=partition, infer_sharding_from_operands=lambda mesh, args, result: args[0].sharding,
                sharding_rule="i j -> i j")
jax.jit(lambda x: g(x) + 1, in_shardings=s, out_shardings=s).trace(a).lower().compile()
"""
INSPECTED = PARTITIONED + """
def f(x):
    y = x + 1
    jax.debug.inspect_array_sharding(y, callback=print)
    return y * 2

jax.jit(f, in_shardings=s, out_shardings=s).trace(a).lower().compile()
"""

FRESH = """\
import time
import jax, jax.numpy as jnp
for i in range(5):
    print(jax.jit(lambda x: jnp.sin(x) + 1)(jnp.ones(4)).tolist())
    time.sleep(0.3)
"""

TORCH_XLA = """\
import torch, torch_xla, torch_xla.core.xla_model as xm
torch.manual_seed(0)
device = xm.xla_device()
model = torch.nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(4):
    optimizer.zero_grad()
    loss = (model(torch.ones(3, 4, device=device)) ** 2).sum()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
print("result", loss.item())
"""

TORCHTPU = """\
import torch, torch_tpu
torch.manual_seed(0)
w = torch.ones(4, 2).to("tpu")
x = torch.ones(3, 4).to("tpu")
for i in range(3):
    w = w - 0.1 * (x.t() @ torch.tanh(x @ w))
print("result", w.cpu().tolist())
"""


class Store(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="stet-store-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.env = dict(os.environ, STET_STATE_DIR=self.dir + "/state", STET_STORE=self.dir + "/store")
        for name in ("LD_PRELOAD", "STET", "STET_DIR", "STET_RUN", "XLA_FLAGS", "JAX_PLATFORMS"):
            self.env.pop(name, None)

    def script(self, text, name="train.py"):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)
        return path

    def run_it(self, text, python="jax", name="train.py", **env):
        """The result line, and how each compile was served and why."""
        done = subprocess.run(
            [STET, "run", "--cpu", "--quiet", "--", f"{ENVS}/{python}/bin/python", self.script(text, name)],
            capture_output=True, text=True, timeout=240, cwd=self.dir, env=dict(self.env, **env),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        compiles = [c for p in self.shown()["processes"] for c in p["compiles"]]
        return done.stdout, [(c["served"], c["store"]) for c in compiles if c["kind"] == "compile"]

    def shown(self):
        done = subprocess.run([STET, "show", "--format=json"], capture_output=True, text=True,
                              cwd=self.dir, env=self.env, check=True)
        return json.loads(done.stdout)

    first = None

    def begin(self):
        """A store as one run of STEP leaves it, and that run: made once for all tests that begin with it."""
        if not Store.first:
            Store.first = self.run_it(STEP.format(lr=0.1, comment=""))
            Store.kept = tempfile.mkdtemp(prefix="stet-store-")
            self.addClassCleanup(shutil.rmtree, Store.kept, ignore_errors=True)
            shutil.copytree(self.dir + "/store", Store.kept + "/store", symlinks=True)
        else:
            shutil.copytree(Store.kept + "/store", self.dir + "/store", symlinks=True)
        return Store.first

    def assert_cold(self, compiles):
        """Nothing came from disk; a program the process asks for twice may come from its memory."""
        self.assertIn("compiled", {served for served, _ in compiles})
        self.assertNotIn("disk", {served for served, _ in compiles})

    def assert_warm(self, compiles):
        self.assertIn("disk", {served for served, _ in compiles})
        self.assertNotIn("compiled", {served for served, _ in compiles})

    def test_a_restart_loads_everything(self):
        cold, first = self.run_it(STEP.format(lr=0.1, comment=""))
        warm, second = self.run_it(STEP.format(lr=0.1, comment=""))
        self.assertEqual(cold, warm)
        self.assert_cold(first)
        self.assert_warm(second)
        self.assertEqual(len(first), len(second))

    def test_a_loaded_program_has_the_line_that_waited_for_it(self):
        self.begin()
        self.run_it(STEP.format(lr=0.1, comment=""))
        (process,) = self.shown()["processes"]
        loaded = [c for c in process["compiles"] if c["served"] == "disk"]
        self.assertGreater(len(loaded), 2)
        # A load takes microseconds. When it ends before the stack could be read, the run says so.
        late = process["unread_stacks"]
        lines = [c["trigger"]["line"] for c in loaded if c.get("trigger")]
        self.assertGreaterEqual(len(lines) + late, len(loaded), loaded)
        self.assertLessEqual(set(lines), {7, 9})

    def test_another_path_and_a_comment_change_nothing(self):
        self.begin()
        _, moved = self.run_it(STEP.format(lr=0.1, comment="# a line\n\n"), name="else/where.py")
        self.assert_warm(moved)

    def test_a_hint_is_not_believed(self):
        cold, _ = self.begin()
        hints = glob.glob(self.dir + "/store/programs/*/*")
        self.assertGreater(len(hints), 1)
        wrong = os.readlink(hints[0])
        for hint in hints:
            os.unlink(hint)
            os.symlink(wrong, hint)
        again, served = self.run_it(STEP.format(lr=0.1, comment=""))
        self.assertEqual(cold, again)
        self.assert_warm(served)

    def test_another_constant_is_another_program(self):
        self.begin()
        _, other = self.run_it(STEP.format(lr=0.2, comment=""))
        self.assertEqual([w for s, w in other if s == "compiled"], ["miss"])

    def test_a_flag_that_reaches_the_compiler_misses(self):
        self.begin()
        _, other = self.run_it(STEP.format(lr=0.1, comment=""),
                               LIBTPU_INIT_ARGS="--xla_tpu_enable_latency_hiding_scheduler=true")
        self.assert_cold(other)
        _, dumps = self.run_it(STEP.format(lr=0.1, comment=""), LIBTPU_INIT_ARGS="--xla_dump_to=/nowhere")
        self.assert_warm(dumps)

    def test_a_damaged_entry_is_compiled_again_and_mended(self):
        cold, _ = self.begin()
        entries = glob.glob(self.dir + "/store/entries/*/*.stet")
        for path in entries:
            with open(path, "r+b") as f:
                f.seek(os.path.getsize(path) - 40)
                f.write(b"\xff" * 8)
        again, served = self.run_it(STEP.format(lr=0.1, comment=""))
        self.assertEqual(cold, again)
        self.assert_cold(served)
        self.assertIn(("compiled", "damaged"), served)
        _, third = self.run_it(STEP.format(lr=0.1, comment=""))
        self.assert_warm(third)

    def test_an_entry_the_plugin_refuses_is_set_aside(self):
        cold, _ = self.begin()
        # the same words and checksums around bytes that are no executable
        for path in glob.glob(self.dir + "/store/entries/*/*.stet"):
            subprocess.run([f"{BUILD}/bin/store-spoil", path], check=True)
        again, served = self.run_it(STEP.format(lr=0.1, comment=""))
        self.assertEqual(cold, again)
        self.assert_cold(served)
        self.assertIn(("compiled", "load-failed"), served)
        self.assertTrue(os.listdir(self.dir + "/store/quarantine"))

    def test_a_full_or_unwritable_store_does_not_stop_the_program(self):
        with open(self.dir + "/file", "w"):
            pass
        out, served = self.run_it(STEP.format(lr=0.1, comment=""), STET_STORE=self.dir + "/file/store")
        self.assertIn("result", out)
        self.assert_cold(served)

    def test_the_same_program_twice_in_a_process_is_served_from_memory(self):
        out, served = self.run_it(FRESH)
        self.assertEqual(len(set(out.split("\n")) - {""}), 1)
        kinds = [s for s, _ in served]
        self.assertEqual(kinds.count("memory"), 4)

    def test_read_only_loads_and_never_writes(self):
        self.begin()
        before = sorted(glob.glob(self.dir + "/store/**", recursive=True))
        _, served = self.run_it(STEP.format(lr=0.3, comment=""), STET_STORE_MODE="read-only")
        self.assertIn("compiled", {s for s, _ in served})
        self.assertIn("disk", {s for s, _ in served})
        self.assertEqual(before, sorted(glob.glob(self.dir + "/store/**", recursive=True)))

    def test_with_the_store_off_nothing_is_stored(self):
        done = subprocess.run(
            [STET, "run", "--cpu", "--no-store", "--quiet", "--", f"{ENVS}/jax/bin/python",
             self.script(STEP.format(lr=0.1, comment=""))],
            capture_output=True, text=True, cwd=self.dir, env=self.env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(os.path.exists(self.dir + "/store"))

    def test_torch_xla_restarts_without_a_compile(self):
        cold, first = self.run_it(TORCH_XLA, "torchxla")
        warm, second = self.run_it(TORCH_XLA, "torchxla")
        self.assertEqual(cold, warm)
        self.assertTrue(first)
        self.assert_warm(second)

    def test_torch_xla_restarts_without_a_compile_when_it_sends_mlir(self):
        cold, first = self.run_it(TORCH_XLA, "torchxla", XLA_STABLEHLO_COMPILE="1")
        warm, second = self.run_it(TORCH_XLA, "torchxla", XLA_STABLEHLO_COMPILE="1")
        self.assertEqual(cold, warm)
        self.assertTrue(first)
        self.assert_warm(second)

    def test_torch_xla_restarts_without_a_compile_though_its_own_cache_is_on(self):
        text = TORCH_XLA.replace("torch.manual_seed(0)\n",
                                 "import torch_xla.runtime as xr\nxr.initialize_cache('own', readonly=False)\n"
                                 "torch.manual_seed(0)\n", 1)
        # without ours, its own compiles all of it again
        _, alone = self.run_it(text, "torchxla", STET_STORE="off")
        _, again = self.run_it(text, "torchxla", STET_STORE="off")
        self.assertTrue(alone)
        self.assertEqual((len(again), {served for served, _ in again}), (len(alone), {"compiled"}))
        cold, first = self.run_it(text, "torchxla")
        warm, second = self.run_it(text, "torchxla")
        self.assertEqual(cold, warm)
        self.assert_cold(first)
        self.assert_warm(second)

    def test_jax_with_its_own_cache_on_compiles_nothing_either(self):
        own = dict(JAX_COMPILATION_CACHE_DIR=self.dir + "/own", JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0",
                   JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES="0")
        cold, first = self.run_it(STEP.format(lr=0.1, comment=""), **own)
        warm, second = self.run_it(STEP.format(lr=0.1, comment=""), **own)
        self.assertEqual(cold, warm)
        self.assert_cold(first)
        self.assertNotIn("compiled", {served for served, _ in second})

    def test_torchtpu_restarts_without_a_compile(self):
        cold, first = self.run_it(TORCHTPU, "torchtpu")
        warm, second = self.run_it(TORCHTPU, "torchtpu")
        self.assertEqual(cold, warm)
        self.assertTrue(first)
        self.assert_warm(second)

    def test_torchtpu_restarts_without_a_compile_whatever_its_own_caches_do(self):
        name = "stet-store-" + os.path.basename(self.dir)
        self.addCleanup(shutil.rmtree, "/dev/shm/torch_tpu_cache/" + name, ignore_errors=True)
        own = dict(TORCH_TPU_TIER2_COMPILATION_CACHE=name, TORCH_TPU_TIER3_COMPILATION_CACHE_ROOT=self.dir + "/own")
        cold, first = self.run_it(TORCHTPU, "torchtpu", **own)
        warm, second = self.run_it(TORCHTPU, "torchtpu", **own)
        self.assertEqual(cold, warm)
        self.assert_cold(first)
        self.assertNotIn("compiled", {served for served, _ in second})
        # its own are gone: ours answers
        shutil.rmtree("/dev/shm/torch_tpu_cache/" + name, ignore_errors=True)
        shutil.rmtree(self.dir + "/own", ignore_errors=True)
        again, third = self.run_it(TORCHTPU, "torchtpu", **own)
        self.assertEqual(cold, again)
        self.assert_warm(third)

    def test_prove_counts_what_was_reloaded(self):
        script = self.script(STEP.format(lr=0.1, comment=""))
        for words in (("--", "--cpu", "--"), ("--cpu", "--")):
            with self.subTest(words):
                done = subprocess.run(
                    [STET, "cache", "prove", "--format=json", *words, f"{ENVS}/jax/bin/python", script],
                    capture_output=True, text=True, cwd=self.dir, env=self.env)
                self.assertEqual(done.returncode, 0, done.stderr)
                proof = json.loads(done.stdout)
                self.assertEqual(proof["schema"], "stet.prove/1")
                self.assertEqual(proof["programs"], proof["reloaded"])
                self.assertGreater(proof["programs"], 0)
                self.assertEqual(proof["missed"], [])

    def test_prove_proves_nothing_where_nothing_was_compiled(self):
        done = subprocess.run([STET, "cache", "prove", "--", "true"], capture_output=True, text=True,
                              cwd=self.dir, env=self.env)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("nothing was compiled, so this proves nothing", done.stdout)

    def missed(self):
        done = subprocess.run([STET, "explain", "--format=json"], capture_output=True, text=True,
                              cwd=self.dir, env=self.env)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout)["store"]["missed"]

    def test_each_component_that_moves_alone_is_named(self):
        self.begin()
        shutil.copytree(self.dir + "/store", self.dir + "/kept", symlinks=True)
        for component in ("plugin", "platform", "topology", "host", "toolkit", "environment", "options", "program"):
            with self.subTest(component):
                shutil.rmtree(self.dir + "/store")
                shutil.copytree(self.dir + "/kept", self.dir + "/store", symlinks=True)
                subprocess.run([f"{BUILD}/bin/store-move", self.dir + "/store", component, "another"], check=True)
                _, served = self.run_it(STEP.format(lr=0.1, comment=""))
                self.assert_cold(served)
                missed = self.missed()
                self.assertTrue(missed)
                self.assertEqual({(m["moved"], m["from"], m["also"]) for m in missed}, {(component, "another", 0)})

    def test_the_change_in_a_program_or_its_options_is_named(self):
        def step(**words):
            return STEP.format(**{"lr": 0.1, "comment": "", **words})

        self.run_it(step())
        for text, env, moved, detail in (
            (step(lr=0.2), {}, "program", "constants"),
            (step().replace("(2, 4)", "(6, 4)"), {}, "program", "shapes"),
            (step().replace("float32", "bfloat16"), {}, "program", "dtypes"),
            (step(), {"JAX_EXEC_TIME_OPTIMIZATION_EFFORT": "0.5"}, "options", "exec_time_optimization_effort"),
            (step(), {"LIBTPU_INIT_ARGS": "--xla_tpu_x=1"}, "environment", ""),
        ):
            with self.subTest(detail or moved):
                shutil.copytree(self.dir + "/store", self.dir + "/kept", symlinks=True)
                self.run_it(text, **env)
                named = [m for m in self.missed() if m["program"] == "jit_step"]
                self.assertEqual([m.get("moved") for m in named], [moved])
                self.assertIn(detail, named[0]["detail"])
                shutil.rmtree(self.dir + "/store")
                os.rename(self.dir + "/kept", self.dir + "/store")

    def test_a_program_that_was_never_in_the_store_is_new_whatever_else_differs(self):
        self.begin()
        other = "import jax, jax.numpy as jnp\nprint(jax.jit(lambda x: jnp.tanh(x @ x.T).cumsum())(jnp.ones((3, 5))).sum())"
        for env in ({"JAX_EXEC_TIME_OPTIMIZATION_EFFORT": "0.5"}, {"LIBTPU_INIT_ARGS": "--xla_tpu_x=1"}):
            with self.subTest(env):
                self.run_it(other, name="other.py", **env)
                named = [m for m in self.missed() if m["program"] == "jit__lambda"]
                self.assertEqual([sorted(m) for m in named], [["program", "reason"]])
                shutil.rmtree(self.dir + "/store")
                self.run_it(STEP.format(lr=0.1, comment=""))

    def warm(self, *words, **env):
        done = subprocess.run([STET, "warm", "--format=json", *words], capture_output=True, text=True, timeout=120,
                              cwd=self.dir, env=dict(self.env, **env))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_warm_compiles_what_ran_ahead_of_the_next_launch(self):
        cold, first = self.run_it(STEP.format(lr=0.1, comment=""))
        for words in ((), ("--topology", "cpu")):  # by a client; ahead of time, without one
            with self.subTest(words):
                shutil.rmtree(self.dir + "/store")
                report = self.warm(*words)
                self.assertEqual((report["kept"] + report["present"], report["failed"]), (len(report["programs"]), 0))
                self.assertGreater(report["kept"], 2)
                warm, second = self.run_it(STEP.format(lr=0.1, comment=""))
                self.assertEqual(cold, warm)
                self.assert_warm(second)
                self.assertEqual(self.warm(*words)["kept"], 0)

    def test_warm_names_a_topology_that_the_backend_does_not_have(self):
        self.run_it(STEP.format(lr=0.1, comment=""))
        shutil.rmtree(self.dir + "/store")
        done = subprocess.run([STET, "warm", "--topology", "nonsense"], capture_output=True, text=True, timeout=120,
                              cwd=self.dir, env=self.env)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("unknown topology 'nonsense'; this backend has one, cpu"), 1, done.stdout)
        self.assertNotIn("compiled for nonsense", done.stdout)

    def test_warm_compiles_what_all_runs_of_a_ledger_compiled(self):
        self.run_it(STEP.format(lr=0.1, comment=""))
        self.run_it(STEP.format(lr=0.2, comment=""))
        shutil.rmtree(self.dir + "/store")
        os.rename(self.dir + "/state", self.dir + "/copied")
        report = self.warm(self.dir + "/copied/ledger.db")
        self.assertEqual(report["failed"], 0)
        os.rename(self.dir + "/copied", self.dir + "/state")
        for lr in (0.1, 0.2):
            _, served = self.run_it(STEP.format(lr=lr, comment=""))
            self.assert_warm(served)
        self.assertEqual(self.warm(self.dir + "/state")["kept"], 0)

    def test_warm_fills_the_store_for_a_tpu_on_a_machine_without_one(self):
        done = subprocess.run([STET, "run", "--quiet", "--", f"{ENVS}/jax/bin/python", self.script(TPU_AHEAD)],
                              capture_output=True, text=True, timeout=120, cwd=self.dir, env=dict(self.env, **TPU))
        self.assertEqual(done.returncode, 0, done.stderr)
        made = sorted(os.path.basename(p) for p in glob.glob(self.dir + "/store/entries/*/*.stet"))
        self.assertEqual(len(made), 1)
        shutil.rmtree(self.dir + "/store")
        self.assertEqual(self.warm("--topology", "v6e:2x4")["kept"], 1)
        # the same key as when JAX compiled it
        self.assertEqual(made, sorted(os.path.basename(p) for p in glob.glob(self.dir + "/store/entries/*/*.stet")))

    def test_warm_fills_the_store_for_a_gpu_on_a_machine_without_one(self):
        plugin = glob.glob(f"{ENVS}/cuda/lib/python3*/site-packages/jax_plugins/xla_cuda*/xla_cuda_plugin.so")
        self.assertTrue(plugin)
        target = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../conformance/h200.txtpb")
        self.run_it("import jax, jax.numpy as jnp\nprint(jax.jit(lambda x: jnp.tanh(x @ x) + 1)(jnp.ones((8, 8))).sum())")
        words = ("--plugin", plugin[0], "--topology", "1x1x1", "--target", target, "--store", self.dir + "/gpu")
        report = self.warm(*words)
        self.assertEqual((report["kept"], report["failed"]), (len(report["programs"]), 0))
        listed = json.loads(self.cache("ls", "--format=json", "--store", self.dir + "/gpu").stdout)["entries"]
        self.assertEqual(len(listed), report["kept"])
        for entry in listed:
            self.assertEqual(entry["platform"], "cuda NVIDIA H200")
            self.assertRegex(entry["topology"], r"1 x NVIDIA H200.*core_count: 132 ")
            self.assertNotIn("driver=", entry["toolkit"])  # it is the target's, not this machine's
        self.assertEqual(self.warm(*words)["present"], report["kept"])

    def test_programs_local_to_a_process_are_reported_and_not_stored(self):
        for name, text in (("callback", TPU_CALLBACK), ("custom_partitioning", CUSTOM_PARTITIONING), ("inspected", INSPECTED)):
            with self.subTest(name):
                done = subprocess.run([STET, "run", "--quiet", "--", f"{ENVS}/jax/bin/python", self.script(text)],
                                      capture_output=True, text=True, timeout=120, cwd=self.dir, env=dict(self.env, **TPU))
                shown = subprocess.run([STET, "show", "--format=json"], capture_output=True, text=True,
                                       cwd=self.dir, env=self.env, check=True)
                words = [c["store"] for p in json.loads(shown.stdout)["processes"] for c in p["compiles"]]
                self.assertEqual(words, ["process-local"], done.stderr[-2000:])
                self.assertFalse(glob.glob(self.dir + "/store/entries/*/*.stet"))
                if name != "custom_partitioning":  # libtpu has no partitioner for it here: this compile fails
                    said = subprocess.run([STET, "explain"], capture_output=True, text=True, cwd=self.dir, env=self.env)
                    self.assertIn("process-local", said.stdout)

    def two_ranks(self, wait_ms=60000, **second):
        """How each of two processes of one job was served, over JAX's own key-value store."""
        with socket.socket() as s:
            s.bind(("localhost", 0))
            port = str(s.getsockname()[1])
        children = []
        for rank in (0, 1):
            env = dict(self.env, PORT=port, STET_RANKS="all", STET_RANKS_WAIT_MS=str(wait_ms),
                       STET_STORE=f"{self.dir}/store{rank}", STET_STATE_DIR=f"{self.dir}/state{rank}")
            if rank:
                env.update(second)
            children.append(subprocess.Popen(
                [STET, "run", "--cpu", "--quiet", "--", f"{ENVS}/jax/bin/python", self.script(RANK, "rank.py"), str(rank)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.dir, env=env))
        served = []
        for rank, child in enumerate(children):
            out, err = child.communicate(timeout=120)
            self.assertEqual(child.returncode, 0, err)
            self.assertIn("result 18.27", out)
            shown = subprocess.run([STET, "show", "--format=json"], capture_output=True, text=True, cwd=self.dir,
                                   env=dict(self.env, STET_STATE_DIR=f"{self.dir}/state{rank}"), check=True)
            served.append({(c["served"], c["store"]) for p in json.loads(shown.stdout)["processes"] for c in p["compiles"]})
        return served

    def test_all_ranks_are_served_or_none(self):
        self.assertEqual(self.two_ranks(), [{("compiled", "miss")}] * 2)
        self.assertEqual(self.two_ranks(), [{("disk", "hit")}] * 2)
        shutil.rmtree(self.dir + "/store1")
        self.assertEqual(self.two_ranks(), [{("compiled", "ranks-differ")}, {("compiled", "miss")}])
        # one rank never votes: the other compiles after one wait (unit.test_ranks counts the waits)
        first, _ = self.two_ranks(3000, STET_STORE="off")
        self.assertEqual(first, {("compiled", "ranks-differ")})

    def cache(self, *words, **env):
        return subprocess.run([STET, "cache", *words], capture_output=True, text=True, cwd=self.dir,
                              env=dict(self.env, XDG_CONFIG_HOME=self.dir + "/conf", **env))

    def test_an_archive_warms_another_store_when_its_signer_is_trusted(self):
        cold, first = self.begin()
        archive, other = self.dir + "/archive.stet", self.dir + "/other"
        self.assertEqual(self.cache("export", archive).returncode, 3)  # no key yet
        self.assertEqual(self.cache("key", "new").returncode, 0)
        self.assertEqual(self.cache("export", archive).returncode, 0)
        stranger = self.cache("import", archive, STET_STORE=other, STET_TRUSTED_KEYS=self.dir + "/none")
        self.assertEqual(stranger.returncode, 3)
        self.assertIn("not trusted", stranger.stderr)
        self.assertFalse(os.path.exists(other + "/entries"))
        taken = self.cache("import", "--format=json", archive, STET_STORE=other)
        self.assertEqual(taken.returncode, 0, taken.stderr)
        self.assertEqual(json.loads(taken.stdout)["imported"], len(glob.glob(self.dir + "/store/entries/*/*")))
        warm, second = self.run_it(STEP.format(lr=0.1, comment=""), STET_STORE=other)
        self.assertEqual(cold, warm)
        self.assert_warm(second)

    def test_one_changed_entry_of_an_archive_stays_out(self):
        self.begin()
        archive, other = self.dir + "/archive.stet", self.dir + "/other"
        self.cache("key", "new")
        self.cache("export", archive)
        with open(archive, "r+b") as f:
            f.seek(-9, 2)
            f.write(b"X")
        taken = self.cache("import", "--format=json", archive, STET_STORE=other)
        self.assertEqual(taken.returncode, 1)
        answer = json.loads(taken.stdout)
        self.assertEqual((answer["refused"], answer["imported"]), (1, answer["entries"] - 1))

    def test_verify_loads_every_entry_back(self):
        self.begin()
        path = glob.glob(self.dir + "/store/entries/*/*.stet")[0]
        verify = [STET, "cache", "verify", "--format=json"]
        done = subprocess.run(verify, capture_output=True, text=True, env=self.env)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["entries"], answer["loaded"])
        with open(path, "r+b") as f:
            f.truncate(50)
        done = subprocess.run(verify, capture_output=True, text=True, env=self.env)
        self.assertEqual(done.returncode, 1)
        bad = [c for c in json.loads(done.stdout)["checks"] if not c["loaded"]]
        self.assertEqual([c["verdict"] for c in bad], ["damaged"])


if __name__ == "__main__":
    unittest.main()
