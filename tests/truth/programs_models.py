"""Programs that use haiku and numpyro; the contract is that of programs_jax.py."""
from programs_jax import DENSE_BATCH, SERIES_BATCH, Program

HAIKU_MLP = '''
    def $network($inputs{P}):
        $hidden = jax.nn.relu(hk.Linear(16, name="up")($inputs))  #@use_x
        <HIDDEN>
        return hk.Linear(3, name="down")($hidden)

    $net = hk.without_apply_rng(hk.transform($network))

    def $init():
        $k1, $k2 = jax.random.split(jax.random.PRNGKey(0))
        return {"up": {"w": 0.3 * jax.random.normal($k1, (12, 16)), "b": jnp.zeros(16)}, "down": {"w": 0.3 * jax.random.normal($k2, (16, 3)), "b": jnp.zeros(3)}}

    def $loss_of($params, $batch{P}):
        <ENTER>
        $guess = $net.apply($params, $batch["x"].astype(jnp.float32){A})  #@use_x
        $loss = jnp.mean(($guess - $batch["y"]) ** 2)  #@use_x
        <LOSS>
        return $loss

    <JIT>
    def $step($state, $batch{P}):
        $loss, $grads = jax.value_and_grad($loss_of)($state, $batch{A})
        return jax.tree.map(lambda $p, $g: $p - 0.05 * $g, $state, $grads), $loss
'''

# Batch normalisation and dropout: what is_training leaves out takes arguments with it.
HAIKU_STATE = '''
    def $network($inputs{P}):
        $hidden = hk.Linear(16, name="up")($inputs)  #@use_x
        $hidden = hk.BatchNorm(True, True, 0.9, name="norm")($hidden, is_training={F})  #@flag
        if {F}:  #@flag
            $hidden = hk.dropout(hk.next_rng_key(), 0.1, $hidden)  #@flag
        <HIDDEN>
        return hk.Linear(3, name="down")(jax.nn.relu($hidden))

    $net = hk.transform_with_state($network)

    class $TrainState(typing.NamedTuple):
        $params: hk.Params
        $moving: hk.State
        $memory: optax.OptState
        $key: jax.Array

    $optimizer = optax.adam(1e-2)

    def $init():
        $k1, $k2 = jax.random.split(jax.random.PRNGKey(2))
        $params = {"up": {"w": 0.3 * jax.random.normal($k1, (12, 16)), "b": jnp.zeros(16)}, "norm": {"scale": jnp.ones((1, 16)), "offset": jnp.zeros((1, 16))}, "down": {"w": 0.3 * jax.random.normal($k2, (16, 3)), "b": jnp.zeros(3)}}
        $moving = {}
        for $kind in ("mean_ema", "var_ema"):
            $moving["norm/~/" + $kind] = {"average": jnp.zeros((1, 16)), "counter": jnp.zeros((), jnp.int32), "hidden": jnp.zeros((1, 16))}
        return $TrainState($params, $moving, $optimizer.init($params), $k1)

    def $loss_of($params, $moving, $key, $batch{P}):
        <ENTER>
        $guess, $moving = $net.apply($params, $moving, $key, $batch["x"].astype(jnp.float32){A})  #@use_x
        $loss = jnp.mean(optax.l2_loss($guess, $batch["y"].astype(jnp.float32)))  #@use_x
        <LOSS>
        return $loss, $moving

    <JIT>
    def $step($state, $batch{P}):
        $key, $used = jax.random.split($state.$key)
        ($loss, $moving), $grads = jax.value_and_grad($loss_of, has_aux=True)($state.$params, $state.$moving, $used, $batch{A})
        $updates, $memory = $optimizer.update($grads, $state.$memory)
        return $TrainState(optax.apply_updates($state.$params, $updates), $moving, $memory, $key), $loss
'''

HAIKU_RNN = '''
    class $Reader(hk.Module):
        def __call__(self, $series{P}):
            $cell = hk.VanillaRNN(8, name="cell")
            $states, _ = hk.dynamic_unroll($cell, $series, $cell.initial_state($series.shape[1]))  #@use_x
            $hidden = jnp.swapaxes($states, 0, 1)
            <HIDDEN>
            return hk.Linear(6, name="head")($hidden)

    $net = hk.transform(lambda $series{P}: $Reader(name="reader")($series{A}))

    def $init():
        $keys = jax.random.split(jax.random.PRNGKey(5), 3)
        return {"reader/cell/linear": {"w": 0.3 * jax.random.normal($keys[0], (6, 8)), "b": jnp.zeros(8)}, "reader/cell/linear_1": {"w": 0.3 * jax.random.normal($keys[1], (8, 8)), "b": jnp.zeros(8)}, "reader/head": {"w": 0.3 * jax.random.normal($keys[2], (8, 6)), "b": jnp.zeros(6)}}

    def $loss_of($params, $batch{P}):
        <ENTER>
        $guess = $net.apply($params, None, jnp.swapaxes($batch["x"], 0, 1).astype(jnp.float32){A})  #@use_x
        $loss = jnp.mean(jnp.abs($guess - $batch["y"]))  #@use_x
        <LOSS>
        return $loss

    <JIT>
    def $step($state, $batch{P}):
        $loss, $grads = jax.value_and_grad($loss_of)($state, $batch{A})
        return jax.tree.map(lambda $p, $g: $p - 0.01 * $g, $state, $grads), $loss
'''

REGRESSION = '''
    def $model($batch{D}):
        <ENTER>
        $slope = numpyro.sample("slope", dist.Normal(jnp.zeros(12), 1.0).to_event(1))
        $noise = numpyro.sample("noise", dist.LogNormal(-1.0, 0.5))
        $hidden = $batch["x"] * $slope  #@use_x
        <HIDDEN>
        $loss = 1e-3 * jnp.mean($hidden ** 2)
        <LOSS>
        numpyro.factor("penalty", -$loss)
        with numpyro.plate("rows", $batch["x"].shape[0]):  #@use_x
            numpyro.sample("seen", dist.Normal($hidden.sum(axis=-1), $noise), obs=$batch["y"][:, 0])  #@use_x
'''

NUMPYRO_SVI = REGRESSION + '''
    def $guide($batch{D}):
        $middle = numpyro.param("middle", jnp.zeros(12))
        $spread = numpyro.param("spread", jnp.full(12, 0.1), constraint=dist.constraints.positive)
        numpyro.sample("slope", dist.Normal($middle, $spread).to_event(1))
        numpyro.sample("noise", dist.LogNormal(numpyro.param("level", -1.0), 0.1))

    $svi = SVI($model, $guide, numpyro.optim.Adam(0.01), Trace_ELBO())

    def $init():
        return $svi.init(jax.random.PRNGKey(1), $make_batch(np.random.default_rng(1), 8))

    <JIT>
    def $step($state, $batch{P}):
        return $svi.update($state, $batch{A})
'''

NUMPYRO_AUTO = REGRESSION + '''
    $svi = SVI($model, AutoNormal($model), optax.chain(optax.clip(10.0), optax.adam(0.01)), Trace_ELBO(num_particles=2))

    def $init():
        return $svi.init(jax.random.PRNGKey(1), $make_batch(np.random.default_rng(1), 8))

    <JIT>
    def $step($state, $batch{P}):
        $state, $loss = $svi.stable_update($state, $batch{A})
        return $state, $loss / $batch["x"].shape[0]  #@use_x
'''

NUMPYRO_MAP = REGRESSION + '''
    def $init():
        return {"slope": jnp.zeros(12), "noise": jnp.float32(0.4)}

    def $negative($point, $batch{P}):
        return -log_density($model, ({T}), {}, $point)[0]

    <JIT>
    def $step($state, $batch{P}):
        $value, $grads = jax.value_and_grad($negative)($state, $batch{A})
        return jax.tree.map(lambda $p, $g: $p - 1e-4 * $g, $state, $grads), $value
'''

# The sampler's own step, jitted, as in the documentation of numpyro's kernels.
NUMPYRO_HMC = REGRESSION + '''
    $kernel = HMC($model, step_size=0.01, trajectory_length=0.03, adapt_step_size=False, adapt_mass_matrix=False)

    def $init():
        return $kernel.init(jax.random.PRNGKey(3), 0, None, ($make_batch(np.random.default_rng(1), 8),), {})

    <JIT>
    def $step($state, $batch{P}):
        $state = $kernel.sample($state, ({T}), {})
        return $state, $state.potential_energy
'''

HAIKU = "import haiku as hk"
HAIKU_OPTAX = "import haiku as hk\nimport optax\nimport typing"
NUMPYRO = "import types\nimport numpyro\nimport numpyro.distributions as dist"
SVI = NUMPYRO + "\nfrom numpyro.infer import SVI, Trace_ELBO"

PROGRAMS = [
    Program("haiku_mlp", "haiku", DENSE_BATCH + HAIKU_MLP, HAIKU),
    Program("haiku_state", "haiku", DENSE_BATCH + HAIKU_STATE, HAIKU_OPTAX, flag=True),
    Program("haiku_rnn", "haiku", SERIES_BATCH + HAIKU_RNN, HAIKU, x_rank=3, sequence=True),
    Program("numpyro_svi", "numpyro", DENSE_BATCH + NUMPYRO_SVI, SVI, defaults=True, weight=0.5),
    Program("numpyro_auto", "numpyro", DENSE_BATCH + NUMPYRO_AUTO, SVI + "\nfrom numpyro.infer.autoguide import AutoNormal\nimport optax", defaults=True, weight=0.25),
    Program("numpyro_map", "numpyro", DENSE_BATCH + NUMPYRO_MAP, NUMPYRO + "\nfrom numpyro.infer.util import log_density"),
    Program("numpyro_hmc", "numpyro", DENSE_BATCH + NUMPYRO_HMC, NUMPYRO + "\nfrom numpyro.infer import HMC", defaults=True, weight=0.25),
]
