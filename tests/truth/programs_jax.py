"""Programs in plain JAX. Each keeps one contract, so that any drift can be planted in any program:

  $init()                       the state: parameters, or whatever the loop carries
  $make_batch($rng, $size)      a dict of NumPy arrays with `size` rows; "x" is the main input
  $step($state, $batch{P})      one step: (state, number)

Within the step, <ENTER> stands before the batch is read, <HIDDEN> after a float array `$hidden` was
computed whose last axis has 8 elements or more, <LOSS> after the number `$loss` was computed. {P} adds
a drift's parameters to a signature, {A} passes them on, {D} adds them with a value for calls before the
loop, {T} is the tuple of the batch and them. {F} is the mode of a program that trains and evaluates; lines that
read it carry #@flag. Lines that read the batch carry #@use_x.
"""
import sys
from dataclasses import dataclass

MODULES = {"linen": "flax.linen", "nnx": "flax.nnx"}  # a library's part that may fail to import by itself


@dataclass(frozen=True)
class Program:
    name: str
    framework: str
    text: str
    imports: str = ""
    x_rank: int = 2          # dimensions of batch["x"]
    integer: bool = False    # batch["x"] holds token or item numbers
    sequence: bool = False   # every array of the batch is [rows, positions, ...]
    jit: str = "jax.jit"     # what compiles the step; eqx.filter_jit takes no static_argnames
    weight: float = 1.0      # how often it is chosen; less for one that takes long
    flag: bool = False       # has {F}
    mode: str = ""           # the state in training mode or not, by {M}; lines that read it carry #@mode
    defaults: bool = False   # a batch of the program's own goes through the step before the loop

    def needs(self):
        """The libraries that the program imports."""
        named = {line.split()[1].split(".")[0] for line in self.imports.split("\n") if line}
        return (named - sys.stdlib_module_names) | {"jax", MODULES.get(self.framework, "jax")}


DENSE_BATCH = '''
    def $make_batch($rng, $size):
        $x = $rng.normal(size=($size, 12)).clip(-4, 4).astype(np.float32)
        return {"x": $x, "y": np.tanh($x[:, :3])}
'''
TOKEN_BATCH = '''
    def $make_batch($rng, $size):
        $x = $rng.integers(0, 16, size=($size, 12)).astype(np.int32)
        return {"x": $x, "y": np.roll($x, 1, axis=1)}
'''
SERIES_BATCH = '''
    def $make_batch($rng, $size):
        $x = $rng.normal(size=($size, 10, 6)).clip(-4, 4).astype(np.float32)
        return {"x": $x, "y": np.cumsum($x, axis=1)}
'''

MLP = '''
    def $init():
        $k1, $k2 = jax.random.split(jax.random.key(0))
        return {"w1": 0.3 * jax.random.normal($k1, (12, 16)), "w2": 0.3 * jax.random.normal($k2, (16, 3))}

    def $loss_of($params, $batch{P}):
        <ENTER>
        $hidden = jnp.tanh($batch["x"] @ $params["w1"])  #@use_x
        <HIDDEN>
        $loss = jnp.mean(($hidden @ $params["w2"] - $batch["y"]) ** 2)  #@use_x
        <LOSS>
        return $loss

    <JIT>
    def $step($state, $batch{P}):
        $loss, $grads = jax.value_and_grad($loss_of)($state, $batch{A})
        return jax.tree.map(lambda $p, $g: $p - 0.05 * $g, $state, $grads), $loss
'''

CNN = '''
    def $make_batch($rng, $size):
        return {"x": $rng.normal(size=($size, 8, 8, 2)).clip(-4, 4).astype(np.float32), "y": np.ones(($size, 4), np.float32)}

    def $init():
        $keys = jax.random.split(jax.random.key(3), 2)
        return (0.2 * jax.random.normal($keys[0], (3, 3, 2, 8)), 0.2 * jax.random.normal($keys[1], (8, 4)))

    def $features($kernel, $image):
        return jax.lax.conv_general_dilated($image, $kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))  #@use_x

    def $objective($weights, $batch{P}):
        <ENTER>
        $maps = jax.nn.relu($features($weights[0], $batch["x"].astype(jnp.float32)))  #@use_x
        $hidden = $maps.mean(axis=(1, 2))
        <HIDDEN>
        $loss = jnp.mean(jnp.abs($hidden @ $weights[1] - $batch["y"]))  #@use_x
        <LOSS>
        return $loss

    <JIT>
    def $step($state, $batch{P}):
        $loss, $slopes = jax.value_and_grad($objective)($state, $batch{A})
        $state = tuple($w - 0.01 * $s for $w, $s in zip($state, $slopes))
        return $state, $loss
'''

ATTENTION = '''
    def $init():
        $k = jax.random.split(jax.random.key(1), 3)
        return {"table": jax.random.normal($k[0], (16, 8)), "qkv": 0.3 * jax.random.normal($k[1], (8, 24)), "out": 0.3 * jax.random.normal($k[2], (8, 16))}

    def $attend($params, $seq):
        $q, $kk, $v = jnp.split($seq @ $params["qkv"], 3, axis=-1)
        $scores = jnp.einsum("btd,bsd->bts", $q, $kk) / 2.8
        $causal = jnp.tril(jnp.ones($scores.shape[-2:], bool))
        return jax.nn.softmax(jnp.where($causal, $scores, -1e9), axis=-1) @ $v

    def $loss_of($params, $batch{P}):
        <ENTER>
        $seq = $params["table"][$batch["x"].astype(jnp.int32)]  #@use_x
        $hidden = $seq + $attend($params, $seq)
        <HIDDEN>
        $logits = jax.nn.log_softmax($hidden @ $params["out"])
        $loss = -jnp.mean(jnp.take_along_axis($logits, $batch["y"][..., None].astype(jnp.int32), axis=-1))  #@use_x
        <LOSS>
        return $loss

    <JIT>
    def $step($state, $batch{P}):
        $loss, $grads = jax.value_and_grad($loss_of)($state, $batch{A})
        return jax.tree.map(lambda $p, $g: $p - 0.1 * $g, $state, $grads), $loss
'''

RECURRENT = '''
    def $init():
        $keys = jax.random.split(jax.random.key(5), 3)
        return {"in": 0.4 * jax.random.normal($keys[0], (6, 10)), "rec": 0.2 * jax.random.normal($keys[1], (10, 10)), "out": 0.3 * jax.random.normal($keys[2], (10, 6))}

    def $unroll($params, $series):
        def $cell($carry, $row):
            $carry = jnp.tanh($row @ $params["in"] + $carry @ $params["rec"])  #@use_x
            return $carry, $carry
        $start = jnp.zeros(($series.shape[0], 10))  #@use_x
        return jnp.swapaxes(jax.lax.scan($cell, $start, jnp.swapaxes($series, 0, 1))[1], 0, 1)  #@use_x

    def $loss_of($params, $batch{P}):
        <ENTER>
        $hidden = $unroll($params, $batch["x"].astype(jnp.float32))  #@use_x
        <HIDDEN>
        $loss = jnp.mean(($hidden @ $params["out"] - $batch["y"]) ** 2)  #@use_x
        <LOSS>
        return $loss

    <JIT>
    def $step($state, $batch{P}):
        $loss, $grads = jax.value_and_grad($loss_of)($state, $batch{A})
        return jax.tree.map(lambda $p, $g: $p - 0.02 * $g, $state, $grads), $loss
'''

VAE = '''
    def $init():
        $keys = jax.random.split(jax.random.key(9), 3)
        return {"enc": 0.2 * jax.random.normal($keys[0], (12, 16)), "dec": 0.2 * jax.random.normal($keys[1], (8, 12)), "key": jax.random.PRNGKey(4)}

    def $elbo($weights, $key, $batch{P}):
        <ENTER>
        $stats = $batch["x"] @ $weights["enc"]  #@use_x
        $mean, $logvar = jnp.split($stats, 2, axis=-1)
        $hidden = $mean + jnp.exp(0.5 * $logvar) * jax.random.normal($key, $mean.shape)
        <HIDDEN>
        $recon = jnp.mean(($hidden @ $weights["dec"] - $batch["x"]) ** 2)  #@use_x
        $loss = $recon - 0.5 * jnp.mean(1 + $logvar - $mean ** 2 - jnp.exp($logvar))
        <LOSS>
        return $loss

    <JIT>
    def $step($state, $batch{P}):
        $key, $sub = jax.random.split($state["key"])
        $weights = {"enc": $state["enc"], "dec": $state["dec"]}
        $loss, $grads = jax.value_and_grad($elbo)($weights, $sub, $batch{A})
        $moved = jax.tree.map(lambda $p, $g: $p - 0.03 * $g, $weights, $grads)
        return dict($moved, key=$key), $loss
'''

EXPERTS = '''
    def $init():
        $keys = jax.random.split(jax.random.key(2), 3)
        return {"gate": jax.random.normal($keys[0], (12, 4)), "up": 0.3 * jax.random.normal($keys[1], (4, 12, 8)), "down": 0.3 * jax.random.normal($keys[2], (8, 3))}

    def $mixture($params, $batch{P}):
        <ENTER>
        $weights = jax.nn.softmax($batch["x"] @ $params["gate"])  #@use_x
        $expert = jnp.einsum("bd,edh->beh", $batch["x"], $params["up"])  #@use_x
        $hidden = jnp.einsum("be,beh->bh", $weights, jax.nn.gelu($expert))
        <HIDDEN>
        $balance = jnp.sum($weights.mean(axis=0) ** 2)
        $loss = jnp.mean(($hidden @ $params["down"] - $batch["y"]) ** 2) + 0.01 * $balance  #@use_x
        <LOSS>
        return $loss

    <JIT>
    def $step($state, $batch{P}):
        $loss, $grads = jax.value_and_grad($mixture)($state, $batch{A})
        return jax.tree.map(lambda $p, $g: $p - 0.05 * $g, $state, $grads), $loss
'''

SOLVER = '''
    def $init():
        return {"guess": jnp.zeros((12,)), "ridge": jnp.float32(0.5)}

    <JIT>
    def $step($state, $batch{P}):
        <ENTER>
        $rows = $batch["x"].astype(jnp.float32)  #@use_x
        $normal = $rows.T @ $rows + $state["ridge"] * jnp.eye(12)  #@use_x
        $right = $rows.T @ $batch["y"][:, 0]  #@use_x
        def $sweep(_, $guess):
            $residual = $right - $normal @ $guess
            return $guess + $residual / jnp.trace($normal)
        $guess = jax.lax.fori_loop(0, 20, $sweep, $state["guess"])
        $hidden = $rows * $guess
        <HIDDEN>
        $loss = jnp.linalg.norm($hidden.sum(axis=-1))
        <LOSS>
        return {"guess": $guess, "ridge": $state["ridge"]}, $loss
'''

ODE = '''
    def $make_batch($rng, $size):
        return {"x": $rng.normal(size=($size, 10)).clip(-4, 4).astype(np.float32), "y": np.linspace(0.0, 1.0, 10, dtype=np.float32)[None].repeat($size, 0)}

    def $init():
        return {"stiffness": jnp.linspace(0.5, 2.0, 10), "drag": jnp.full((10,), 0.1, jnp.float32)}

    def $slope($coefficients, $position, $drive):
        return -$coefficients["stiffness"] * $position - $coefficients["drag"] * $position ** 3 + $drive  #@use_x

    <JIT>
    def $step($state, $batch{P}):
        <ENTER>
        def $runge($position, _):
            $a = $slope($state, $position, $batch["y"])  #@use_x
            $b = $slope($state, $position + 0.05 * $a, $batch["y"])  #@use_x
            return $position + 0.1 * $b, None
        $hidden, _ = jax.lax.scan($runge, $batch["x"].astype(jnp.float32), None, length=8)  #@use_x
        <HIDDEN>
        $loss = jnp.mean($hidden ** 2)
        <LOSS>
        return jax.tree.map(lambda $c: $c * 0.999, $state), $loss
'''

EMBEDDING = '''
    def $init():
        $k1, $k2 = jax.random.split(jax.random.key(7))
        return {"users": jax.random.normal($k1, (16, 8)), "items": jax.random.normal($k2, (16, 8))}

    def $score($tables, $batch{P}):
        <ENTER>
        $left = $tables["users"][$batch["x"].astype(jnp.int32)]  #@use_x
        $right = $tables["items"][$batch["y"].astype(jnp.int32)]  #@use_x
        $hidden = $left * $right
        <HIDDEN>
        $loss = jnp.mean(jax.nn.softplus(-$hidden.sum(axis=-1)))
        <LOSS>
        return $loss

    <JIT>
    def $step($state, $batch{P}):
        $loss, $grads = jax.value_and_grad($score)($state, $batch{A})
        $state = {$k: $state[$k] - 0.2 * $grads[$k] for $k in $state}
        return $state, $loss
'''

CONTRASTIVE = '''
    def $init():
        $keys = jax.random.split(jax.random.key(11), 2)
        return [0.3 * jax.random.normal($keys[0], (12, 8)), 0.3 * jax.random.normal($keys[1], (3, 8))]

    def $pairs($towers, $batch{P}):
        <ENTER>
        $left = $batch["x"] @ $towers[0]  #@use_x
        $right = $batch["y"] @ $towers[1]  #@use_x
        $hidden = $left / (1e-3 + jnp.linalg.norm($left, axis=-1, keepdims=True))
        <HIDDEN>
        $table = $hidden @ $right.T
        $loss = jnp.mean(jax.nn.logsumexp($table, axis=-1) - jnp.diagonal($table))
        <LOSS>
        return $loss

    <JIT>
    def $step($state, $batch{P}):
        $loss, $grads = jax.value_and_grad($pairs)($state, $batch{A})
        return [$w - 0.1 * $g for $w, $g in zip($state, $grads)], $loss
'''

GAN = '''
    def $init():
        $keys = jax.random.split(jax.random.key(8), 2)
        return {"maker": 0.3 * jax.random.normal($keys[0], (3, 12)), "critic": 0.3 * jax.random.normal($keys[1], (12, 8))}

    def $critic_loss($critic, $maker, $batch{P}):
        <ENTER>
        $fake = $batch["y"] @ $maker  #@use_x
        $hidden = jax.nn.leaky_relu($batch["x"] @ $critic)  #@use_x
        <HIDDEN>
        $loss = jnp.mean(jax.nn.relu(1.0 - $hidden)) + jnp.mean(jax.nn.relu(1.0 + $fake @ $critic))
        <LOSS>
        return $loss

    def $maker_loss($maker, $critic, $batch):
        return -jnp.mean($batch["y"] @ $maker @ $critic)  #@use_x

    <JIT>
    def $step($state, $batch{P}):
        $loss, $up = jax.value_and_grad($critic_loss)($state["critic"], $state["maker"], $batch{A})
        $down = jax.grad($maker_loss)($state["maker"], $state["critic"], $batch)
        return {"maker": $state["maker"] - 0.02 * $down, "critic": $state["critic"] - 0.02 * $up}, $loss
'''

DECODE = '''
    def $init():
        $keys = jax.random.split(jax.random.key(6), 3)
        return {"table": jax.random.normal($keys[0], (16, 8)), "ring": jnp.zeros((4, 8)), "head": jax.random.normal($keys[1], (8, 16))}

    <JIT>
    def $step($state, $batch{P}):
        <ENTER>
        $tokens = $state["table"][$batch["x"].astype(jnp.int32)]  #@use_x
        $context = $tokens.mean(axis=(0, 1))
        $ring = jnp.roll($state["ring"], 1, axis=0).at[0].set($context)
        $hidden = $tokens + jax.nn.softmax($ring @ $context) @ $ring
        <HIDDEN>
        $chosen = jnp.argmax($hidden @ $state["head"], axis=-1)
        $loss = jnp.mean(($chosen == $batch["y"]).astype(jnp.float32)) + $hidden.sum() * 1e-4  #@use_x
        <LOSS>
        return dict($state, ring=$ring), $loss
'''

POLICY = '''
    def $init():
        $k1, $k2 = jax.random.split(jax.random.key(21))
        return {"actor": 0.2 * jax.random.normal($k1, (12, 8)), "value": 0.2 * jax.random.normal($k2, (12, 1))}

    def $surrogate($nets, $batch{P}):
        <ENTER>
        $hidden = jax.nn.log_softmax($batch["x"] @ $nets["actor"])  #@use_x
        <HIDDEN>
        $advantage = $batch["y"][:, :1] - $batch["x"] @ $nets["value"]  #@use_x
        $loss = -jnp.mean($hidden[:, :1] * jax.lax.stop_gradient($advantage)) + 0.5 * jnp.mean($advantage ** 2)
        <LOSS>
        return $loss

    <JIT>
    def $step($state, $batch{P}):
        $loss, $grads = jax.value_and_grad($surrogate)($state, $batch{A})
        return jax.tree.map(lambda $p, $g: $p - 0.03 * jnp.clip($g, -1.0, 1.0), $state, $grads), $loss
'''

SAMPLER = '''
    def $init():
        return {"position": jnp.zeros((12,)), "key": jax.random.PRNGKey(13)}

    <JIT>
    def $step($state, $batch{P}):
        <ENTER>
        $key, $noise, $accept = jax.random.split($state["key"], 3)
        $proposal = $state["position"] + 0.1 * jax.random.normal($noise, (12,))
        $hidden = $batch["x"] - $proposal  #@use_x
        <HIDDEN>
        $loss = 0.5 * jnp.mean($hidden ** 2) + jnp.mean($batch["y"])  #@use_x
        <LOSS>
        $take = jnp.log(jax.random.uniform($accept)) < -$loss
        return {"position": jnp.where($take, $proposal, $state["position"]), "key": $key}, $loss
'''

PROGRAMS = [
    Program("mlp", "jax", DENSE_BATCH + MLP),
    Program("cnn", "jax", CNN, x_rank=4),
    Program("attention", "jax", TOKEN_BATCH + ATTENTION, integer=True, sequence=True),
    Program("recurrent", "jax", SERIES_BATCH + RECURRENT, x_rank=3, sequence=True),
    Program("vae", "jax", DENSE_BATCH + VAE),
    Program("experts", "jax", DENSE_BATCH + EXPERTS),
    Program("solver", "jax", DENSE_BATCH + SOLVER),
    Program("ode", "jax", ODE),
    Program("embedding", "jax", TOKEN_BATCH + EMBEDDING, integer=True, sequence=True),
    Program("contrastive", "jax", DENSE_BATCH + CONTRASTIVE),
    Program("gan", "jax", DENSE_BATCH + GAN),
    Program("decode", "jax", TOKEN_BATCH + DECODE, integer=True, sequence=True),
    Program("policy", "jax", DENSE_BATCH + POLICY),
    Program("sampler", "jax", DENSE_BATCH + SAMPLER),
]
