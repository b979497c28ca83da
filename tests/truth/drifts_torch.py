"""Causes that can be planted in a torch.compile program, with the answers that PROBLEM.md makes right, and
the assembly of a torch case. torch.compile guards a whole frame: where a size enters the program is any line
that reads the input, the signature included.
"""
from plan import Truth
from template import fill

IDIOMS = ("two-spaces", "tabs", "random-names", "misleading-names", "inline", "helper", "lambda", "walrus", "table", "comprehension",
          "generator-schedule", "partial", "object-schedule", "closure-schedule", "property-schedule", "dict-schedule", "attribute", "with-loop", "try-loop", "next-loop", "while-loop", "range-loop", "zip-loop", "nested-loop", "other-module", "runner-class", "top-level",
          "misleading-comments", "logging")
FIXED = {"loader": "", "jit": "", "config": "", "imports": "", "call": ""}  # dimensions that only JAX cases have


def tags(style):
    return [tag for tag in style.tags() if tag in IDIOMS] or ["plain"]


def parameter(plan, name, value):
    plan.params.append(name)
    plan.arguments.append(value)


def shape_drift(plan):
    plan.sizes = plan.decide("$rows", "6 + 2 * ($i % 3)", "8")
    plan.compile_option = plan.pick("", ", dynamic=False")
    plan.truth = Truth("shape-drift", ("shape-drift",), origin=("use_x",))


def last_batch(plan):
    plan.sizes = plan.decide("$rows", f"8 if $i < {plan.steps - 1} else 5", "8")
    plan.truth = Truth("last-batch", ("last-batch",), origin=("use_x",), planted=1)


def python_counter(plan):
    plan.attributes.append("self.$calls = 0")
    plan.enter.append(f"self.$calls += {plan.vary('1', '0')}  #@origin  #@source")
    plan.hidden.append("$hidden = $hidden + 0.01 * self.$calls  #@origin")
    plan.truth = Truth("python-counter", ("python-counter",), planted=plan.steps - 1)


# A Python number given to the compiled function: an argument that is static until it varies, and a number
# that flows into an operation.
def static_argument(plan):
    plan.hidden.append("$hidden = $hidden * $rate  #@origin")
    parameter(plan, "$rate", plan.decide("$current", plan.pick("0.5 + $i", "2 + $i"), "3"))
    plan.compile_option = ", dynamic=False"
    plan.truth = Truth("static-argument", ("static-argument", "baked-constant"), origin=("origin", "use_x"))


def global_value(plan):
    plan.global_lines.append("$gain = 1.0")
    plan.hidden.append("$hidden = $hidden * $gain  #@origin")
    plan.pre.append(f"globals_of($Net)[\"$gain\"] = {plan.vary('1.0 + $i // 2', '1.0')}  #@source")
    plan.truth = Truth("global-value", ("global-value",))


def closure_value(plan):
    plan.closure = True
    plan.pre.append(f"$set_knob({plan.vary('1.0 + $i // 2', '1.0')})  #@source")
    plan.truth = Truth("closure-value", ("closure-value",), origin=("origin", "use_x"))


def list_length(plan):
    plan.hidden += ["for $extra in $extras:  #@origin", "    $hidden = $hidden + $extra.mean()  #@origin"]
    plan.pre.append(f"$others = [torch.ones(4) for _ in range({plan.vary('1 + $i % 3', '2')})]  #@source")
    parameter(plan, "$extras", "$others")
    plan.truth = Truth("list-length", ("list-length",), origin=("origin", "use_x"), planted=2)


def grad_mode(plan):
    plan.pre.append(f"$quiet = {plan.vary('$i % 3 == 2', 'False')}  #@source")
    plan.around_call = "with torch.set_grad_enabled(not $quiet):  #@call"
    plan.truth = Truth("grad-mode", ("grad-mode",), origin=("use_x", "call"), source=("source", "call"), planted=1)


def requires_grad(plan):
    plan.pre.append(f"$input.requires_grad_({plan.vary('$i % 3 == 2', 'False')})  #@source")
    plan.truth = Truth("requires-grad", ("requires-grad",), origin=("use_x",), planted=1)


def dtype_change(plan):
    other = "torch.int32" if plan.program.integer else "torch.float64"
    if not plan.program.integer:
        plan.enter.append("$x = $x.float()  #@origin")
    plan.pre.append(f"$input = $input.to({plan.vary(other + ' if $i > 2 else $input.dtype', '$input.dtype')})  #@source")
    plan.truth = Truth("dtype-change", ("dtype-change",), origin=("use_x", "origin"), planted=1)


def rank_change(plan):
    plan.enter += ["if $x.dim() > 2:  #@origin", "    $x = $x[0]  #@origin"]
    plan.pre.append(f"$input = $input[None] if {plan.vary('$i > 2', '$i < 0')} else $input  #@source")
    plan.truth = Truth("rank-change", ("rank-change",), origin=("use_x", "origin"), planted=1)


def stride_change(plan):
    plan.pre.append(f"$input = $input.t().contiguous().t() if {plan.vary('$i > 2', '$i < 0')} else $input  #@source")
    plan.truth = Truth("stride-change", ("stride-change",), origin=("use_x",), planted=1)


def optional_key(plan):
    plan.hidden += ["if \"mask\" in $fields:  #@origin", "    $hidden = $hidden * $fields[\"mask\"]  #@origin"]
    plan.pre += ["$given = {\"scale\": torch.ones(1)}", f"if {plan.vary('$i % 3 == 2', '$i < 0')}:  #@source", "    $given[\"mask\"] = torch.ones(1)  #@source"]
    parameter(plan, "$fields", "$given")
    plan.truth = Truth("optional-key", ("optional-key",), origin=("origin", "use_x"), planted=1)


def python_loop(plan):
    plan.hidden += ["for _ in range($reps):  #@origin", "    $hidden = torch.tanh($hidden)  #@origin"]
    parameter(plan, "$reps", plan.decide("$rounds", "2 + $i % 3", "2"))
    plan.truth = Truth("python-loop", ("python-loop", "static-argument"), origin=("origin", "use_x"))


# train() and eval(): code that first runs late by PROBLEM.md, and a flag that varies.
def mode_flag(plan):
    plan.hidden += ["if self.training:  #@origin", "    $hidden = $hidden * 0.9  #@origin"]
    plan.pre.append(f"$net.train({plan.vary('$i % 3 != 2', 'True')})  #@source")
    plan.truth = Truth("hidden-branch", ("hidden-branch", "static-argument"), origin=("origin", "use_x"), planted=1)


def graph_break(plan):
    if not plan.clean:
        plan.hidden.append(plan.pick("torch._dynamo.graph_break()  #@origin", "print(\"step\", $hidden.shape)  #@origin"))
    plan.truth = Truth("graph-break", ("graph-break",), source=("origin",), fragments=True, benign_counts=True)


# A Python `if` on a tensor's value also breaks the graph.
def value_branch(plan):
    test = "$hidden.sum() > 0" if not plan.clean else "$hidden.shape[-1] > 0"
    plan.hidden += [f"if {test}:  #@origin", "    $hidden = $hidden * 0.5"]
    plan.truth = Truth("value-branch", ("value-branch", "graph-break"), source=("origin",), fragments=True, benign_counts=True)


def host_sync(plan):
    read = plan.pick("float($hidden.abs().max())", "$hidden.sum().item()") if not plan.clean else "0.5"
    plan.hidden += [f"$level = {read}  #@origin", "$hidden = $hidden + $level  #@origin"]
    plan.truth = Truth("host-sync", ("host-sync", "graph-break"), source=("origin",), fragments=True, benign_counts=True)


DRIFTS = {
    "shape-drift": shape_drift, "last-batch": last_batch, "python-counter": python_counter, "static-argument": static_argument,
    "global-value": global_value, "closure-value": closure_value, "list-length": list_length, "grad-mode": grad_mode,
    "requires-grad": requires_grad, "dtype-change": dtype_change, "rank-change": rank_change, "stride-change": stride_change,
    "optional-key": optional_key, "python-loop": python_loop, "mode-flag": mode_flag, "graph-break": graph_break,
    "value-branch": value_branch, "host-sync": host_sync,
}


def possible(drift, program):
    return not (program.integer and drift in ("requires-grad", "rank-change"))


def closure_lines(compiled):
    return ["", "def $around($inner):", "    $knob = 1.0", f"    @{compiled}", "    def $scaled($x):  #@use_x", "        return $inner($x) * $knob  #@origin",
            "    def $turn($value):", "        nonlocal $knob", "        $knob = $value", "    return $scaled, $turn"]


def library_lines(plan):
    """The model, and what stands beside it in its module."""
    extra = "".join(", " + name for name in plan.params)
    slots = {"INIT": plan.attributes, "ENTER": plan.enter, "HIDDEN": plan.hidden}
    closure = closure_lines(f'torch.compile(backend="eager"{plan.compile_option})') if plan.closure else []
    return plan.global_lines + fill(plan.program.text, slots, {"P": extra, "A": extra}) + closure


def loop_lines(plan):
    """The loop: the size is decided before the input is made, everything else after it."""
    call = [f"$result = $model($input{''.join(', ' + value for value in plan.arguments)})  #@call{plan.call_label}"]
    if plan.around_call:
        call = [plan.around_call, "    " + call[0]]
    sizing = [line for line in plan.pre if plan.sizes and plan.sizes in line and "$input" not in line]
    make = f"$input = $make({plan.sizes})  #@source" if plan.sizes else "$input = $make(8)"
    rest = [line for line in plan.pre if line not in sizing]
    body = ["$unused_batch = $batch", *sizing, make, *rest, *call, *plan.post, "$history.append($result.detach())"]
    return plan.style.loop_lines(body, plan.steps)


def files(plan):
    """The sections of a torch case as lines for each file."""
    style = plan.style
    style.choice.update(FIXED)
    if style.choice["noise"] in ("distractors", "reads-metric", "evaluation"):
        style.choice["noise"] = "logging"
    style.add_noise(plan)
    compiled = "$model, $set_knob = $around($net)" if plan.closure else f'$model = torch.compile($net, backend="eager"{plan.compile_option})'
    main = ["$net = $Net()", compiled, "$history = []", *plan.before, *loop_lines(plan), 'print("mean", sum(float($h.mean()) for $h in $history))']
    helpers = ["def globals_of(cls):", "    return cls.forward.__globals__", ""] if plan.global_lines else []
    imports = ["import functools, itertools", "import torch", "from torch import nn", ""]
    rest = [*helpers, *plan.module, "", "def $batches():", f"    return range({plan.steps})", *style.main_lines(main)]
    if style.has("other-module"):
        exported = ["$Net", "$make"] + (["$around"] if plan.closure else [])
        out = {"core_part.py": imports + library_lines(plan), "main.py": imports + [f"from core_part import {', '.join(exported)}", ""] + rest}
    else:
        out = {"main.py": imports + library_lines(plan) + rest}
    return {path: style.comment(lines) for path, lines in out.items()}
