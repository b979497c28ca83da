"""The long form: three networks sharded in three ways, PyTorch/XLA and TorchTPU, each topology, and a table of what it
printed for docs/fit.md.

usage: long.py BUILD_DIR ENVS [unittest arguments]
"""
import json
import os
import re
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import support  # noqa: E402

support.Case.build, support.Case.envs = (os.path.abspath(p) for p in sys.argv[1:3])
del sys.argv[1:3]
TORCH = """\
import sys
import torch
if sys.argv[1] == "xla":
    import torch_xla
sync = torch_xla.sync if sys.argv[1] == "xla" else lambda: None
net = torch.nn.TransformerEncoderLayer(128, 4, 256, batch_first=True, dropout=0.0).to(sys.argv[1])
head = torch.nn.Linear(128, 64).to(sys.argv[1])
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(3):
    x, y = torch.randn(16, 32, 128).to(sys.argv[1]), torch.zeros(16 * 32, dtype=torch.long).to(sys.argv[1])
    loss = torch.nn.functional.cross_entropy(head(net(x)).reshape(-1, 64), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
    sync()
print(loss.item())
"""
LINES = {text.split("(")[0].strip(): 1 + n for n, text in enumerate(TORCH.splitlines())}


class Long(support.Case):
    def check_and_print(self, network, how, *words):
        begin = time.time()
        _, step = self.check_model(network, how, *words)
        print(f"| {network} | {how} | {' '.join(words)} | {step['memory']['arguments']} | {step['memory']['temporaries']} "
              f"| {step['memory']['code']} | " + ", ".join(f"{c['sites']} {c['kind']}" for c in step["collectives"]) +
              f" | {time.time() - begin:.0f} s", flush=True)
        return step

    def test_networks_agree_with_libtpu(self):
        for words in (("--layers", "2"), ("--layers", "3", "--scan", "--remat")):
            for network in ("llama", "vit", "moe"):
                for how in ("data", "tensor", "fsdp"):
                    with self.subTest(network=network, how=how, words=words):
                        self.check_and_print(network, how, *words)

    def test_a_loop_over_the_layers_counts_as_the_layers_do(self):
        kinds = {(scan, remat): self.check_and_print("llama", "fsdp", "--layers", "3", *["--scan"] * scan, *["--remat"] * remat)
                 for scan in (0, 1) for remat in (0, 1)}
        for remat in (0, 1):
            self.assertAlmostEqual(kinds[1, remat]["flops"] / kinds[0, remat]["flops"], 1, delta=0.01)
        self.assertGreater(kinds[0, 1]["flops"], 1.2 * kinds[0, 0]["flops"])  # layers are computed again

    def fit_torch(self, kind):
        path = self.dir + "/torch_loop.py"
        with open(path, "w") as f:
            f.write(TORCH)
        verdict = self.json("--topology=v6e:1x1", "--plugin", self.libtpu(), "--", f"{self.envs}/torch{kind}/bin/python", path,
                            kind)
        self.assertEqual(verdict["verdict"], "fits")
        self.assertEqual({p["memory"]["source"] for p in verdict["programs"]}, {"executable"})
        return verdict

    def check_by_hand(self, verdict, kind):
        """Every program of the loop, compiled through plain C, has the same statistics."""
        folder = f"{self.dir}/state/runs/{verdict['run']}/programs"
        stats = json.loads(self.call(sys.executable, os.path.join(support.HERE, "by_hand.py"), self.build, self.libtpu(),
                                     "v6e:1x1", folder, verdict["programs"][0]["options"],
                                     *(p["hash"] for p in verdict["programs"])))
        for p in verdict["programs"]:
            self.assertEqual({k: p["memory"][k] for k in stats[p["hash"]]}, stats[p["hash"]], p["program"])
        largest = max(verdict["programs"], key=lambda p: p["memory"]["total"])
        print(f"torch {kind}: {len(stats)} programs as libtpu has them, largest {largest['program']} "
              f"{largest['memory']['total']} bytes")

    def test_pytorch_xla_agrees_with_libtpu(self):
        verdict = self.fit_torch("xla")
        lines = {os.path.basename(t["file"]) for p in verdict["programs"] for t in p["temporaries"]}
        self.assertIn("torch_loop.py", lines)
        self.check_by_hand(verdict, "xla")

    def test_torchtpu_agrees_with_libtpu_and_has_lines(self):
        verdict = self.fit_torch("tpu")
        lines = {(os.path.basename(t["file"]), t["line"]) for p in verdict["programs"] for t in p["temporaries"]}
        # of a loop that is not in a function: the forward pass, and the backward pass
        self.assertLessEqual({("torch_loop.py", LINES["loss = torch.nn.functional.cross_entropy"]),
                              ("torch_loop.py", LINES["loss.backward"])}, lines)
        self.assertEqual({file for file, _ in lines}, {"torch_loop.py"})
        self.check_by_hand(verdict, "tpu")

    def test_every_generation_of_tpus(self):
        for name, devices in (("v4:2x2x1", 8), ("v5e:2x2", 4), ("v5p:2x2x1", 4), ("v6e:2x2", 4), ("v7x:2x2x1", 8)):
            with self.subTest(name=name):
                verdict = self.json("--topology", name, "--zeros", "--quick", "--", self.python, support.MODELS, "llama", "data")
                self.assertEqual((verdict["verdict"], verdict["topology"]["devices"]), ("fits", devices))
                print(f"{name}: {verdict['topology']['kind']}, {verdict['topology']['memory_bytes'] / (1 << 30):.2f} GiB")

    def test_a_search_finds_the_last_batch_that_libtpu_compiles(self):
        found = step = 8192
        for last, step in ((1 << 20, 8192), (None, 8)):  # eight rows are one tile of float32
            found = self.json("--topology=v6e:1x1", "--zeros", f"--search=batch={found}..{last or found + 8192}/{step}", "--",
                              self.python, support.FLIP, "--batch", "8192")["found"]
        self.call(self.python, support.FLIP, "--by-hand", "--batch", str(found))
        self.call(self.python, support.FLIP, "--by-hand", "--batch", str(found + step), status=1)
        print(f"flip: {found} fits, {found + step} is refused by libtpu")

    def test_a_loop_saves_what_was_measured_without_the_copies(self):
        for layers in ("6", "24"):
            words = ("--topology=v6e:2x4", "--zeros", "--lines", "--no-store", "--", self.python, support.MODELS, "llama",
                     "fsdp", "--layers", layers)
            plain = self.step_of(self.json(*words))["compile"]
            self.assertIn(int(layers), {b["copies"] for b in plain["repeated"]["blocks"]})
            scan = self.step_of(self.json(*words, "--scan"))["compile"]
            print(f"llama fsdp with {layers} layers: {plain['cpu_s']:.1f} s, again {plain['repeated']['whole_cpu_s']:.1f} s, with "
                  f"one copy of each block {plain['repeated']['without_copies_cpu_s']:.1f} s, with scan {scan['cpu_s']:.1f} s",
                  flush=True)

    def test_a_gpus_compiler_is_measured_with_parts_left_out(self):
        words = ("--topology=1x1x1", "--target", support.TARGET, "--plugin",
                 self.plugin("cuda", "jax_plugins/xla_cuda*/xla_cuda_plugin.so"), "--zeros", "--lines", "--", self.python,
                 support.LAYERS, "4")
        plain = self.step_of(self.json(*words), "jit_step")["compile"]
        blocks = plain["repeated"]["blocks"]
        self.assertEqual((blocks[0]["copies"], os.path.basename(blocks[0]["file"])), (4, "layers.py"))
        with open(support.LAYERS) as f:
            source = [text.strip() for text in f]
        first, last = (1 + source.index(text) for text in ("a = jnp.tanh(h @ w)",
                                                           "return h + b / (1 + jnp.sum(b * b, -1, keepdims=True))"))
        self.assertEqual((blocks[0]["line"], blocks[0]["end_line"]), (first, last))
        self.assertEqual({os.path.basename(line["file"]) for line in plain["lines"]}, {"layers.py"})
        self.assertIn(first, {line["line"] for line in plain["lines"]})
        scan = self.step_of(self.json(*words, "--scan"), "jit_step")["compile"]
        print(f"H200, 4 layers: {plain['repeated']['whole_cpu_s']:.1f} s, with one copy of each block "
              f"{plain['repeated']['without_copies_cpu_s']:.1f} s, with scan {scan['repeated']['whole_cpu_s']:.1f} s")

    def test_seventy_billion_parameters_with_code(self):
        begin = time.time()
        verdict = self.json("--topology=v6e:16x16", "--zeros", "--", self.python, support.LARGE, "80", "8192", "28672",
                            timeout=7200)
        self.assertEqual(verdict["verdict"], "fits")
        resident = int(re.search(r'"resident": (\d+)', self.err)[1])
        self.assertLess(resident, 1 << 30)
        print(f"70B on v6e:16x16: {time.time() - begin:.0f} s, compile {verdict['compile']['cpu_s']:.0f} CPU s, the command "
              f"took {resident >> 20} MiB, peak {verdict['peak_bytes'] / (1 << 30):.1f} GiB")


if __name__ == "__main__":
    unittest.main()
