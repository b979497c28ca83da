"""Causes that can be planted in a JAX program. Each function plants one, or, when `plan.clean`, the same
code without it; the text above each says why its answers are right.
"""
from plan import Truth, helper_or_inline


def use_in(plan, lines):
    """Statements that use the parameter, beside the hidden array or beside the loss."""
    if plan.pick(True, False):
        plan.hidden += [line.replace("{V}", "$hidden") for line in lines]
    else:
        plan.loss += [line.replace("{V}", "$loss") for line in lines]


def by_static_argument(plan, name, value):
    plan.add_parameter(name, static=True)
    plan.arguments.append(value)


def by_factory(plan, name, value):
    """One jitted function for each value, kept by lru_cache: no argument of jit is declared static."""
    plan.add_parameter(name, static=False)
    plan.call = f"$build({value})"
    jitted = plan.style.jit_call(plan, f"functools.partial($step, {name}=$setting)")
    plan.module += ["", "@functools.lru_cache(maxsize=None)", "def $build($setting):", f"    return {jitted}  #@source"]


def by_static_object(plan, name, value, passed=None):
    """The value is a field of an object that JAX treats as static, so no static_argnums is written."""
    plan.add_parameter("$options", static=False)
    plan.module += ["import dataclasses", "", "@jax.tree_util.register_static", "@dataclasses.dataclass(frozen=True)", "class $Options:",
                    "    $knob: float = 0.0"]
    for slot in (plan.hidden, plan.loss):
        slot[:] = [line.replace(name, "$options.$knob") for line in slot]
    plan.arguments.append(passed or f"$Options({value})")


def scalar_use(plan, name):
    use_in(plan, [plan.pick(f"{{V}} = {{V}} * {name}  #@origin", f"{{V}} = {{V}} + {name}  #@origin", f"{{V}} = jnp.tanh({{V}} / {name})  #@origin")])


def scalar_schedule(plan):
    return plan.pick("0.1 * 0.5 ** ($i // 3)", "1.0 / (1 + $i // 2)", "round(0.3 + 0.2 * ($i % 3), 2)", "0.5 if $i < 4 else 0.25")


# A static_argnames value varies. equinox has no such list: every Python number is static there, and it
# flows into an operation, so baked-constant is as true.
def static_argument(plan):
    scalar_use(plan, "$rate")
    by_static_argument(plan, "$rate", plan.decide("$current", scalar_schedule(plan), "0.1"))
    plan.truth = Truth("static-argument", ("static-argument",) if plan.program.jit == "jax.jit" else ("static-argument", "baked-constant"))


# A Python number flows into an operation without being declared static.
def baked_constant(plan):
    scalar_use(plan, "$rate")
    value = plan.decide("$current", scalar_schedule(plan), "0.1")
    plan.pick(by_factory, by_static_object)(plan, "$rate", value)
    plan.truth = Truth("baked-constant", ("baked-constant",))


# A field of a static object varies: jit was told that the object is static.
def static_object(plan):
    plan.module += ["import dataclasses", "", "@dataclasses.dataclass(frozen=True)", "class $Options:", "    $knob: float = 0.0", "    $unused_knob: int = 3"]
    scalar_use(plan, "$options.$knob")
    value = plan.decide("$current", scalar_schedule(plan), "0.1")
    by_static_argument(plan, "$options", f"$Options($knob={value})")
    plan.truth = Truth("static-argument", ("static-argument", "baked-constant"))


# The library's own switch between training and evaluation: a field of the model that jit takes as static.
def mode_module(plan):
    training = plan.decide("$training", "$i % 4 != 3", "True")
    plan.pre.append("$state = " + plan.program.mode.replace("{M}", training) + "  #@source")
    plan.truth = Truth("static-argument", ("static-argument", "hidden-branch"), origin=("mode",), planted=1)


# A word chooses what is computed.
def mode_word(plan):
    plan.add_parameter("$mode", static=True)
    plan.hidden += plan.pick(['if $mode == "sample":  #@origin', "    $hidden = $hidden * 0.7  #@origin"],
                             ['$hidden = {"fit": lambda $v: $v, "sample": jnp.tanh}[$mode]($hidden)  #@origin'])
    if plan.style.choice["decision"] == "table":
        plan.style.choice["decision"] = ""
    plan.arguments.append(plan.decide("$current", '"sample" if $i % 4 == 3 else "fit"', '"fit"'))
    plan.truth = Truth("static-argument", ("static-argument", "hidden-branch"), planted=1)


# A static number decides how an operation is done. What it does to the program differs; that it varies is the cause.
def static_use(plan):
    plan.hidden += plan.pick(["$hidden = $hidden + jnp.roll($hidden, $amount, axis=-1)  #@origin"],
                             ["$hidden = $hidden + jnp.pad($hidden, [(0, 0)] * ($hidden.ndim - 1) + [(0, $amount)]).mean()  #@origin"],
                             ["$hidden = jax.lax.fori_loop(0, $amount, lambda _, $v: jnp.sin($v), $hidden)  #@origin"],
                             ["$hidden = jax.lax.scan(lambda $v, _: (jnp.cos($v), None), $hidden, None, length=$amount)[0]  #@origin"],
                             ["$hidden = $hidden ** $amount  #@origin"])
    cycle = plan.pick(True, False)
    by_static_argument(plan, "$amount", plan.decide("$current", "2 + $i % 3" if cycle else "2 + $i // 3", "2"))
    accepted = ("static-argument", "slice-start", "capacity-leak", "python-loop")
    plan.truth = Truth("static-argument", accepted if cycle else (*accepted, "python-counter"))  # it counts, though slowly


# A number that grows by one a call. As a static argument both classes are true.
def python_counter(plan):
    use_in(plan, [plan.pick("{V} = {V} + 0.001 * $tick  #@origin", "{V} = {V} + $tick  #@origin", "{V} = {V} / (1.5 + $tick)  #@origin", "{V} = {V} * 0.5 * $tick  #@origin")])
    route = plan.pick(by_static_argument, by_static_object)
    if route is by_static_argument:
        route(plan, "$tick", plan.decide("$count", "$i + 1", "1"))
    else:
        by_static_object(plan, "$tick", "0", passed="$options")
        plan.before.append("$options = $Options(0)")
        advance = plan.vary("$options.$knob + 1", "$options.$knob")
        plan.pre.append(f"$options = dataclasses.replace($options, $knob={advance})  #@source")
    accepted = ("python-counter", "static-argument") if route is by_static_argument else ("python-counter",)
    plan.truth = Truth("python-counter", accepted, planted=plan.steps - 1)


# x[i:i+n] with a Python i. Through a static argument that is also a static argument that varies.
def slice_start(plan):
    plan.hidden += ["$window = $hidden[..., $start:$start + 3]  #@origin", "$hidden = $hidden + $window.mean()"]
    value = plan.decide("$begin_at", "$i % 5", "2")
    route = plan.pick(by_static_argument, by_factory)
    route(plan, "$start", value)
    # The catalogue's remedy, dynamic_slice, is an edit of the slice itself.
    plan.truth = Truth("slice-start", ("slice-start", "static-argument") if route is by_static_argument else ("slice-start",), planted=4,
                       source=("source", "origin"))


# A Python loop that is unrolled a varying number of times.
def python_loop(plan):
    inner = plan.pick("    {V} = {V} + 0.1 * jnp.sin({V})  #@origin", "    {V} = jnp.tanh({V}) * 1.1  #@origin")
    use_in(plan, ["for $_round in range($reps):  #@loop", inner])
    value = plan.decide("$rounds", plan.pick("2 + $i % 3", "1 + $i // 3"), "2")
    route = plan.pick(by_static_argument, by_factory)
    route(plan, "$reps", value)
    # The catalogue's remedy, scan or fori_loop, is an edit of the loop itself.
    plan.truth = Truth("python-loop", ("python-loop", "static-argument") if route is by_static_argument else ("python-loop",), planted=2,
                       origin=("origin", "loop"), source=("source", "loop"))


# A value is read back, and a Python `if` on it chooses what is compiled.
def value_branch(plan):
    plan.prepared = True
    spike = plan.vary("40", "1")
    plan.module += ["$peak = jax.jit(lambda $array: jnp.abs($array.astype(jnp.float32)).max())"]
    plan.pre += ["if $i % 4 == 3:", f"    $batch = dict($batch, x=$batch[\"x\"] * {spike})"]
    plan.add_parameter("$guard", static=True)
    plan.loss += ["if $guard:  #@origin", "    $loss = jnp.clip($loss, -2.0, 2.0)  #@origin"]
    test = plan.pick("float($peak($batch[\"x\"])) > 30.0", "bool($peak($batch[\"x\"]) > 30)", "$peak($batch[\"x\"]).item() > 30")
    body = plan.pick(["$risky = False", f"if {test}:  #@source", "    $risky = True  #@source"], [f"$risky = True if {test} else False  #@source"],
                     [f"if {test}:  #@source", "    $risky = True  #@source", "else:", "    $risky = False"])
    plan.pre += body
    plan.arguments.append("$risky")
    plan.truth = Truth("value-branch", ("value-branch",), planted=1)


# Code that first runs late: a flag of the step, or a function of its own. A flag that is a static
# argument is a varying static argument too; PROBLEM.md names logging each N steps under hidden-branch.
def hidden_branch(plan):
    if plan.pick(True, False):
        plan.add_parameter("$verbose", static=True)
        plan.loss += ["if $verbose:", "    $loss = $loss + 1e-6 * jnp.std($batch[\"x\"].astype(jnp.float32))  #@origin"]
        plan.arguments.append(plan.decide("$report", "$i % 6 == 5", "False"))
        plan.truth = Truth("hidden-branch", ("hidden-branch", "static-argument"), planted=1)
        return
    plan.module += ["", "@jax.jit", "def $summary($tree):", "    return sum(jnp.sum(jnp.square($leaf)) for $leaf in $tree)  #@origin"]
    plan.post += [f"if {plan.vary('$i == 6', '$i >= 0')}:", "    $spread = $summary([$metric, $metric])  #@source"]
    plan.truth = Truth("hidden-branch", ("hidden-branch",), compiled=("$summary",), fragments=True, benign_counts=True)


# Train and eval mode in one function: a static flag that varies, and, when eval comes late, code that first
# runs late. PROBLEM.md names eval mode under hidden-branch; both count.
def mode_flag(plan):
    plan.add_parameter("$train", static=True)
    if plan.program.flag and plan.pick(True, False):
        plan.flag = "$train"
    else:
        plan.hidden += plan.pick(["if $train:  #@origin", "    $hidden = $hidden * 0.9  #@origin"],
                                 ["$hidden = jnp.where($hidden > 0.2, $hidden, 0.0) if $train else $hidden  #@origin"],
                                 ["if not $train:  #@origin", "    $hidden = jax.lax.stop_gradient($hidden) * 0.5  #@origin"])
    plan.arguments.append(plan.decide("$training", "$i % 4 != 3", "True"))
    plan.truth = Truth("static-argument", ("static-argument", "hidden-branch"), origin=("origin", "flag") if plan.flag != "True" else ("origin",), planted=1)


def optional_key(plan):
    plan.prepared = True
    key = plan.pick("weight", "mask", "extra")
    plan.loss += [f'if "{key}" in $batch:  #@origin', f'    $loss = $loss + 0.1 * jnp.mean($batch["{key}"])  #@origin']
    condition = plan.vary(plan.pick("$i % 3 == 2", "$i > 4", "$i % 2"), "$i >= 0")
    body = [f"if {condition}:  #@source", f'    $batch = dict($batch, {key}=np.ones({plan.size}, np.float32))  #@source']
    helper_or_inline(plan, "$complete", ["$batch", "$i"], body, "$batch")
    plan.truth = Truth("optional-key", ("optional-key",), planted=1)


# An argument that some calls leave out.
def optional_argument(plan):
    plan.add_parameter("$sample_weights", static=False)
    plan.loss += ["if $sample_weights is not None:  #@origin", "    $loss = $loss + 0.1 * jnp.mean($sample_weights)  #@origin"]
    if plan.style.choice["decision"] in ("table", "comprehension", "dict-schedule"):
        plan.style.choice["decision"] = ""
    present = f"np.ones({plan.size}, np.float32)"
    condition = plan.pick("$i % 3 == 2", "$i > 4")
    plan.arguments.append(plan.decide("$current", f"{present} if {condition} else None", present))
    plan.truth = Truth("optional-key", ("optional-key",), planted=1)


# A list in the batch whose length varies: arguments come and go, which is optional-key; list-length is the
# same thing by its torch.compile name.
def list_length(plan):
    plan.prepared = True
    plan.loss += ["for $part in $batch[\"views\"]:  #@origin", "    $loss = $loss + 0.01 * jnp.mean($part)  #@origin"]
    count = plan.vary(plan.pick("1 + $i % 3", "1 + $i // 3"), "2")
    body = [f"$views = [np.full((4,), $n, np.float32) for $n in range({count})]  #@source", "$batch = dict($batch, views=$views)  #@source"]
    helper_or_inline(plan, "$gather", ["$batch", "$i"], body, "$batch")
    plan.truth = Truth("optional-key", ("optional-key", "list-length"), planted=2)


# A result is read back in the loop through operations of its own, which become programs of their own.
def host_sync(plan):
    line = plan.pick("float(jnp.sqrt($metric))", "float(jnp.abs($metric).max())", "jnp.log1p($metric ** 2).item()", "int(jnp.round($metric * 100))")
    if plan.clean:
        plan.post.append("$seen.append($metric)")
    elif plan.style.has("helper"):
        plan.module += ["", "def $fetch($metric):", f"    return {line}  #@origin"]
        plan.post.append("$seen.append($fetch($metric))  #@source")
    else:
        plan.post.append(f"$seen.append({line})  #@origin")
    plan.before.append("$seen = []")
    plan.truth = Truth("host-sync", ("host-sync",), source=("source", "origin"), compiled=(), fragments=True, benign_counts=True)


def dtype_change(plan):
    plan.prepared = True
    if plan.pick(True, False):  # a Python number is weakly typed, a NumPy one is not
        scalar_use(plan, "$rate")
        plan.add_parameter("$rate", static=False)
        scalars = plan.pick("np.float32(0.5) if $i > 3 else 0.5", "1 if $i > 3 else 0.5", "jnp.float32(0.5) if $i % 3 == 2 else 0.5")
        if plan.program.jit != "jax.jit":  # equinox makes Python numbers static
            scalars = "np.float16(0.5) if $i > 3 else np.float32(0.5)"
        if plan.style.choice["decision"] == "table":
            plan.style.choice["decision"] = ""
        plan.arguments.append(plan.decide("$current", scalars, "np.float32(0.5)"))
        plan.truth = Truth("dtype-change", ("dtype-change",), planted=1)
        return
    other = plan.pick("np.int16", "np.uint8") if plan.program.integer else plan.pick("np.float16", "np.int32")
    condition = plan.vary(plan.pick("$i % 4 == 2", "$i > 5"), "$i < 0")
    body = [f"if {condition}:", f'    $batch = dict($batch, x=$batch["x"].astype({other}))  #@source']
    helper_or_inline(plan, "$pack", ["$batch", "$i"], body, "$batch")
    plan.truth = Truth("dtype-change", ("dtype-change",), origin=("use_x",), planted=1)


def rank_change(plan):
    plan.prepared = True
    rank = plan.program.x_rank
    plan.enter += [f'if $batch["x"].ndim > {rank}:  #@origin', '    $batch = dict($batch, x=$batch["x"][0])  #@origin']
    condition = plan.vary(plan.pick("$i % 4 == 3", "$i >= 5"), "$i < 0")
    wrapped = plan.pick('$batch["x"][None]', 'np.expand_dims($batch["x"], 0)')
    body = [f"if {condition}:", f"    $batch = dict($batch, x={wrapped})  #@source"]
    helper_or_inline(plan, "$wrap", ["$batch", "$i"], body, "$batch")
    plan.truth = Truth("rank-change", ("rank-change",), origin=("origin", "use_x"), planted=1)


def shape_drift(plan):
    if plan.program.sequence and plan.pick(True, False):
        plan.prepared = True
        length = plan.decide("$length", plan.pick("6 + $i % 3", "10 - $i % 4"), "9")
        plan.pre.append(f"$batch = {{$key: $array[:, :{length}] for $key, $array in $batch.items()}}  #@source")
    else:
        sizes = plan.vary(plan.pick("[8, 12, 16, 12, 8, 10, 16, 10, 8][$i]", "6 + 2 * ($i % 4)", "16 - $i", "-(-(5 + 3 * $i % 11) // 4) * 4"), "8")
        if plan.style.has("helper") or plan.style.has("table"):
            plan.module += ["", "def $rows_of($i):", f"    return {sizes}  #@source"]
            sizes = "$rows_of($i)"
        plan.sizes = sizes
    plan.truth = Truth("shape-drift", ("shape-drift",), origin=("use_x",))


def last_batch(plan):
    rows = plan.size
    plan.whole = rows * (plan.steps - 1) + plan.vary(plan.pick(3, 5, 1), rows)
    plan.truth = Truth("last-batch", ("last-batch",), origin=("use_x",), planted=1)


# A key-value cache that grows by one entry a step: an argument whose size drifts.
def growing_cache(plan):
    plan.add_parameter("$cache", static=False)
    plan.hidden += ["$hidden = $hidden + jnp.tanh($cache).mean()  #@origin"]
    host = plan.pick(True, False)
    lib = "np" if host else "jnp"
    plan.before.append(f"$cache = {lib}.zeros((1, 4), {lib}.float32)")
    grown = plan.vary(plan.pick(f"{lib}.concatenate([$cache, {lib}.full((1, 4), 0.5, {lib}.float32)])", f"{lib}.vstack([$cache, {lib}.ones((1, 4), {lib}.float32)])"), "$cache * 1.0")
    plan.post.append(f"$cache = {grown}  #@source")
    plan.arguments.append("$cache")
    plan.truth = Truth("shape-drift", ("shape-drift",), planted=plan.steps - 1)


def donation_change(plan):
    plan.call = "$chosen"
    plan.module += [f"$keeping = {plan.style.jit_call(plan, '$step')}", f"$donating = {plan.style.jit_call(plan, '$step', ', donate_argnums=0')}  #@source"]
    plan.pre.append(f"$chosen = $donating if {plan.vary('$i > 3', '$i < 0')} else $keeping  #@source")
    plan.truth = Truth("donation-change", ("donation-change",), origin=("call", "source"), planted=1)


def by_placement(plan, layout):
    """The batch is put on the devices in another way."""
    plan.pre.append(f'$batch = dict($batch, x=jax.device_put($batch["x"], NamedSharding($mesh, {layout})))  #@source')
    plan.truth = Truth("sharding-change", ("sharding-change",), origin=("use_x", "call"), planted=1)


def by_constraint(plan, layout):
    """A constraint within the step, in a step that is jitted for each layout."""
    plan.enter.append('$batch = dict($batch, x=jax.lax.with_sharding_constraint($batch["x"], NamedSharding($mesh, $layout)))  #@origin')
    by_factory(plan, "$layout", layout)
    plan.truth = Truth("sharding-change", ("sharding-change",), planted=1)


def by_jit_option(plan, layout):
    """jit is told where the batch must be, once for each layout."""
    made = plan.style.jit_call(plan, "$step", ", in_shardings=($everywhere, NamedSharding($mesh, $layout))")
    plan.call = f"$placed({layout})"
    plan.module += ["", "@functools.lru_cache(maxsize=None)", "def $placed($layout):", f"    return {made}  #@source"]
    plan.truth = Truth("sharding-change", ("sharding-change",), origin=("use_x", "source", "call"), planted=1)


# The same array is laid out over two devices in another way.
def sharding_change(plan):
    plan.prepared, plan.devices = True, 2
    if plan.style.choice["decision"] in ("table", "inline", "walrus"):
        plan.style.choice["decision"] = ""
    plan.step_module += ["from jax.sharding import Mesh, NamedSharding, PartitionSpec", '$mesh = Mesh(np.array(jax.devices()[:2]), ("rows",))',
                         "$everywhere = NamedSharding($mesh, PartitionSpec())"]
    plan.pre.append("$state = jax.device_put($state, $everywhere)")
    late = plan.pick("$i > 4", "$i % 3 == 2", "$i >= 6")
    layout = plan.decide("$spec", f'PartitionSpec() if {late} else PartitionSpec("rows")', 'PartitionSpec("rows")')
    plan.pick(by_placement, by_constraint, by_jit_option)(plan, layout)


# The same function is wrapped and jitted anew in every step.
def fresh_jit(plan):
    plan.call = "$fresh"
    form = plan.pick("lambda $s, $b: $step($s, $b)", "functools.partial(lambda $s, $b: $step($s, $b))", "def")
    wrapped = []
    if form == "def":
        wrapped = ["def $wrapper($s, $b):", "    return $step($s, $b)"]
        form = "$wrapper"
    lines = wrapped + [f"$fresh = {plan.style.jit_call(plan, form)}  #@source"]
    if plan.clean:
        plan.before += lines
    elif plan.style.has("helper"):
        plan.module += ["", "def $make():", *["    " + line for line in wrapped], f"    return {plan.style.jit_call(plan, form)}  #@source"]
        plan.pre.append("$fresh = $make()  #@source")
    else:
        plan.pre += lines
    plan.truth = Truth("fresh-jit", ("fresh-jit",), origin=("source", "call"), compiled=("$wrapper", "<lambda>"), planted=plan.steps - 1)


# A data set that a function made for it closes over, as samplers are given theirs: its numbers are compiled in, and
# the function is jitted anew. Both are true.
def closed_data(plan):
    made = plan.style.jit_call(plan, "lambda $s, _: $step($s, $held)")
    plan.module += ["", "def $over($held):", f"    return {made}  #@source"]
    plan.call = "$fitted"
    if plan.clean:
        plan.before.append("$fitted = $over(next(iter($batches())))")
    else:
        plan.pre.append("$fitted = $over($batch)  #@source")
    plan.truth = Truth("baked-constant", ("baked-constant", "fresh-jit"), origin=("use_x", "source", "call"), compiled=("<lambda>",), planted=plan.steps - 1)


def row_flags(plan):
    count = plan.vary("3 + $i % 4", "5")
    plan.prepared = True
    return f"np.arange({plan.size}) < {count}"


def dim_readback(plan):
    flags = row_flags(plan)
    # nonzero() waits for the number of rows, so its line reads the size back too.
    read = plan.pick(["$rows = jnp.nonzero($valid)[0]  #@source", "$live = $rows.size  #@source"], ["$live = int(jnp.sum($valid))  #@source"],
                     ["$live = jnp.count_nonzero($valid).item()  #@source"])
    cut = "$batch = {$key: $array[:$live] for $key, $array in $batch.items()}  #@source"
    helper_or_inline(plan, "$trim", ["$batch", "$i"], [f"$valid = {flags}", *read, cut], "$batch")
    plan.truth = Truth("dim-readback", ("dim-readback",), origin=("use_x",), planted=3)


def mask_gather(plan):
    flags = row_flags(plan)
    cut = "$batch = {$key: jnp.asarray($array)[$valid] for $key, $array in $batch.items()}  #@source"
    helper_or_inline(plan, "$select", ["$batch", "$i"], [f"$valid = {flags}", cut], "$batch")
    plan.truth = Truth("mask-gather", ("mask-gather",), origin=("use_x", "source"), planted=3)


def topk_k(plan):
    plan.hidden += plan.pick(["$best = jax.lax.top_k($hidden, $k)[0]  #@origin", "$hidden = $hidden + 0.1 * $best.mean()"],
                             ["$hidden = $hidden + 0.1 * jnp.mean(jax.lax.top_k($hidden, $k)[0])  #@origin"])
    value = plan.decide("$keep", plan.pick("1 + $i % 3", "2 + $i // 3"), "2")
    route = plan.pick(by_static_argument, by_factory)
    route(plan, "$k", value)
    plan.truth = Truth("topk-k", ("topk-k", "static-argument") if route is by_static_argument else ("topk-k",), planted=2)


# Sequences packed one after the other: the rows and the list of offsets change together.
def varlen(plan):
    plan.prepared = True
    packs = plan.pick("[[3, 5], [2, 2, 6], [4, 4, 1, 3], [3, 5], [7, 2, 3], [3, 5], [2, 2, 6], [3, 5], [4, 4]]",
                      "[[4] * (2 + $n % 3) for $n in range(9)]", "[[5, 3], [2, 6], [1, 2, 8], [4, 4], [5, 3], [3, 3, 3, 3], [6, 2], [1, 2, 8], [4, 4]]")
    plan.module.append(f"$packs = {plan.vary(packs, '[[3, 5]] * 9')}  #@source")
    plan.sizes = "sum($packs[$i])"
    plan.pre.append('$batch = dict($batch, offsets=np.cumsum($packs[$i]).astype(np.int32))  #@source')
    plan.hidden += [] if plan.program.framework in ("linen", "nnx") else ["$hidden = $hidden * 1.0"]
    plan.loss += ['$segment = jnp.searchsorted($batch["offsets"], jnp.arange($batch["x"].shape[0]), side="right")  #@origin',
                  '$pooled = jax.ops.segment_sum($batch["x"].astype(jnp.float32), $segment, $batch["offsets"].shape[0])  #@origin',
                  "$loss = $loss + 1e-3 * jnp.mean($pooled ** 2)"]
    plan.truth = Truth("varlen", ("varlen",), origin=("origin", "use_x"))


# Capacity from the number of tokens that are really there, given to jit as a static argument: an integer
# and sizes move together. That it varies as a static argument is as true.
def capacity_leak(plan):
    plan.prepared = True
    plan.add_parameter("$room", static=True)
    plan.hidden += ["$flat = $hidden.reshape(-1, $hidden.shape[-1])", "$slots = jnp.zeros(($room, $flat.shape[-1])).at[jnp.arange($flat.shape[0]) % $room].add($flat)  #@origin",
                    "$hidden = $hidden + $slots.sum() / $room * 1e-3  #@origin"]
    plan.module.append("$real = [18, 18, 24, 30, 24, 18, 40, 30, 24]")
    plan.pre += ["$tokens = $real[$i]", f"$room_now = {plan.vary('int(-(-$tokens * 1.25 // 4))', '12')}  #@source"]
    plan.arguments.append("$room_now")
    plan.truth = Truth("capacity-leak", ("capacity-leak", "static-argument"))


DRIFTS = {
    "static-argument": static_argument, "static-object": static_object, "static-use": static_use, "mode-word": mode_word, "mode-module": mode_module, "sharding-change": sharding_change, "optional-argument": optional_argument, "baked-constant": baked_constant, "python-counter": python_counter, "slice-start": slice_start,
    "python-loop": python_loop, "value-branch": value_branch, "hidden-branch": hidden_branch, "mode-flag": mode_flag,
    "optional-key": optional_key, "list-length": list_length, "host-sync": host_sync, "dtype-change": dtype_change,
    "rank-change": rank_change, "shape-drift": shape_drift, "last-batch": last_batch, "growing-cache": growing_cache,
    "donation-change": donation_change, "fresh-jit": fresh_jit, "closed-data": closed_data, "dim-readback": dim_readback, "mask-gather": mask_gather,
    "topk-k": topk_k, "varlen": varlen, "capacity-leak": capacity_leak,
}


def possible(drift, program):
    """equinox's jit takes neither donate_argnums nor a value that must stay traced as a Python number; a batch
    of the program's own has no lists; a state of Python objects cannot be put on a mesh."""
    if drift == "mode-module":
        return bool(program.mode)
    if drift == "sharding-change":
        return program.jit == "jax.jit" and not program.defaults and program.framework != "nnx"
    return not (drift in ("donation-change", "optional-argument") and program.jit != "jax.jit" or drift in ("varlen", "list-length") and program.defaults)
