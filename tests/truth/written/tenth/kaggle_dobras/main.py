# tabular-playground: base -> MLP -> pseudo-rotulos  (exportado do notebook v7)
import jax
import jax.numpy as jnp
import numpy as np
import optax

SEMENTE = 42
N_DOBRAS = 5
EPOCAS = 6
rng = np.random.default_rng(SEMENTE)

# %% dados
N_TREINO, N_TESTE, N_COL = 203, 90, 8


def gerar(n):
    num = rng.normal(size=(n, N_COL - 2))
    cat = rng.integers(0, 4, (n, 2))
    alvo = (num[:, 0] - 0.5 * num[:, 1] * (cat[:, 0] > 1) + 0.3 * rng.normal(size=n)) > 0
    return {"num": num, "cat": cat, "alvo": alvo}


def reduz_memoria(tabela):
    return {k: v.astype(np.int8) if v.dtype == np.int64 else v.astype(np.float32) for k, v in tabela.items()}


bruto_treino, bruto_teste = reduz_memoria(gerar(N_TREINO)), reduz_memoria(gerar(N_TESTE))


def montar(t):
    media, desvio = bruto_treino["num"].mean(0), bruto_treino["num"].std(0)
    return np.concatenate([(t["num"] - media) / desvio, np.eye(4, dtype=np.float32)[t["cat"]].reshape(len(t["cat"]), -1)], 1)


X, X_teste = montar(bruto_treino), montar(bruto_teste)
y = bruto_treino["alvo"]

# %% modelo
otim = optax.adam(optax.exponential_decay(2e-2, 5, 0.9))


def iniciar(chave, entrada, oculto=24):
    a, b = jax.random.split(chave)
    return {
        "w1": jax.random.normal(a, (entrada, oculto)) * entrada**-0.5,
        "b1": jnp.zeros(oculto),
        "w2": jax.random.normal(b, (oculto,)) * oculto**-0.5,
        "vies": jnp.asarray(0.0),
    }


def logito(p, x):
    return jax.nn.gelu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["vies"]


@jax.jit
def epoca(p, estado, x, alvo):
    perda, g = jax.value_and_grad(lambda q: optax.sigmoid_binary_cross_entropy(logito(q, x), alvo).mean())(p)
    passo, estado = otim.update(g, estado)
    return optax.apply_updates(p, passo), estado, perda


@jax.jit
def prever(p, x):
    return jax.nn.sigmoid(logito(p, x))


@jax.jit
def acerto(prob, alvo):
    return ((prob > 0.5) == (alvo > 0.5)).mean()


# %% validacao cruzada
def dobras(n, k):
    ordem = rng.permutation(n)
    for parte in np.array_split(ordem, k):
        fora = np.setdiff1d(ordem, parte)
        yield fora, parte


def treinar(x, alvo, chave, epocas=EPOCAS):
    p = iniciar(chave, x.shape[1])
    estado = otim.init(p)
    for _ in range(epocas):
        p, estado, perda = epoca(p, estado, x, alvo)
    return p, float(perda)


def validar():
    oof = np.zeros(N_TREINO, np.float32)
    soma = np.zeros(N_TESTE, np.float32)
    for i, (tr, va) in enumerate(dobras(N_TREINO, N_DOBRAS)):
        p, perda = treinar(X[tr], y[tr], jax.random.PRNGKey(i))
        oof[va] = np.asarray(prever(p, X))[va]
        soma += np.asarray(prever_teste(p, X_teste)) / N_DOBRAS
        print(f"dobra {i}: perda {perda:.4f}")
    print("oof", round(float(acerto(oof, y)), 4))
    return soma


prever_teste = jax.jit(lambda p, x: jax.nn.sigmoid(logito(p, x)))


# %% pseudo-rotulos
def rodada_pseudo(prob, limiar):
    certos = np.abs(prob - 0.5) > limiar
    x = np.concatenate([X, X_teste[certos]])
    alvo = np.concatenate([y, (prob[certos] > 0.5).astype(np.float32)])
    p, perda = treinar(x, alvo, jax.random.PRNGKey(99))
    print(f"pseudo limiar {limiar}: {int(certos.sum())} linhas, perda {perda:.4f}")
    return np.asarray(prever_teste(p, X_teste))


if __name__ == "__main__":
    prob = validar()
    for limiar in (0.3, 0.2, 0.15):
        prob = rodada_pseudo(prob, limiar)
    print("positivos", int((prob > 0.5).sum()))
