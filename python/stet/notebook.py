"""The magics, and the run that they are about."""

import atexit
import importlib.util
import json
import os
import re
import sys
import time

from stet.locate import answer, library, stet

KERNEL = "use a kernel that runs under Stet: `python -m stet.kernel` installs one (`stet help notebooks`)"
OF_A_RUN = ("explain", "show", "report", "check")  # commands whose first operand is a run


class Notebook:
    """The run of this kernel, and what was reported of it so far."""

    def __init__(self, shell):
        self.shell = shell
        self.run = os.environ.get("STET_RUN")
        self.reported = set()
        self.cell_of = {}  # by file: the file of the whole cell, when it is the body of a %%stet cell
        self.cell = None

    # ---- the run

    def begin(self):
        """Makes a run for this process, and tells the layer and torch.compile about it."""
        argv = [sys.executable, *sys.argv]
        made = answer("runs", f"--new={os.getpid()}", "--format=json", "--", *argv)
        self.run = made["run"]
        os.environ.update(STET_DIR=made["folder"], STET_RUN=made["run"])
        os.environ.setdefault("TORCH_TRACE", os.path.join(made["folder"], "torch"))
        atexit.register(end, made["folder"])

    def watch(self):
        """Lets the layer in where a framework looks for its plugin. Returns what is watched, or None."""
        libtpu = importlib.util.find_spec("libtpu")
        if os.environ.get("TPU_LIBRARY_PATH") or not libtpu or not libtpu.submodule_search_locations:
            return None
        os.environ["STET_PLUGIN"] = os.path.join(list(libtpu.submodule_search_locations)[0], "libtpu.so")
        os.environ["TPU_LIBRARY_PATH"] = library("libstet_plugin.so")
        return "libtpu and torch.compile"

    def use_cpu(self):
        """`%stet cpu`: the embedded CPU backend is JAX's device, and is watched."""
        if client_exists():
            raise RuntimeError("JAX has its devices already: restart the kernel and run `%stet cpu` first")
        backend = library("libstet_cpu.so")
        under_run = "libstet.so" in os.environ.get("LD_PRELOAD", "")
        os.environ.update(JAX_PLATFORMS="stet,cpu", STET_CPU_LIBRARY=backend, STET_PLUGIN=backend)
        os.environ["PJRT_NAMES_AND_LIBRARY_PATHS"] = "stet:" + (backend if under_run else library("libstet_plugin.so"))
        from stet_cpu import jax as backend_of_jax

        if "jax" in sys.modules:
            sys.modules["jax"].config.update("jax_platforms", "stet,cpu")
        backend_of_jax.initialize()
        print("stet: JAX runs on Stet's CPU backend in this kernel")

    # ---- what it compiled

    def news(self):
        """The recompiles that were not reported yet."""
        fresh = []
        for r in answer("explain", self.run, "--format=json")["recompiles"]:
            key = (r["lane"], r["process"], r["compile"])
            if key not in self.reported and not r["benign"]:
                fresh.append(r)
            self.reported.add(key)
        return fresh

    def tell(self, fresh):
        if not fresh:
            print("stet: nothing was compiled again in this cell")
            return
        groups = {}
        for r in fresh:
            at = r["source"] or r["origin"] or r["trigger"] or {}
            groups.setdefault((r["class"], r["function"], at.get("file"), at.get("line"), r["fix"]), []).append(r["wait_s"])
        total = sum(r["wait_s"] for r in fresh)
        print(f"stet: {len(fresh)} recompile{'s' * (len(fresh) > 1)} in this cell, waited {total:.2f} s")
        for (cause, function, file, line, fix), waits in sorted(groups.items(), key=lambda g: -sum(g[1])):
            at = f", {self.cells(file)}:{line}" if line else ""
            print(f"  {len(waits)}× {cause} in {function}{at}, waited {sum(waits):.2f} s\n     fix: {fix}")

    def cells(self, text):
        """The text with In[3] where it has the file of a cell."""

        def number(match):
            count = getattr(self.shell.compile, "_filename_map", {}).get(self.cell_of.get(match[0]))
            return f"In[{count}]" if count else match[0]

        return re.sub(r"[^\s\"'`]*ipykernel_\d+/\d+\.py", number, text)

    def keep_source(self, info):
        """Writes a cell where the kernel says that its code comes from, so that its lines can be shown."""
        try:
            code = self.shell.transform_cell(info.raw_cell)
            path = self.shell.compile.get_code_name(info.raw_cell, code, self.shell.execution_count)
            if info.store_history:
                self.cell = path
            self.cell_of[path] = self.cell
            if "ipykernel_" in path and not os.path.exists(path):
                os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(info.raw_cell)
        except Exception:  # a kernel of another kind: its lines are not shown
            pass

    # ---- magics

    def line_magic(self, line):
        words = line.split()
        if words[:1] == ["cpu"]:
            return self.use_cpu()
        if words[:1] and words[0] in OF_A_RUN and not [w for w in words[1:] if not w.startswith("-")]:
            words.insert(1, self.run)
        out = stet(*(words or ["help", "notebooks"]))
        print(self.cells(out.stdout + out.stderr), end="")

    def cell_magic(self, line, cell):
        self.news()
        head = "" if cell.startswith("%%") else "# %%stet\n"  # lines are counted from that of the magic
        result = self.shell.run_cell(head + cell, store_history=False)
        self.tell(self.news())
        result.raise_error()


def end(folder):
    """Writes the end of the run, as `stet run` does."""
    path = os.path.join(folder, "run.json")
    try:
        with open(path, encoding="utf-8") as file:
            run = json.load(file)
        run.update(ended_ns=time.time_ns(), exit=0)
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(run, file)
        os.replace(path + ".new", path)
    except OSError:
        pass


def client_exists():
    bridge = sys.modules.get("jax._src.xla_bridge")
    return bool(bridge and getattr(bridge, "_backends", None))


current = None


def magic(line, cell=None):
    """%stet COMMAND runs `stet COMMAND` for this kernel's run. %stet cpu selects the embedded CPU backend.
    %%stet runs the cell and prints what it compiled again."""
    return current.line_magic(line) if cell is None else current.cell_magic(line, cell)


def load(shell):
    global current
    current = Notebook(shell)
    if current.run:
        print(f"stet: this kernel is run {current.run}")
    elif client_exists() or "torch_xla" in sys.modules:
        current.begin()
        print(f"stet: a framework has its devices already, so its compiles are not seen; {KERNEL}")
    else:
        current.begin()
        watched = current.watch()
        print(f"stet: this kernel is run {current.run}; it watches {watched or 'torch.compile'}")
        if not watched:
            print(f"stet: for JAX run `%stet cpu` before its first operation, or {KERNEL}")
    shell.events.register("pre_run_cell", current.keep_source)
    shell.register_magic_function(magic, "line_cell", "stet")


def unload(shell):
    shell.events.unregister("pre_run_cell", current.keep_source)
