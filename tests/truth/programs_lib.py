"""Programs that use optax, flax (linen and nnx) and equinox; the contract is that of programs_jax.py."""
from programs_jax import DENSE_BATCH, SERIES_BATCH, TOKEN_BATCH, Program

OPTAX_MLP = '''
    $optimizer = optax.adamw(1e-2)

    def $init():
        $k1, $k2 = jax.random.split(jax.random.key(0))
        $params = {"w1": 0.3 * jax.random.normal($k1, (12, 16)), "w2": 0.3 * jax.random.normal($k2, (16, 3))}
        return $params, $optimizer.init($params)

    def $loss_of($params, $batch{P}):
        <ENTER>
        $hidden = jax.nn.gelu($batch["x"] @ $params["w1"])  #@use_x
        <HIDDEN>
        $loss = optax.l2_loss($hidden @ $params["w2"], $batch["y"].astype(jnp.float32)).mean()  #@use_x
        <LOSS>
        return $loss

    <JIT>
    def $step($state, $batch{P}):
        $params, $opt_state = $state
        $loss, $grads = jax.value_and_grad($loss_of)($params, $batch{A})
        $updates, $opt_state = $optimizer.update($grads, $opt_state, $params)
        return (optax.apply_updates($params, $updates), $opt_state), $loss
'''

OPTAX_ROBUST = '''
    $optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.05, momentum=0.9))

    def $init():
        $params = [jnp.full((12, 8), 0.1, jnp.float32), jnp.full((8, 3), 0.2, jnp.float32), jnp.zeros((3,))]
        return $params, $optimizer.init($params)

    def $residual($params, $batch{P}):
        <ENTER>
        $hidden = jnp.sin($batch["x"] @ $params[0])  #@use_x
        <HIDDEN>
        $loss = jnp.mean(optax.huber_loss($hidden @ $params[1] + $params[2], $batch["y"].astype(jnp.float32)))  #@use_x
        <LOSS>
        return $loss

    <JIT>
    def $step($state, $batch{P}):
        $loss, $grads = jax.value_and_grad($residual)($state[0], $batch{A})
        $updates, $memory = $optimizer.update($grads, $state[1])
        return (optax.apply_updates($state[0], $updates), $memory), $loss
'''

LINEN = '''
    class $Net(nn.Module):
        $width: int = 16

        @nn.compact
        def __call__(self, $inputs{P}):
            $hidden = nn.relu(nn.Dense(self.$width)($inputs))  #@use_x
            <HIDDEN>
            return nn.Dense(3)(nn.LayerNorm()($hidden))

    $net = $Net()
    $optimizer = optax.adam(1e-2)

    def $loss_of($params, $batch{P}):
        <ENTER>
        $guess = $net.apply($params, $batch["x"].astype(jnp.float32){A})  #@use_x
        $loss = jnp.mean(($guess - $batch["y"]) ** 2)  #@use_x
        <LOSS>
        return $loss

    <JIT>
    def $step($state, $batch{P}):
        $loss, $grads = jax.value_and_grad($loss_of)($state["params"], $batch{A})
        $updates, $memory = $optimizer.update($grads, $state["memory"])
        return {"params": optax.apply_updates($state["params"], $updates), "memory": $memory}, $loss

    def $init():
        $k1, $k2 = jax.random.split(jax.random.key(1))
        $params = {"params": {"Dense_0": {"kernel": 0.3 * jax.random.normal($k1, (12, 16)), "bias": jnp.zeros(16)}, "LayerNorm_0": {"scale": jnp.ones(16), "bias": jnp.zeros(16)}, "Dense_1": {"kernel": 0.3 * jax.random.normal($k2, (16, 3)), "bias": jnp.zeros(3)}}}
        return {"params": $params, "memory": $optimizer.init($params)}
'''

# Batch statistics and dropout: what the flag leaves out takes arguments with it.
LINEN_NORM = '''
    class $Net(nn.Module):
        @nn.compact
        def __call__(self, $inputs{P}):
            $hidden = nn.Dense(16)($inputs)  #@use_x
            $hidden = nn.BatchNorm(use_running_average=not {F}, momentum=0.9)($hidden)  #@flag
            $hidden = nn.Dropout(0.1, deterministic=not {F})($hidden)  #@flag
            <HIDDEN>
            return nn.Dense(3)(nn.relu($hidden))

    $net = $Net()

    class $TrainState(train_state.TrainState):
        $stats: dict
        $key: jax.Array

    def $init():
        $k1, $k2 = jax.random.split(jax.random.key(1))
        $params = {"Dense_0": {"kernel": 0.3 * jax.random.normal($k1, (12, 16)), "bias": jnp.zeros(16)}, "BatchNorm_0": {"scale": jnp.ones(16), "bias": jnp.zeros(16)}, "Dense_1": {"kernel": 0.3 * jax.random.normal($k2, (16, 3)), "bias": jnp.zeros(3)}}
        $stats = {"BatchNorm_0": {"mean": jnp.zeros(16), "var": jnp.ones(16)}}
        return $TrainState.create(apply_fn=$net.apply, params=$params, tx=optax.sgd(0.05), $stats=$stats, $key=$k1)

    def $loss_of($params, $state, $key, $batch{P}):
        <ENTER>
        $variables = {"params": $params, "batch_stats": $state.$stats}
        $guess, $moved = $state.apply_fn($variables, $batch["x"].astype(jnp.float32){A}, rngs={"dropout": $key}, mutable=["batch_stats"])  #@use_x
        $loss = jnp.mean(($guess - $batch["y"]) ** 2)  #@use_x
        <LOSS>
        return $loss, $moved

    <JIT>
    def $step($state, $batch{P}):
        $key, $used = jax.random.split($state.$key)
        ($loss, $moved), $grads = jax.value_and_grad($loss_of, has_aux=True)($state.params, $state, $used, $batch{A})
        return $state.apply_gradients(grads=$grads, $stats=$moved["batch_stats"], $key=$key), $loss
'''

NNX = '''
    class $Net(nnx.Module):
        def __init__(self, $rngs):
            self.$first = nnx.Linear(12, 16, rngs=$rngs)
            self.$last = nnx.Linear(16, 3, rngs=$rngs)

        def __call__(self, $inputs{P}):
            $hidden = nnx.relu(self.$first($inputs))  #@use_x
            <HIDDEN>
            return self.$last($hidden)

    $graph, $weights = nnx.split($Net(nnx.Rngs(0)))

    def $init():
        return $weights

    def $loss_of($params, $batch{P}):
        <ENTER>
        $guess = nnx.merge($graph, $params)($batch["x"].astype(jnp.float32){A})  #@use_x
        $loss = jnp.mean(($guess - $batch["y"]) ** 2)  #@use_x
        <LOSS>
        return $loss

    <JIT>
    def $step($state, $batch{P}):
        $loss, $grads = jax.value_and_grad($loss_of)($state, $batch{A})
        return jax.tree.map(lambda $p, $g: $p - 0.05 * $g, $state, $grads), $loss
'''

EQUINOX_MLP = '''
    class $Net(eqx.Module):
        $first: eqx.nn.Linear
        $last: eqx.nn.Linear

        def __init__(self, $key):
            $k1, $k2 = jax.random.split($key)
            self.$first = eqx.nn.Linear(12, 16, key=$k1)
            self.$last = eqx.nn.Linear(16, 3, key=$k2)

    $optimizer = optax.adam(1e-2)

    def $init():
        $net = $Net(jax.random.key(0))
        return $net, $optimizer.init(eqx.filter($net, eqx.is_array))

    def $loss_of($net, $batch{P}):
        <ENTER>
        $hidden = jax.nn.relu(jax.vmap($net.$first)($batch["x"].astype(jnp.float32)))  #@use_x
        <HIDDEN>
        $loss = jnp.mean((jax.vmap($net.$last)($hidden) - $batch["y"]) ** 2)  #@use_x
        <LOSS>
        return $loss

    <JIT>
    def $step($state, $batch{P}):
        $net, $memory = $state
        $loss, $grads = eqx.filter_value_and_grad($loss_of)($net, $batch{A})
        $updates, $memory = $optimizer.update($grads, $memory)
        return (eqx.apply_updates($net, $updates), $memory), $loss
'''

EQUINOX_GRU = '''
    class $Reader(eqx.Module):
        $cell: eqx.nn.GRUCell
        $head: eqx.nn.Linear

    def $init():
        $k1, $k2 = jax.random.split(jax.random.key(4))
        return $Reader(eqx.nn.GRUCell(6, 8, key=$k1), eqx.nn.Linear(8, 6, key=$k2))

    def $read($net, $series):
        def $advance($carry, $row):
            $carry = $net.$cell($row, $carry)  #@use_x
            return $carry, $carry
        return jax.lax.scan($advance, jnp.zeros(8), $series)[1]  #@use_x

    def $loss_of($net, $batch{P}):
        <ENTER>
        $hidden = jax.vmap($read, in_axes=(None, 0))($net, $batch["x"].astype(jnp.float32))  #@use_x
        <HIDDEN>
        $guess = jax.vmap(jax.vmap($net.$head))($hidden)
        $loss = jnp.mean(($guess - $batch["y"]) ** 2)  #@use_x
        <LOSS>
        return $loss

    <JIT>
    def $step($state, $batch{P}):
        $loss, $grads = eqx.filter_value_and_grad($loss_of)($state, $batch{A})
        return eqx.apply_updates($state, jax.tree.map(lambda $g: -0.02 * $g, $grads)), $loss
'''

LINEN_TOKENS = '''
    class $Tagger(nn.Module):
        @nn.compact
        def __call__(self, $tokens{P}):
            $seq = nn.Embed(16, 8, name="table")($tokens)  #@use_x
            $hidden = $seq + nn.Dense(8, name="mix")(nn.tanh($seq))
            <HIDDEN>
            return nn.Dense(16, name="head")($hidden)

    $tagger = $Tagger()

    def $init():
        $k = jax.random.split(jax.random.key(3), 3)
        return {"params": {"table": {"embedding": jax.random.normal($k[0], (16, 8))}, "mix": {"kernel": jax.random.normal($k[1], (8, 8)), "bias": jnp.zeros(8)}, "head": {"kernel": jax.random.normal($k[2], (8, 16)), "bias": jnp.zeros(16)}}}

    def $loss_of($params, $batch{P}):
        <ENTER>
        $logits = $tagger.apply($params, $batch["x"].astype(jnp.int32){A})  #@use_x
        $loss = optax.softmax_cross_entropy_with_integer_labels($logits, $batch["y"].astype(jnp.int32)).mean()  #@use_x
        <LOSS>
        return $loss

    <JIT>
    def $step($state, $batch{P}):
        $loss, $grads = jax.value_and_grad($loss_of)($state, $batch{A})
        return jax.tree.map(lambda $p, $g: $p - 0.1 * $g, $state, $grads), $loss
'''

# Dropout knows its mode by a field of the module, which inference_mode sets from outside.
EQUINOX_DROPOUT = '''
    class $Net(eqx.Module):
        $first: eqx.nn.Linear
        $noise: eqx.nn.Dropout
        $last: eqx.nn.Linear

        def __init__(self, $key):
            $k1, $k2 = jax.random.split($key)
            self.$first, self.$noise, self.$last = eqx.nn.Linear(12, 16, key=$k1), eqx.nn.Dropout(0.2), eqx.nn.Linear(16, 3, key=$k2)

        def __call__(self, $row, $key{P}):
            $hidden = self.$noise(jax.nn.gelu(self.$first($row)), key=$key)  #@use_x #@mode
            <HIDDEN>
            return self.$last($hidden)

    def $init():
        return $Net(jax.random.key(2))

    def $loss_of($net, $batch{P}):
        <ENTER>
        $keys = jax.random.split(jax.random.key(0), $batch["x"].shape[0])  #@use_x
        $guess = jax.vmap(lambda $row, $key: $net($row, $key{A}))($batch["x"].astype(jnp.float32), $keys)  #@use_x
        $loss = jnp.mean(optax.huber_loss($guess, $batch["y"].astype(jnp.float32)))  #@use_x
        <LOSS>
        return $loss

    <JIT>
    def $step($state, $batch{P}):
        $loss, $grads = eqx.filter_value_and_grad($loss_of)($state, $batch{A})
        return eqx.apply_updates($state, jax.tree.map(lambda $g: -0.05 * $g, $grads)), $loss
'''

OPTAX = "import optax"
LINEN_IMPORTS = "import flax.linen as nn\nimport optax"
EQX = "import equinox as eqx\nimport optax"

PROGRAMS = [
    Program("optax_mlp", "optax", DENSE_BATCH + OPTAX_MLP, OPTAX),
    Program("optax_robust", "optax", DENSE_BATCH + OPTAX_ROBUST, OPTAX),
    Program("linen_mlp", "linen", DENSE_BATCH + LINEN, LINEN_IMPORTS),
    Program("linen_tokens", "linen", TOKEN_BATCH + LINEN_TOKENS, LINEN_IMPORTS, integer=True, sequence=True),
    Program("linen_norm", "linen", DENSE_BATCH + LINEN_NORM, LINEN_IMPORTS + "\nfrom flax.training import train_state", flag=True),
    Program("nnx_mlp", "nnx", DENSE_BATCH + NNX, "from flax import nnx"),
    Program("equinox_mlp", "equinox", DENSE_BATCH + EQUINOX_MLP, EQX, jit="eqx.filter_jit"),
    Program("equinox_dropout", "equinox", DENSE_BATCH + EQUINOX_DROPOUT, EQX, jit="eqx.filter_jit", mode="eqx.nn.inference_mode($state, value=not {M})"),
    Program("equinox_gru", "equinox", SERIES_BATCH + EQUINOX_GRU, EQX, x_rank=3, sequence=True, jit="eqx.filter_jit"),
]
