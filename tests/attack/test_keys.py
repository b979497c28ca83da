"""The store's key: pairs of launches that differ in one thing a compiler can see share no entry, and pairs that differ in
nothing it can see share one. Pairs are made by a seeded generator; the fake plugin itself counts what it compiled.

usage: test_keys.py BUILD_DIR [unittest arguments]
"""
import json
import os
import random
import shutil
import subprocess
import unittest

import attack
from attack import FAKE, HARNESS, LAYER

SEED = 20
LEAST = 200
NOID = attack.BUILD + "/lib/libfake_pjrt_noid.so"
OTHER = attack.BUILD + "/lib/libfake_pjrt_novtable.so"
FLAGS = ("XLA_FLAGS", "LIBTPU_INIT_ARGS", "TF_XLA_FLAGS")
SWITCHES = ("NVIDIA_TF32_OVERRIDE", "CUBLAS_WORKSPACE_CONFIG", "TPU_MEGACORE", "TF_CUDNN_DETERMINISTIC",
            "TF_CUDNN_USE_AUTOTUNE", "TF_DETERMINISTIC_OPS", "TF_CUDNN_WORKSPACE_LIMIT_IN_MB", "HSA_OVERRIDE_GFX_VERSION",
            "MIOPEN_FIND_MODE", "ROCBLAS_USE_HIPBLASLT", "NEURON_CC_FLAGS", "NEURON_LOGICAL_NC_CONFIG")
# Options that name a file, with their numbers in DebugOptions.
FILES = {"xla_gpu_algorithm_denylist_path": 128, "xla_gpu_load_autotune_results_from": 223, "xla_gpu_ptx_file": 127,
         "xla_gpu_llvm_ir_file": 150, "xla_gpu_pgle_profile_file_or_directory_path": 210, "xla_gpu_target_config_filename": 261,
         "xla_gpu_experimental_collective_perf_table_path": 377, "xla_gpu_experimental_matmul_perf_table_path": 383,
         "xla_gpu_gemm_autotuner_override_file": 434}
NUMBERS = (31, 60, 62, 70, 71, 72, 73, 90, 91, 123, 138, 142, 148, 152, 156)  # of plain fields of DebugOptions
TOOLS = ("bin/ptxas", "bin/nvlink", "bin/fatbinary", "nvvm/libdevice/libdevice.10.bc")
BESIDE = ("nvidia/cu13", "nvidia/cuda_nvcc")
CUDA = dict(FAKE_PLATFORM="cuda", FAKE_ATTRIBUTES="target=runtime_version driver_version")
PROGRAM = """// fake program p
// in f32[2,3]
// out f32[2,3]
module @{module} attributes {{{attributes}}} {{
  func.func {visibility} @main(%{arg}: tensor<2x3xf32>{arg_attrs}) -> (tensor<2x3xf32>{result_attrs}) {{
    %c = stablehlo.constant dense<{value}> : tensor<2x3xf32>
    %b = stablehlo.{op} %{arg}, %c : tensor<2x3xf32>{location}
    %d = call @{callee}(%b) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %d : tensor<2x3xf32>
  }}
  func.func private @{callee}(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {{
    %y = stablehlo.{inner} %x, %x : tensor<2x3xf32>
    return %y : tensor<2x3xf32>
  }}
}}
"""


def program(**changes):
    parts = dict(module="jit_f", attributes="mhlo.num_partitions = 1 : i32", visibility="public", arg="arg0", arg_attrs="",
                 result_attrs="", value="1.0", op="add", location="", callee="helper", inner="multiply")
    return PROGRAM.format(**{**parts, **changes})


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, value):
    """A field of a protocol buffer: a number, or text or a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def options(debug=(), build=(), rest=()):
    """CompileOptionsProto with fields (number, value) of DebugOptions, ExecutableBuildOptions and its own."""
    inner = b"".join(field(*f) for f in debug)
    inner = b"".join(field(*f) for f in build) + (field(3, inner) if inner else b"")
    return field(3, inner) + b"".join(field(*f) for f in rest)


def override(name, text):
    return field(1, name) + field(2, field(1, text))


class Keys(attack.Case):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.made = 0

    def make(self, content, name="file"):
        """A new file; equal contents get different paths."""
        self.made += 1
        return self.file(f"made/{self.made}/{name}", content)

    def launch(self, *words, plugin=FAKE, programs=None, proto=None, cwd=None, **env):
        """How many programs the plugin itself compiled."""
        self.runs += 1
        words = list(words)
        if proto is not None:
            path = f"{self.dir}/options{self.runs}"
            with open(path, "wb") as f:
                f.write(proto)
            words += ["--options", path]
        files = [self.file(f"programs{self.runs}/{i}.mlir", p) for i, p in enumerate(programs or [program()])]
        clean = {name: None for name in FLAGS + SWITCHES}
        done = subprocess.run([HARNESS, "--execute", "0", *words, plugin, *files], stdout=subprocess.PIPE, check=True, timeout=60,
                              env=self.environment(LD_PRELOAD=LAYER, STET_DIR=f"{self.dir}/run{self.runs}",
                                                   STET_STORE_AHEAD="off", **{**clean, **env}), cwd=cwd or self.dir)
        said = json.loads(done.stdout)
        self.assertNotIn("error", said)
        return said["plugin"]["calls"].get("PJRT_Client_Compile", 0)

    # ---- things a compiler can see ----

    def flags_differ(self):
        for name in FLAGS:
            base = "--xla_a=1 --xla_b=x --xla_c"
            for value in (base, "--xla_a=2 --xla_b=x --xla_c", "--xla_a=1 --xla_b=y --xla_c", "--xla_a=1 --xla_b=x",
                          "--xla_a=1 --xla_b=x --xla_c --xla_d=1", "--xla_a=1 --xla_b=x --xla_c=false",
                          "--xla_a=1 --xla_b=x --noxla_c", "--xla_a=1 --xla_b=x --xla_c --noxla_c",
                          "--xla_a=1 --xla_b=x --noxla_c --xla_c", "--xla_a=1 --xla_b=x --xla_b=z --xla_c",
                          "--xla_a=1 --xla_b=z --xla_b=x --xla_c", "--xla_a=1 --xla_b='x y' --xla_c",
                          "--xla_a=1 --xla_b='x  y' --xla_c", "--xla_a 1 --xla_b x --xla_c", "--xla_a x --xla_b 1 --xla_c"):
                yield f"{name}={value}", {name: value}
            yield f"{name}: last of two, false", {name: "--xla_x=true --xla_x=false"}
            yield f"{name}: last of two, true", {name: "--xla_x=false --xla_x=true"}
        for name in SWITCHES:
            for value in ("0", "1", "other"):
                yield f"{name}={value}", {name: value}
        many = [f"--xla_flag_{i}=value{i}" for i in range(3000)]
        for i in range(3):
            yield f"3000 flags, {i}", {"LIBTPU_INIT_ARGS": " ".join(many[:1500] + [f"--xla_mine={i}"] + many[1500:])}

    def late_flags_differ(self):
        for name in ("LIBTPU_INIT_ARGS", "XLA_FLAGS", "NVIDIA_TF32_OVERRIDE"):
            for moment in ("open", "initialize", "client"):
                for value in ("--xla_late=1", "--xla_late=2"):
                    yield f"{name}={value} set at {moment}", {"words": ["--setenv", f"{moment}:{name}={value}"]}
            yield f"{name} in time", {name: "--xla_late=1"}
            yield f"{name} in time, 2", {name: "--xla_late=2"}
            yield f"{name} taken away", {name: "--xla_late=1", "words": ["--setenv", f"client:{name}=--xla_late=3"]}
        path = self.make("--xla_first=1")
        yield "a flag file rewritten", {"LIBTPU_INIT_ARGS": f"--flagfile={path}",
                                        "words": ["--shell", f"client:echo --xla_first=22 > {path}"]}
        yield "the same in time", {"LIBTPU_INIT_ARGS": "--xla_first=22"}

    def flag_files_differ(self):
        for i in range(4):
            text = f"--xla_in_file={i}\n"
            yield f"--flagfile {i}", {"LIBTPU_INIT_ARGS": "--flagfile=" + self.make(text)}
            inner = self.make(f"--xla_nested={i}\n# a comment\n")
            yield f"nested --flagfile {i}", {"LIBTPU_INIT_ARGS": "--flagfile=" + self.make(f"--flagfile={inner}\n")}
            yield f"XLA_FLAGS=FILE {i}", {"XLA_FLAGS": self.make(f"--xla_file={i} --xla_more=1")}
            yield f"TF_XLA_FLAGS=FILE {i}", {"TF_XLA_FLAGS": self.make(f"--tf_file={i}")}
            yield f"order around --flagfile {i}", {"LIBTPU_INIT_ARGS": " ".join(
                ("--xla_y=10", "--flagfile=" + self.make(f"--xla_y=2{i}"))[::1 if i < 2 else -1]) + f" --xla_i={i}"}

    def named_files_differ(self):
        for name, number in FILES.items():
            for i in range(3):
                yield f"--{name} {i}", {"XLA_FLAGS": f"--{name}={self.make(f'{name} {i}')}"}
                yield f"option {name} {i}", {"proto": options([(number, self.make(f"{name} {i}"))])}
        for i in range(2):
            folder = os.path.dirname(self.make(f"profile {i}", "p.pbtxt"))
            yield f"folder of profiles {i}", {"XLA_FLAGS": f"--xla_gpu_pgle_profile_file_or_directory_path={folder}"}
            yield f"override {i}", {"proto": options(rest=[(7, override("xla_gpu_load_autotune_results_from", self.make(f"o{i}")))])}
            root = os.path.dirname(os.path.dirname(self.make(f"ptxas {i}", "bin/ptxas")))
            yield f"CUDA folder in flags {i}", {"XLA_FLAGS": f"--xla_gpu_cuda_data_dir={root}"}
            yield f"CUDA folder in options {i}", {"proto": options([(61, root)])}
            yield f"an unknown option's file {i}", {"LIBTPU_INIT_ARGS": f"--xla_tpu_new_profile_file={self.make(f'new {i}')}"}

    def options_differ(self):
        for number in NUMBERS:
            for value in (1, 2):
                yield f"debug option {number}={value}", {"proto": options([(number, value)])}
        for number in (4, 5, 15, 22, 23, 24, 25):
            yield f"build option {number}", {"proto": options(build=[(number, 7)])}
        for order in (["a", "b"], ["b", "a"], ["a", "b", "a"], ["a", "a", "b"]):
            yield f"unknown repeated {order}", {"proto": options(rest=[(200, x) for x in order])}
            yield f"unknown repeated debug {order}", {"proto": options([(5000, x) for x in order])}
            yield f"known repeated {order}", {"proto": options([(30, x) for x in order])}
        for order in ((1, 2), (2, 1)):
            yield f"a field given twice {order}", {"proto": options([(31, x) for x in order])}

    def topologies_differ(self):
        yield "two devices", {"FAKE_DEVICES": "2"}
        yield "another version", {"FAKE_VERSION": "fake plugin 2"}
        yield "another platform", {"FAKE_PLATFORM": "fake2"}
        for kinds in ("B", "Fake v1,B", "Fake v1,Fake v1,B", "B,Fake v1"):
            yield f"kinds {kinds}", {"FAKE_DEVICES": "4", "FAKE_KINDS": kinds}
        for i in range(3):
            attributes = {"a number": f"n={i}", "a list": f"l=[1,{i}]", "text": f"t=text {i}", "a float": f"f={i + 1}.5f",
                          "the end of a long list": "l=[" + "7," * 90 + f"{i}]", "the end of long text": "t=" + "x" * 20000 + str(i),
                          "a secret": f"auth_mode=mode {i}", "the last of many": ";".join(f"a{k}=1" for k in range(300)) + f";z={i}"}
            for what, text in attributes.items():
                yield f"attribute: {what} {i}", {"FAKE_ATTRIBUTES": text}
            yield f"device attribute {i}", {"FAKE_DEVICE_ATTRIBUTES": f"coords=[0,{i}]"}
            yield f"serialised topology {i}", {"FAKE_TOPOLOGY": f"torus {i}"}
        yield "a switch, on", {"FAKE_ATTRIBUTES": "b=true"}
        yield "a switch, off", {"FAKE_ATTRIBUTES": "b=false"}

    def site(self, tools, root="nvidia/cu13", name="site"):
        """A plugin as pip installs it, with tools beside it: {file: content}."""
        self.made += 1
        site = f"{self.dir}/{name}{self.made}"
        for file, content in tools.items():
            self.file(f"{name}{self.made}/{root}/{file}", content)
        os.makedirs(f"{site}/jax_plugins/xla_cuda13", exist_ok=True)
        return shutil.copy(FAKE, f"{site}/jax_plugins/xla_cuda13/xla_cuda_plugin.so")

    def toolkits_differ(self):
        yield "no tools", dict(CUDA, PATH="/nowhere")
        for root in BESIDE:
            for tool in TOOLS:
                for i in range(2):
                    yield f"{root}/{tool} {i}", dict(CUDA, plugin=self.site({tool: f"{root} {i}"}, root), PATH="/nowhere")
        for i in range(2):
            folder = os.path.dirname(self.make(f"on the path {i}", "ptxas"))
            yield f"ptxas on PATH {i}", dict(CUDA, PATH=folder)
            here = os.path.dirname(os.path.dirname(os.path.dirname(self.make(f"here {i}", "cuda_sdk_lib/bin/ptxas"))))
            yield f"ptxas in the working folder {i}", dict(CUDA, cwd=here, PATH="/nowhere")
            rocm = os.path.dirname(os.path.dirname(os.path.dirname(self.make(f"rocm {i}", "amdgcn/bitcode/ocml.bc"))))
            yield f"ROCm's bitcode {i}", dict(FAKE_PLATFORM="rocm", ROCM_PATH=rocm, PATH="/nowhere")

    def plugins_differ(self):
        yield "another plugin", {"plugin": OTHER}
        for i in range(2):
            path = f"{self.dir}/noid{i}.so"
            shutil.copy(NOID, path)
            with open(path, "ab") as f:
                f.write(b"more" * (i + 1))
            yield f"a plugin without a build id {i}", {"plugin": path}

    def hosts_differ(self):
        compute = program(attributes='mhlo.frontend_attributes = {_xla_compute_type = "host"}')
        for cpu in ("x86-64 avx", "x86-64 avx avx2", "x86-64 avx avx2 avx512f", "hwcap 1 2"):
            yield f"host {cpu}", {"STET_TEST_CPU": cpu}
            for platform in ("tpu", "cuda"):
                yield f"host code for {platform} on {cpu}", dict(FAKE_PLATFORM=platform, STET_TEST_CPU=cpu, programs=[compute])

    def programs(self):
        ops = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "remainder", "atan2")
        texts = [program(op=op, inner=inner) for op in ops for inner in ("add", "subtract")]
        texts += [program(value=f"{i}.5") for i in range(10)]
        texts += [program(arg_attrs=" {tf.aliasing_output = 0 : i32}"), program(arg_attrs=" {jax.buffer_donor = true}"),
                  program(arg_attrs=' {mhlo.sharding = "{replicated}"}'), program(result_attrs=' {mhlo.sharding = "{replicated}"}'),
                  program(attributes="mhlo.num_partitions = 2 : i32"), program(attributes="mhlo.num_replicas = 2 : i32")]
        return texts

    def test_pairs_that_a_compiler_can_distinguish_share_nothing(self):
        self.assertEqual(self.launch(), 1)
        self.assertEqual(self.launch(), 0)
        configurations = [c for make in (self.flags_differ, self.late_flags_differ, self.flag_files_differ, self.named_files_differ,
                                         self.options_differ, self.topologies_differ, self.toolkits_differ, self.plugins_differ,
                                         self.hosts_differ) for c in make()]
        self.random.shuffle(configurations)
        shared = [label for label, how in configurations if self.run_one(how) != 1]
        texts = self.programs()
        compiled = self.launch(programs=texts)
        print(f"\n{len(configurations) + len(texts)} launches and programs, each unlike all others: "
              f"{len(shared) + len(texts) - compiled} shared an entry")
        self.assertEqual(shared, [])
        self.assertEqual(compiled, len(texts))
        self.assertGreaterEqual(len(configurations) + len(texts), LEAST)
        # and what was kept is found again, also by who sets flags too late
        again = [c for c in self.random.sample(configurations, 40) if "--shell" not in c[1].get("words", ())]
        self.assertEqual([label for label, how in again if self.run_one(how) != 0], [])
        self.assertEqual(self.launch(), 0)

    def run_one(self, how):
        how = dict(how)
        return self.launch(*how.pop("words", ()), **how)

    def test_a_script_that_sets_flags_too_late_poisons_nothing(self):
        """As in a notebook: the client is there, the flags have no effect on the compiler, and another launch has them in time."""
        late, early = ("--setenv", "client:LIBTPU_INIT_ARGS=--xla_late=1"), {"LIBTPU_INIT_ARGS": "--xla_late=1"}
        self.assertEqual(self.launch(*late), 1)
        self.assertEqual(self.launch(**early), 1)  # not what the late one compiled
        self.assertEqual(self.launch(), 1)
        self.assertEqual((self.launch(*late), self.launch(**early), self.launch()), (0, 0, 0))

    def test_flags_changed_between_compiles_are_distinguished_from_those_set_before(self):
        two = [program(), program(op="subtract")]
        between = ("--setenv", "first:LIBTPU_INIT_ARGS=--xla_late=1")
        self.assertEqual(self.launch("--setenv", "client:LIBTPU_INIT_ARGS=--xla_late=1", programs=two), 2)
        self.assertEqual(self.launch(*between, programs=two), 2)
        self.assertEqual(self.launch(programs=two), 1)  # the first of `between` was compiled without flags
        self.assertEqual(self.launch(*between, programs=two), 0)

    def served(self, *words, **env):
        """(served, store outcome) of a program, from the journal."""
        return self.compile(program(), words=words, **env)[0]

    def test_flags_that_cannot_be_read_are_neither_served_nor_kept(self):
        pipe, loop = self.dir + "/pipe", self.file("loop", "")
        os.mkfifo(pipe)
        self.file("loop", f"--flagfile={loop}\n")
        large = self.file("large", "--xla_a=1\n" * 200000)
        wide = self.file("wide8", "# nothing\n")
        for i in range(7, 0, -1):
            wide = self.file(f"wide{i}", f"--flagfile={wide}\n" * 100)
        for value in (f"--flagfile={wide}", "--fromenv=xla_a", "--tryfromenv=xla_a", f"--flagfile={self.dir}/nowhere", "--flagfile", f"--flagfile={self.dir}", f"--flagfile={pipe}",
                      f"--flagfile={loop}", f"--flagfile={large}", "--xla_a=1 --fromenv"):
            with self.subTest(value):
                for _ in range(2):
                    self.assertEqual(self.served(LIBTPU_INIT_ARGS=value), (0, "flags-unreadable"))
        self.assertEqual(self.served(XLA_FLAGS=self.dir + "/nowhere"), (0, "flags-unreadable"))
        self.assertEqual(self.served(XLA_FLAGS=f"--xla_gpu_load_autotune_results_from={pipe}"), (0, "files-unreadable"))
        self.assertEqual(self.entries(), [])

    def test_a_process_that_never_settles_on_its_flags_is_left_alone(self):
        path = self.file("flags", "--xla_a=x\n")
        got = self.compile(*(program(value=f"{i}.0") for i in range(20)), LIBTPU_INIT_ARGS=f"--flagfile={path}",
                           words=["--shell", f"each:echo --xla_a=x >> {path}"])
        self.assertEqual(got, [(0, "miss")] * 16 + [(0, "flags-unsettled")] * 4)

    def test_a_flag_file_that_is_gone_ends_the_use_of_the_store(self):
        path = self.file("flags", "--xla_a=x\n")
        got = self.compile(program(), program(op="divide"), words=["--shell", f"first:rm {path}"],
                           LIBTPU_INIT_ARGS=f"--flagfile={path}")
        self.assertEqual(got, [(0, "miss"), (0, "flags-unreadable")])

    def test_thousands_of_flags_are_handled(self):
        flags = " ".join(f"--xla_flag_number_{i}=some_value_{i}" for i in range(5000))  # an argument is at most 128 KB
        flags = flags[:120000].rsplit(" ", 1)[0]
        path = self.file("many", "\n".join(f"--xla_in_file_{i}={i}" for i in range(20000)))
        for value in (flags, f"--flagfile={path}"):
            self.assertEqual(self.served(LIBTPU_INIT_ARGS=value), (0, "miss"))
            self.assertEqual(self.served(LIBTPU_INIT_ARGS=value), (2, "hit"))
            self.assertEqual(self.served(LIBTPU_INIT_ARGS=value + " --xla_more"), (0, "miss"))

    def test_tools_that_change_while_a_process_runs_end_its_use_of_the_store(self):
        plugin = self.site({"bin/ptxas": "old"})
        ptxas = os.path.dirname(plugin) + "/../../nvidia/cu13/bin/ptxas"
        words = ["--shell", f"first:echo new > {ptxas}"]
        got = self.compile(program(), program(op="divide"), plugin=plugin, words=words, PATH="/bin:/usr/bin", **CUDA)
        self.assertEqual(got, [(0, "miss"), (0, "files-changed")])

    def test_a_plugin_that_was_replaced_after_it_was_loaded_has_no_key(self):
        """Without a build id it is known by its file, which has to be the one that was loaded."""
        for replace in ("cp -f {other} {path}.new && mv {path}.new {path}", "mv {path} {path}.old && cp {other} {path}", "rm {path}"):
            path = shutil.copy(NOID, f"{self.dir}/plugin.so")
            other = shutil.copy(NOID, f"{self.dir}/other.so")
            with open(other, "ab") as f:
                f.write(b"upgraded")
            for moment in ("open", "client"):
                with self.subTest(replace, moment=moment):
                    path = shutil.copy(NOID, f"{self.dir}/plugin.so")
                    word = self.compile(program(), plugin=path,
                                        words=["--shell", f"{moment}:" + replace.format(path=path, other=other)])[0]
                    self.assertEqual(word[0], 0)
                    self.assertIn(word[1], ("plugin-changed", "files-changed", "plugin-unknown"))
        self.assertEqual(self.entries(), [])

    # ---- things it can't see ----

    def flags_same(self, flags):
        shuffle = self.random.sample
        for i in range(40):
            yield f"flags in another order {i}", {"LIBTPU_INIT_ARGS": " ".join(shuffle(flags, len(flags)))}
        for dump in ("--xla_dump_to=/a", "--xla_dump_to=/b", "--xla_dump_hlo_as_text", "--xla_gpu_dump_llvmir", "--xla_dump_hlo_pass_re=.*",
                     "--xla_enable_dumping=true", "--xla_gpu_kernel_cache_file=/k", "--xla_hlo_graph_addresses=true"):
            for at in (0, 3, len(flags)):
                yield f"{dump} at {at}", {"LIBTPU_INIT_ARGS": " ".join(flags[:at] + [dump] + flags[at:])}
        for blank in ("  ", "\t", "\n", " \n\t "):
            yield f"blanks {blank!r}", {"LIBTPU_INIT_ARGS": blank + blank.join(flags) + blank}
        for i in range(8):
            twice = [f"--xla_a={k}" for k in range(10 + i, 10, -1)] + ["--xla_a=1"]
            yield f"the last of several counts {i}", {"LIBTPU_INIT_ARGS": " ".join(twice + flags[1:])}
        for i in range(10):
            inside = shuffle(flags, 3)
            left = [f for f in flags if f not in inside]
            path = self.make("\n# a comment\n\n".join(inside) + "\n", f"f{i}")
            yield f"some in a file {i}", {"LIBTPU_INIT_ARGS": " ".join(shuffle(left + [f"--flagfile={path}"], len(left) + 1))}
        for name in ("CUDA_VISIBLE_DEVICES", "TF_CPP_MIN_LOG_LEVEL", "NCCL_DEBUG", "LANG", "USER", "TPU_NAME", "MASTER_PORT", "RANK",
                     "OMP_NUM_THREADS", "XLA_PYTHON_CLIENT_PREALLOCATE", "PYTHONHASHSEED", "TERM", "LD_LIBRARY_PATH", "SLURM_JOB_ID"):
            yield f"{name} is no matter", {"LIBTPU_INIT_ARGS": " ".join(flags), name: "7"}
        for moment in ("open", "client", "first"):
            yield f"dumps switched on at {moment}", {"LIBTPU_INIT_ARGS": " ".join(flags), "words":
                                                     ["--setenv", f"{moment}:XLA_FLAGS=--xla_dump_to=/tmp/x"]}

    def files_same(self, contents):
        for i in range(2):
            for name, content in contents.items():
                path = self.make(content, "same")
                yield f"--{name} at {path}", {"XLA_FLAGS": " ".join(
                    f"--{n}={path if n == name else self.make(c, 'same')}" for n, c in contents.items())}

    def options_same(self):
        overrides = [(7, override(f"xla_option_{i}", str(i))) for i in range(8)]
        for i in range(25):
            yield f"overrides in another order {i}", options([(31, 2)], rest=self.random.sample(overrides, 8))
        for number, value in ((109, "/tmp/dump"), (310, "/cache"), (407, "/cache"), (306, "/cache"), (102, 8)):
            yield f"option {number} is no matter", options(self.random.sample([(31, 2), (number, value)], 2), rest=overrides)

    def programs_same(self):
        for i in range(20):
            yield program(module=f"jit_g{i}", arg=f"argument{i}", callee=f"helper_{i}",
                          location=f' loc("train{i}.py":{i + 1}:2)')
            yield program(result_attrs=f' {{jax.result_info = "result[{i}]"}}', arg_attrs=f' {{jax.arg_info = "x{i}"}}')

    def same(self, how, variants):
        """Which of the variants were compiled, though `how` had been."""
        self.assertEqual(self.run_one(how), 1, how)
        self.pairs += len(variants)
        return [label for label, changed in variants if self.run_one(changed) != 0]

    def test_pairs_that_differ_in_nothing_a_compiler_sees_share_an_entry(self):
        self.pairs = 0
        flags = ["--xla_a=1", "--xla_b=x", "--xla_c", "--xla_d=true", "--noxla_e", "--xla_f=a,b", "--xla_g=-3", "--xla_h=1.5"]
        alone = self.same({"LIBTPU_INIT_ARGS": " ".join(flags)}, list(self.flags_same(flags)))
        contents = {name: "content of " + name for name in FILES}
        named = {"XLA_FLAGS": " ".join(f"--{n}={self.make(c, 'same')}" for n, c in contents.items())}
        alone += self.same(named, list(self.files_same(contents)))
        protos = list(self.options_same())
        alone += self.same({"proto": protos[0][1]}, [(label, {"proto": proto}) for label, proto in protos[1:]])
        attributes = [f"a{i}={i}" for i in range(12)] + ["text=x y z", "list=[3,2,1]"]
        alone += self.same({"FAKE_ATTRIBUTES": ";".join(attributes)},
                           [(f"attributes {i}", {"FAKE_ATTRIBUTES": ";".join(self.random.sample(attributes, len(attributes)))})
                            for i in range(20)])
        alone += self.same({"FAKE_TOPOLOGY": "random"}, [(f"serialised anyhow {i}", {"FAKE_TOPOLOGY": "random"}) for i in range(3)])
        tools = {tool: "the same " + tool for tool in TOOLS}
        alone += self.same(dict(CUDA, plugin=self.site(tools), PATH="/nowhere"),
                           [(f"the same tools elsewhere {i}", dict(CUDA, plugin=self.site(tools), PATH=f"/nowhere/{i}:/no"))
                            for i in range(4)])
        for platform in ("tpu", "rocm", "neuron", "TPU"):
            how = {"FAKE_PLATFORM": platform, "PATH": "/nowhere"}
            alone += self.same(how, [(f"{platform} on {cpu}", dict(how, STET_TEST_CPU=cpu)) for cpu in ("x86-64 avx", "hwcap 7")])
        written = {"LIBTPU_INIT_ARGS": f"--xla_tpu_log_file={self.make('1')} --xla_new_table_path=/dev/null"}
        grow = "open:echo more >> " + written["LIBTPU_INIT_ARGS"].split()[0].partition("=")[2]
        alone += self.same(written, [(f"a log that grows {i}", dict(written, words=["--shell", grow])) for i in range(3)])
        shutil.copy(NOID, self.dir + "/a.so")
        shutil.copy(NOID, self.dir + "/b.so")
        alone += self.same({"plugin": self.dir + "/a.so"}, [("a copy of the plugin", {"plugin": self.dir + "/b.so"})])
        self.assertEqual(self.launch(), 1)
        texts = list(self.programs_same())
        compiled = self.launch(programs=texts)
        self.pairs += len(texts)
        print(f"\n{self.pairs} pairs that nothing tells apart: {len(alone) + compiled} did not share")
        self.assertEqual((alone, compiled), ([], 0))
        self.assertGreaterEqual(self.pairs, LEAST)


if __name__ == "__main__":
    attack.main()
