"""Ways to write the same program. None of them changes what is compiled or how often.

A style picks one option in each dimension; every option other than the plain one is an idiom that the
tables of run.py count.
"""
import re

from template import indent, names_in

DIMENSIONS = {
    "indentation": ["", "two-spaces", "tabs"],
    "naming": ["", "random-names", "misleading-names"],
    "decision": ["", "inline", "helper", "lambda", "walrus", "table", "comprehension", "generator-schedule", "partial", "object-schedule", "closure-schedule",
                 "property-schedule", "dict-schedule", "attribute"],
    "loop": ["", "while-loop", "range-loop", "zip-loop", "nested-loop", "with-loop", "try-loop", "next-loop"],
    "loader": ["", "generator-loader", "class-loader", "comprehension-loader", "map-loader", "indexed-loader", "queue-loader", "prefetch-loader"],
    "jit": ["", "partial-jit", "assigned-jit", "method-jit", "own-decorator"],
    "call": ["", "wrapped-call", "star-call", "keyword-call"],
    "config": ["", "constants", "dataclass", "namedtuple", "argparse", "environment", "dict-config"],
    "place": ["", "other-module", "runner-class", "top-level"],
    "imports": ["", "alias-imports"],
    "noise": ["", "distractors", "misleading-comments", "logging", "reads-metric", "evaluation"],
}
MISLEADING = ("mask capacity top_k batch seq_len temperature dropout dtype counter warmup shape static lr seed bucket padding "
              "sharding cache step_count num_experts is_training learning_rate position offsets rank donate reps start").split()
COMMENTS = ["# one compile only: every shape is fixed", "# recompiles here because of the learning rate", "# top_k grows with the batch",
            "# static argument, never changes", "# last batch is short", "# TODO: hoist this jit out of the loop",
            "# float() syncs with the device", "# the mask changes size"]

ALIASES = [(r"\bnp\.", "onp."), (r"\bjnp\.", "J."), (r"\bjax\.jit\b", "jit"), (r"\bjax\.lax\.", "lax."), (r"\bfunctools\.partial\b", "partial")]


class Style:
    def __init__(self, rng, restrict=None):
        self.rng = rng
        self.choice = {}
        for dimension, options in DIMENSIONS.items():
            plain = rng.random() < 0.45
            self.choice[dimension] = options[0] if plain else rng.choice(options[1:])
        self.choice.update(restrict or {})
        self.config = []

    def has(self, idiom):
        return idiom in self.choice.values()

    def tags(self):
        return sorted(option for option in self.choice.values() if option) or ["plain"]

    # ---- values that the program is given -------------------------------------------------------

    def constant(self, name, value):
        """A number of the configuration, as an expression."""
        if not self.choice["config"]:
            return repr(value)
        self.config.append((name, value))
        access = {"dataclass": f"$settings.{name}", "namedtuple": f"$settings.{name}", "argparse": f"$settings.{name}",
                  "environment": name, "constants": name, "dict-config": f'$settings["{name}"]'}
        return access[self.choice["config"]]

    def config_lines(self):
        kind, rows = self.choice["config"], self.config
        if not rows:
            return []
        if kind == "constants":
            return [f"{name} = {value!r}" for name, value in rows]
        if kind == "environment":
            return ["import os"] + [f'{name} = {type(value).__name__}(os.environ.get("{name}", "{value}"))' for name, value in rows]
        if kind == "dict-config":
            return ["$settings = {" + ", ".join(f'"{name}": {value!r}' for name, value in rows) + "}"]
        if kind == "argparse":
            head = ["import argparse", "$parser = argparse.ArgumentParser()"]
            add = [f'$parser.add_argument("--{name}", type={type(value).__name__}, default={value!r})' for name, value in rows]
            return head + add + ["$settings = $parser.parse_args([])"]
        fields = [f"    {name}: {type(value).__name__} = {value!r}" for name, value in rows]
        if kind == "dataclass":
            return ["import dataclasses", "@dataclasses.dataclass(frozen=True)", "class $Settings:", *fields, "$settings = $Settings()"]
        return ["import typing", "class $Settings(typing.NamedTuple):", *fields, "$settings = $Settings()"]

    def decide(self, plan, value, expression):
        kind = self.choice["decision"]
        if kind == "inline":
            plan.call_label += "  #@source"
            return f"({expression})"
        if kind == "walrus":
            plan.call_label += "  #@source"
            return f"({value} := {expression})"
        if kind == "helper":
            plan.module += ["", "def $schedule($i):", f"    return {expression}  #@source"]
            plan.pre.append(f"{value} = $schedule($i)  #@source")
        elif kind == "lambda":
            plan.module.append(f"$schedule = lambda $i: {expression}  #@source")
            plan.pre.append(f"{value} = $schedule($i)  #@source")
        elif kind == "partial":
            plan.module += ["", "def $schedule($unused, $i):", f"    return {expression}  #@source", "$plan = functools.partial($schedule, None)"]
            plan.pre.append(f"{value} = $plan($i)  #@source")
        elif kind == "table":
            values = [eval(expression.replace("$i", str(i))) for i in range(plan.steps)]  # an expression of ours
            plan.module.append(f"$table = {values!r}  #@source")
            plan.pre.append(f"{value} = $table[$i]  #@source")
        elif kind == "comprehension":
            plan.module.append(f"$table = [{expression} for $i in range({plan.steps})]  #@source")
            plan.pre.append(f"{value} = $table[$i]  #@source")
        elif kind == "object-schedule":
            plan.module += ["", "class $Schedule:", "    def __init__(self):", "        self.$value = None", "", "    def $advance_to(self, $i):",
                            f"        self.$value = {expression}  #@source", "        return self.$value"]
            plan.before.append("$schedule = $Schedule()")
            plan.pre.append(f"{value} = $schedule.$advance_to($i)  #@source")
        elif kind == "closure-schedule":
            plan.module += ["", "def $make_schedule():", "    $calls = [0]", "    def $following():", "        $i = $calls[0]", "        $calls[0] += 1",
                            f"        return {expression}  #@source", "    return $following"]
            plan.before.append("$schedule = $make_schedule()")
            plan.pre.append(f"{value} = $schedule()  #@source")
        elif kind == "generator-schedule":
            plan.module += ["", "def $schedule($count):", "    for $i in range($count):", f"        yield {expression}  #@source"]
            plan.before.append(f"$values = $schedule({plan.steps})")
            plan.pre.append(f"{value} = next($values)  #@source")
        elif kind == "property-schedule":
            plan.module += ["", "class $Schedule:", "    def $at(self, $i):", "        self.$position = $i", "        return self", "", "    @property",
                            "    def $now(self):", "        $i = self.$position", f"        return {expression}  #@source"]
            plan.before.append("$schedule = $Schedule()")
            plan.pre.append(f"{value} = $schedule.$at($i).$now  #@source")
        elif kind == "dict-schedule":
            plan.module.append(f"$table = {{$i: {expression} for $i in range({plan.steps})}}  #@source")
            plan.pre.append(f"{value} = $table[$i]  #@source")
        elif kind == "attribute":
            plan.before += ["import types", "$knobs = types.SimpleNamespace()"]
            plan.pre.append(f"$knobs.{value} = {expression}  #@source")
            return f"$knobs.{value}"
        else:
            plan.pre.append(f"{value} = {expression}  #@source")
        return value

    # ---- how the step is compiled ---------------------------------------------------------------

    def jit_call(self, plan, function, extra=""):
        """An expression that compiles `function`."""
        if plan.program.jit != "jax.jit":
            return f"{plan.program.jit}({function})"
        return f"jax.jit({function}{self.static_option(plan)}{extra})"

    def static_option(self, plan, shift=2):
        if not plan.static:
            return ""
        if self.choice["decision"] in ("table", "lambda") and plan.call is None:  # by number for some, by name for the others
            return f", static_argnums=({', '.join(str(plan.params.index(name) + shift) for name in plan.static)},)"
        quoted = ", ".join(f'"{name}"' for name in plan.static)
        return f", static_argnames=({quoted},)"

    def jit_kind(self, plan):
        kind = self.choice["jit"]
        if plan.program.jit != "jax.jit" and kind in ("partial-jit", "method-jit", "own-decorator"):
            kind = ""
        return kind

    def decorator(self, plan):
        kind = self.jit_kind(plan)
        if plan.call is not None or kind in ("assigned-jit", "method-jit"):
            return []
        if plan.program.jit != "jax.jit":
            return [f"@{plan.program.jit}"]
        option = self.static_option(plan)
        if kind == "own-decorator":
            return ["def $accelerated(**$how):", "    return functools.partial(jax.jit, **$how)", "", f"@$accelerated({option.lstrip(', ')})"]
        if option or kind == "partial-jit":
            return [f"@functools.partial(jax.jit{option or ', inline=False'})"]
        return ["@jax.jit"]

    def jit_lines(self, plan):
        """Definitions after the program, and the name that the loop calls."""
        kind = self.jit_kind(plan)
        if plan.call is not None:
            return [], plan.call
        if kind == "assigned-jit":
            return [f"$compiled = {self.jit_call(plan, '$step')}"], "$compiled"
        if kind == "method-jit":
            extra = "".join(", " + name for name in plan.params)
            static = ", ".join(str(number) for number in [0] + [plan.params.index(name) + 3 for name in plan.static])
            return ["", "class $Trainer:", f"    @functools.partial(jax.jit, static_argnums=({static},))",
                    f"    def $advance(self, $state, $batch{extra}):", f"        return $step($state, $batch{extra})", "",
                    "$trainer = $Trainer()"], "$trainer.$advance"
        return [], "$step"

    # ---- the loop -------------------------------------------------------------------------------

    def loader_lines(self, plan, rows, count):
        """The loader. Its lines are lines to edit only where the loader decides what drifts, which is the size of a batch."""
        lines = self.labelled_loader(plan, rows, count)
        return lines if plan.sizes or plan.whole is not None else [line.replace("  #@source", "") for line in lines]

    def labelled_loader(self, plan, rows, count):
        if plan.whole is not None:
            body = [f"$whole = $make_batch($rng, {plan.whole})  #@source", f"for $begin in range(0, {plan.whole}, {rows}):  #@source",
                    f"    yield {{$key: $part[$begin:$begin + {rows}] for $key, $part in $whole.items()}}  #@source"]
            return ["", "def $batches():", "    $rng = np.random.default_rng(0)", *indent(body)]
        kind, make = self.choice["loader"], f"$make_batch($rng, {plan.sizes or rows})"
        if kind == "class-loader":
            return ["", "class $Loader:", "    def __init__(self, $count):", "        self.$count = $count", "", "    def __iter__(self):",
                    "        $rng = np.random.default_rng(0)", "        for $i in range(self.$count):", f"            yield {make}  #@source", "",
                    "def $batches():", f"    return $Loader({count})"]
        if kind == "map-loader":
            return ["", "def $batches():", "    $rng = np.random.default_rng(0)", f"    return map(lambda $i: {make}, range({count}))  #@source"]
        if kind == "indexed-loader":
            return ["", "class $Batches:", "    def __init__(self):", "        self.$rng = np.random.default_rng(0)", "", "    def __getitem__(self, $i):",
                    f"        if $i >= {count}:", "            raise IndexError($i)", f"        return {make.replace('$rng', 'self.$rng')}  #@source", "",
                    "def $batches():", "    return iter($Batches())"]
        if kind == "queue-loader":
            return ["import queue, threading", "", "def $produce($ready):", "    $rng = np.random.default_rng(0)", f"    for $i in range({count}):",
                    f"        $ready.put({make})  #@source", "    $ready.put(None)", "", "def $batches():", "    $ready = queue.Queue(2)",
                    "    threading.Thread(target=$produce, args=($ready,), daemon=True).start()", "    return iter($ready.get, None)"]
        if kind == "prefetch-loader":
            return ["import collections", "", "def $ahead($stream, $depth):", "    $waiting = collections.deque()", "    for $one in $stream:",
                    "        $waiting.append($one)", "        if len($waiting) > $depth:", "            yield $waiting.popleft()",
                    "    yield from $waiting", "", "def $batches():", "    $rng = np.random.default_rng(0)",
                    f"    return $ahead(({make} for $i in range({count})), 2)  #@source"]
        if kind == "comprehension-loader":
            return ["", "def $batches():", "    $rng = np.random.default_rng(0)", f"    return [{make} for $i in range({count})]  #@source"]
        if kind == "generator-loader":
            return ["", "def $batches():", "    $rng = np.random.default_rng(0)", f"    yield from ({make} for $i in range({count}))  #@source"]
        return ["", "def $batches():", "    $rng = np.random.default_rng(0)", f"    for $i in range({count}):", f"        yield {make}  #@source"]

    def loop_lines(self, body, count):
        kind = self.choice["loop"]
        if kind == "while-loop":
            return ["$stream = iter($batches())", "$i = 0", f"while $i < {count}:", "    $batch = next($stream)", *indent(body), "    $i += 1"]
        if kind == "range-loop":
            return ["$data = list($batches())", f"for $i in range({count}):", "    $batch = $data[$i]", *indent(body)]
        if kind == "zip-loop":
            return [f"for $i, $batch in zip(range({count}), $batches()):", *indent(body)]
        if kind == "nested-loop":
            return ["$i = 0", "$stream = iter($batches())", "for $epoch in range(3):", f"    for $batch in itertools.islice($stream, -(-{count} // 3)):",
                    *indent(body, 2), "        $i += 1"]
        if kind == "with-loop":
            return ["import contextlib", "for $i, $batch in enumerate($batches()):", "    with contextlib.suppress(KeyboardInterrupt):", *indent(body, 2)]
        if kind == "try-loop":
            return ["$finished = 0", "try:", "    for $i, $batch in enumerate($batches()):", *indent(body, 2), "finally:", "    $finished += 1"]
        if kind == "next-loop":
            return ["$stream = iter($batches())", "for $i in itertools.count():", "    $batch = next($stream, None)", "    if $batch is None:", "        break",
                    *indent(body)]
        return ["for $i, $batch in enumerate($batches()):", *indent(body)]

    def call_lines(self, plan, call, extra):
        """A function of the user's around the call, and what the loop calls then."""
        kind = self.choice["call"]
        if plan.call is not None or not kind:
            return [], call
        if kind == "star-call":
            return ["", "def $invoke(*$given, **$named):", f"    return {call}(*$given, **$named)"], "$invoke"
        if kind == "keyword-call":
            named = "".join(f", {name}={name}" for name in plan.params)
            return ["", f"def $invoke($state, $batch{extra}):", f"    return {call}($state, $batch=$batch{named})"], "$invoke"
        return ["", f"def $invoke($state, $batch{extra}):", f"    $result = {call}($state, $batch{extra})", "    return $result"], "$invoke"

    def main_lines(self, body):
        if self.has("top-level"):
            return ["", *body]
        if self.has("runner-class"):
            return ["", "class $Runner:", "    def $fit(self):", *indent(body, 2), "", "$Runner().$fit()"]
        return ["", "def $main():", *indent(body), "", 'if __name__ == "__main__":', "    $main()"]

    # ---- noise ----------------------------------------------------------------------------------

    def add_noise(self, plan):
        if self.has("distractors"):
            plan.module += ["", "@jax.jit", "def $smooth($signal):", "    return jnp.convolve($signal, jnp.ones(3) / 3.0, mode=\"same\")", "",
                            "def $unused($values, $k):", "    if float($values.sum()) > 0:", "        return jax.lax.top_k($values, $k)",
                            "    return $values[$k:$k + 2]"]
            plan.before += ["$signal = np.linspace(0.0, 1.0, 16, dtype=np.float32)", "$signal = $smooth($signal)"]
            plan.pre += ["$signal = $smooth($signal)", "$host_norm = np.sqrt(np.sum(np.square(np.arange($i + 1.0))))"]
        if self.has("reads-metric"):
            plan.before += ["$shown = []"]
            plan.post += ["$shown.append(float($metric))", "if $shown[-1] != $shown[-1]:", "    raise SystemExit(\"not a number\")"]
        if self.has("evaluation"):
            plan.module += ["", "@jax.jit", "def $evaluate($weights):", "    return jnp.mean(jnp.square($weights))"]
            plan.before += ["$probe = jnp.arange(6.0)", "$best_yet = float($evaluate($probe))"]
            plan.post += ["$score_now = float($evaluate($probe))", "if $score_now < $best_yet:", "    $best_yet = $score_now"]
        if self.has("logging"):
            plan.before = ["import logging, time", "$log = logging.getLogger(\"train\")", "$began = time.perf_counter()"] + plan.before
            plan.post += ["$log.info(\"step %d after %.2f s\", $i, time.perf_counter() - $began)"]

    def comment(self, lines):
        if not self.has("misleading-comments"):
            return lines
        out = []
        for line in lines:
            if line.strip() and not line.strip().startswith(("@", "else", "elif")) and self.rng.random() < 0.2:
                out.append(line[:len(line) - len(line.lstrip())] + self.rng.choice(COMMENTS))
            out.append(line)
        return out

    # ---- names ----------------------------------------------------------------------------------

    def names(self, files):
        wanted = names_in(files)
        if self.has("random-names"):
            pool = iter(self.rng.sample(["".join(p) for p in _pairs()], len(wanted)))
            return {name: next(pool) + ("Q" if name[0].isupper() else "_") for name in wanted}
        if self.has("misleading-names"):
            order = self.rng.sample(MISLEADING, len(MISLEADING))
            return {name: order[k % len(order)] + ("" if k < len(order) else str(k // len(order) + 1)) for k, name in enumerate(wanted)}
        return {name: name for name in wanted}

    def unit(self):
        return {"": "    ", "two-spaces": "  ", "tabs": "\t"}[self.choice["indentation"]]

    def aliases(self, lines):
        if not self.has("alias-imports"):
            return lines
        for written, alias in ALIASES:
            lines = [re.sub(written, alias, line) for line in lines]
        return lines

    def imports(self):
        if self.has("alias-imports"):
            return ["import functools, itertools", "from functools import partial", "import jax", "import numpy as onp", "from jax import jit, lax, numpy as J"]
        return ["import functools", "import itertools", "import jax", "import jax.numpy as jnp", "import numpy as np"]


def _pairs():
    heads, tails = "ab ce do fi gu ha je ko la mi no pu qo ra se ti va we".split(), "bor dax fen gim hol kut lep mor nas pil rud sev tok vun zet".split()
    return [(head, tail) for head in heads for tail in tails]
