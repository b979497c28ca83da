"""What Stet must say about each program of this folder.

Row(row, program, wants, …): `wants` lists every story that is not harmless; an empty list means no alarm,
neither live nor afterwards. A Want is a set of accepted causes and the text of the line to be shown as origin or
as source; `words` must be in the evidence or in the fix; `edit`, where it is given, is the text of the line to edit. `never` may be nowhere in the output.
"""
import dataclasses


@dataclasses.dataclass
class Want:
    causes: str  # separated by blanks
    line: str
    words: tuple = ()
    edit: str = ""


@dataclasses.dataclass
class Row:
    row: str
    program: str
    wants: list = ()
    summary: tuple = ()  # texts that the summary of `stet run` has
    never: tuple = ()
    lane: str = "jax"
    launches: int = 1  # 2: the second one has a warm store and gives the same answer
    platforms: str = ""  # JAX_PLATFORMS: "stet,cpu" leaves XLA's own CPU client as JAX's platform `cpu`


STATIC = ("__eq__", "__hash__")

ROWS = [
    Row("A", "a_pmap.py", [Want("identical-rehash", "theta = fit(theta, rows)", ("NamedSharding", "device_put"))],
        never=STATIC + ("flat_args",)),
    Row("B", "b_one_name.py"),
    Row("C, D", "c_eager_layers.py"),
    Row("E", "e_not_jitted.py", [Want("eager-storm", "def improve(", ("Wrap improve in one jax.jit",))]),
    Row("E", "e_measured.py", [Want("eager-storm", "def share_right(", ("Wrap share_right in one jax.jit",))]),
    Row("E", "e_folds.py"),
    Row("F", "f_twins.py"),
    Row("G", "g_ahead.py"),
    Row("G", "g_guarded.py"),
    Row("I", "i_one_device.py", [Want("rank-change", "return jnp.where(", ("position",))],
        never=("empty_mesh", "sharding-change")),
    Row("J", "j_context.py", [Want("identical-rehash", "grid = smooth(grid, weight)", ("set_mesh",))], never=STATIC),
    Row("J, M23", "j_leaf.py", [Want("optional-key", "level = settle(level, record)", ("record['note']",))],
        never=STATIC),
    Row("J", "j_weighted.py", [Want("optional-key", "return jnp.mean(off", ("sample['trust']",))], never=("slopes = {",)),
    Row("J", "j_thawed.py", [Want("optional-key", "moving = nudge(moving")], never=("rank-change", "python-loop")),
    Row("K", "k_static_size.py", [Want("static-argument capacity-leak", "edges = jnp.linspace", ("static argument bins",))]),
    # Its loader indexes arrays outside jit in each turn, which is a true story of its own.
    Row("L", "l_curriculum.py", [Want("shape-drift", "slope = jax.grad("), Want("eager-storm", "picked")],
        never=("mask-gather",)),
    Row("L, M9", "l_coincidence.py", [Want("shape-drift", "tokens = draw.integers(0, 60, length)"),
                                      Want("mask-gather", "kept = scores[scores >= 30")]),
    Row("M", "m_same_line.py", [Want("shape-drift", "return jnp.square(table[words])")], never=("dim-readback",)),
    Row("P", "p_weak.py", [Want("dtype-change", "return pressure * (1 - dt)", ("dt", "weak_type"))],
        never=("Convert operation",)),
    Row("P", "p_precision.py", [Want("dtype-change", "inner = field.astype", ("Let what line 10 computes", "float32"))],
        never=("before the call",)),
    Row("Q", "q_initialise.py"),
    Row("R", "r_strategies.py", [Want("identical-rehash", "state = strategy.tell(", ("static argument self", "__eq__"))],
        launches=2),
    Row("S", "s_callback.py", [Want("dim-readback", "kept = values[: int(count)]"),
                               Want("eager-storm", 'print("mean"', ("report",), edit="def report(")],
        never=("handler", "backend that Stet does not see")),
    Row("S", "s_callback.py", platforms="stet,cpu",
        summary=("JAX compiled 15 programs", "backend that Stet does not see", "s_callback.py:8")),
    Row("S", "s_callback_anew.py", [Want("fresh-jit", "@jax.jit")], never=("graph-change", "index")),
    Row("L", "l_picked.py", [Want("shape-drift", "return scale -")], never=("mask-gather",)),
    Row("M2", "m2_dropout.py", [Want("static-argument", "x = nn.Dropout(", ("noisy", "True -> False"))],
        never=("sharding-change", "graph-change")),
    Row("M8", "m8_cache.py", [Want("shape-drift", "seen = jnp.append(memory", ("dynamic_update_slice", "memory"))],
        never=("buckets",)),
    Row("M11", "m11_pass.py", [Want("last-batch", "return jnp.mean((rows @ weights) ** 2)")], never=("shape-drift",)),
    Row("M14", "m14_late.py", [Want("host-sync", "print(turn, float(field.std()))")],
        summary=("1 first compile in the loop",), never=("compiled again",)),
    Row("T", "t_counted_field.py", [Want("python-counter baked-constant", "return field * 0.5 + 0.001 * clock.fired", ("clock.fired",))],
        never=("the constant took",)),  # the first new value is only a new value
    Row("T", "t_counted_model.py", [Want("python-counter", "mean = rise(tower", edit="self.looked += 1")],
        never=("identical-rehash",)),
    Row("T", "t_packed.py", [Want("varlen", "pooled = jax.ops.segment_sum(")], never=("shape-drift", "grows by")),
    Row("X", "x_counting.py", [Want("python-counter", "return field * 0.9 + turn")], never=("static-argument:",)),
    Row("X", "x_first_size.py", [Want("shape-drift", "return jnp.mean(jnp.sin(samples) ** 2)")], never=("last-batch",)),
    Row("W", "w_rehearsed.py"),
    Row("W", "w_rehearsed_twice.py"),
    Row("W", "w_first_pass.py", [Want("shape-drift", "melody")]),
    Row("Y", "y_pipeline.py", [Want("last-batch", "return image.astype", edit="ds = ds.batch(size)"),
                               Want("last-batch", "batch.image @ w", edit=".batch(size * 2)")]),
    Row("Y", "y_decided.py", [Want("python-loop", "jnp.roll(heights, by)", edit="reach = 2 + turn // 5"),
                              Want("optional-key", 'pull = pull * jnp.mean(', edit='sample = {**sample, "trust"'),
                              Want("static-argument", "jnp.pad(heights, 2", edit='how = "wrap" if'),
                              Want("baked-constant fresh-jit", "jnp.asarray(depths)", edit="closer = fitted(")]),
    Row("U", "u_two_uses.py", lane="torchtpu"),
    Row("U", "u_looked_up.py", [Want("shape-drift", "LENGTHS = (5, 8")], never=("mask-gather",),
        lane="torchtpu"),
    Row("U", "u_schedule.py", [Want("optimizer-scalar", "tuner = torch.optim.SGD(layer.parameters(), lr=rate)")], lane="torchtpu"),
    Row("Y", "y_traced.py", [Want("python-loop", "jnp.roll(signal, k)", edit="return 3 + self.played // 6"),
                             Want("baked-constant fresh-jit", "jnp.minimum(signal", edit="return 0.9 if")]),
    Row("Y", "y_versions.py", [Want("shape-drift", 'frame["echo"]', edit='return {"echo"'),
                               Want("optional-key", 'frame["level"]', edit='frame["level"] = np.full')]),
    Row("Y", "y_measured.py", [Want("shape-drift mask-gather", "jnp.sum(demand)", edit="riders = riders[("),
                               Want("static-argument", "jnp.linspace(0.0, load, stops)", edit="return 4 + len(tickets)"),
                               Want("optional-key", "plan(load, bus.holidays(", edit="return None"),
                               Want("dtype-change", "return load - bias", edit="self.bias = np.float32(")]),
    Row("Y", "y_made.py", [Want("fresh-jit", "return jax.jit(swell)", edit="return jax.jit(swell)"),
                           Want("baked-constant fresh-jit", "weight - place", edit="return jax.jit(fit)"),
                           Want("static-argument", "jnp.convolve(heights", edit='"storm": {"width": 5}'),
                           Want("rank-change", "heights[where]", edit="np.asarray(where")]),
    Row("N", "n_closure.py", lane="torchxla"),
    Row("N", "n_derived.py", lane="torchxla"),
    Row("O", "o_count.py", [Want("baked-constant", "xm.mark_step()", ("torch.zeros",))], lane="torchxla",
        never=("grad-create-accumulate", "zero_grad", "optimizer")),
    Row("X", "x_collected.py", [Want("hidden-branch", "out = out + 0.01 * jnp.sum(x ** 2)")]),
    Row("Z", "z_width.py", [Want("options-drift", "return level * 0.9", ("jax_enable_x64",), edit="return jax.enable_x64(True)")],
        never=("Convert",)),
    Row("Z", "z_precision.py", [Want("options-drift", "return jnp.tanh(field @ mix)", ("jax_default_matmul_precision",),
                                     edit="with jax.default_matmul_precision")], never=("graph-change",)),
    Row("Y", "y_given.py", [Want("last-batch", "page, left = left[", edit="page, left = left[")]),
]
