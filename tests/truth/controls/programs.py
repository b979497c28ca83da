"""The control programs: public examples at pinned commits, and how each is made short enough to run on a CPU.

`shorten` lists (pattern, text) pairs that are substituted in the script; every pattern must match. `beside` lists what
else of the repository the script imports. `append` is added at the end of the script."""

import dataclasses

JAX = ("jax-ml/jax", "cec06d116c05f0d52adfceee3d3b730fdbcb0ce5")
FLAX = ("google/flax", "18f8f311c275d57f46d95e41b15aa97b454754c0")
OPTAX = ("google-deepmind/optax", "2edbcbe2390da13983b92cbef94ac0460ecde1c5")
EQUINOX = ("patrick-kidger/equinox", "9336d820b2ef66b360fc6cb3611b3da5cefbb14d")
HAIKU = ("google-deepmind/dm-haiku", "f4d858a5cbb29140855d68f81f5fd625e078a5ae")
NUMPYRO = ("pyro-ppl/numpyro", "0b935d488056ae1775b4ab05cbe2812f51f21a4f")
DIFFRAX = ("patrick-kidger/diffrax", "5ea5fcb05058bd22548300a10ea5ef5ce7fb75bb")
JAXOPT = ("google/jaxopt", "2de13bf01fd29e22862236a0d869f2b14e1629d4")
DISTRAX = ("google-deepmind/distrax", "f51bffcf9094d269a0be8678762dd2849833c8b7")
BLACKJAX = ("blackjax-devs/blackjax", "63912a457e93c57854bb39dc2bfa01e26c6775ac")


@dataclasses.dataclass
class Program:
    name: str
    repo: str
    commit: str
    path: str
    args: str
    shorten: list
    beside: list
    append: str


PROGRAMS = []


def add(name, source, path, args="", shorten=(), beside=(), append=""):
    PROGRAMS.append(Program(name, *source, path, args, list(shorten), list(beside) or [path], append))


# JAX's own examples. The data of MNIST is synthetic.
MNIST = (r"^(?:from examples )?import datasets$", "import control_data as datasets")
add("jax_advi", JAX, "examples/advi.py", shorten=[(r"range\(100\)", "range(20)")])
add("jax_mnist_classifier", JAX, "examples/mnist_classifier.py", shorten=[MNIST, (r"num_epochs = 10", "num_epochs = 6")])
add("jax_mnist_fromscratch", JAX, "examples/mnist_classifier_fromscratch.py",
    shorten=[MNIST, (r"num_epochs = 10", "num_epochs = 6")])
add("jax_mnist_vae", JAX, "examples/mnist_vae.py", shorten=[MNIST, (r"num_epochs = 100", "num_epochs = 2")])
add("jax_spmd_mnist", JAX, "examples/spmd_mnist_classifier_fromscratch.py",
    shorten=[MNIST, (r"num_epochs = 10", "num_epochs = 2")])
for page in ("jit-compilation", "control-flow", "key-concepts", "pytrees", "random-numbers", "stateful-computations",
             "automatic-vectorization", "gradient-checkpointing", "external-callbacks", "higher-order",
             "custom_pytrees", "complex-differentiation"):
    add("jaxdoc_" + page.replace("-", "_"), JAX, f"docs/{page}.md")
for page in ("thinking_in_jax", "Common_Gotchas_in_JAX", "vmapped_log_probs", "autodiff_remat"):
    add("jaxdoc_" + page.lower(), JAX, f"docs/notebooks/{page}.md")

# Flax.
for page in ("02_lifted_transforms", "03_train_state", "06_scan_over_layers",
             "07_array_leaves", "08_save_load_checkpoints", "09_parameter_surgery"):
    add("nnx_" + page, FLAX, f"examples/nnx_toy_examples/{page}.py")
add("nnx_05_vae", FLAX, "examples/nnx_toy_examples/05_vae.py",
    shorten=[(r"steps_per_epoch: int = 200", "steps_per_epoch: int = 10"), (r"^epochs: int = 20", "epochs: int = 2")])
add("flax_mnist", FLAX, "examples/mnist/train.py", beside=["examples/mnist/configs"],
    shorten=[(r"^from flax\.metrics import tensorboard$", "import control_data as tensorboard")],
    append="\nconfig = ml_collections.ConfigDict(dict(learning_rate=0.01, momentum=0.9, batch_size=128, num_epochs=2))\n"
           "train_and_evaluate(config, 'work')\n")
add("flax_vae", FLAX, "examples/vae/train.py", beside=["examples/vae"],
    append="\nconfig = ml_collections.ConfigDict(dict(learning_rate=0.001, latents=20, batch_size=128, num_epochs=2))\n"
           "train_and_evaluate(config, 'work')\n")
add("flax_seq2seq", FLAX, "examples/seq2seq/train.py", "--workdir=work --num_train_steps=30 --decode_frequency=10 "
    "--max_len_query_digit=2", beside=["examples/seq2seq"],
    shorten=[(r"^from clu import metric_writers$", "import control_data as metric_writers")])

# Optax.
add("optax_flax_example", OPTAX, "examples/flax_example.ipynb")
add("optax_freezing", OPTAX, "examples/freezing_parameters.ipynb")
add("optax_gradient_accumulation", OPTAX, "examples/gradient_accumulation.ipynb")
add("optax_lbfgs", OPTAX, "examples/lbfgs.ipynb")
add("optax_assignment", OPTAX, "examples/linear_assignment_problem.ipynb")
add("optax_meta_learning", OPTAX, "examples/meta_learning.ipynb")
add("optax_mlp_mnist", OPTAX, "examples/mlp_mnist.ipynb")
add("optax_lookahead", OPTAX, "examples/lookahead_mnist.ipynb")
add("optax_adversarial", OPTAX, "examples/adversarial_training.ipynb",
    shorten=[(r"^EPOCHS = 10", "EPOCHS = 1"), (r"plt\.cm\.get_cmap\((.*?)\)", r"\1")])
add("optax_plateau", OPTAX, "examples/contrib/reduce_on_plateau.ipynb", shorten=[(r"^N_EPOCHS = 50", "N_EPOCHS = 2")])
add("optax_nanolm", OPTAX, "examples/nanolm.ipynb",
    shorten=[(r"^BATCH_SIZE = 128", "BATCH_SIZE = 4"), (r"^N_ITERATIONS = 50_000", "N_ITERATIONS = 12"),
             (r"^N_FREQ_EVAL = 2_000", "N_FREQ_EVAL = 5")])
add("optax_ogda", OPTAX, "examples/ogda_example.ipynb")
add("optax_perturbations", OPTAX, "examples/perturbations.ipynb")
add("optax_muon", OPTAX, "examples/contrib/muon.ipynb")
add("optax_ademamix", OPTAX, "examples/contrib/rosenbrock_ademamix.ipynb")
add("optax_sam", OPTAX, "examples/contrib/sam.ipynb", shorten=[(r"^T = 8000", "T = 200")])

# Equinox.
EQX = "docs/examples/%s.ipynb"
add("eqx_train_rnn", EQUINOX, EQX % "train_rnn",
    shorten=[(r"dataset_size=10000", "dataset_size=512"), (r"steps=200", "steps=20")])
add("eqx_frozen_layer", EQUINOX, EQX % "frozen_layer", shorten=[(r"steps=1000", "steps=50")])
add("eqx_init_apply", EQUINOX, EQX % "init_apply")
add("eqx_serialisation", EQUINOX, EQX % "serialisation")
add("eqx_stateful", EQUINOX, EQX % "stateful")

# Haiku.
add("hk_mnist", HAIKU, "examples/mnist.py",
    shorten=[(r"range\(3001\)", "range(31)"), (r"step % 100", "step % 10"), (r"batch_size=1_000", "batch_size=100"),
             (r"batch_size=10_000", "batch_size=200")])
add("hk_pruning", HAIKU, "examples/mnist_pruning.py",
    shorten=[(r"range\(10001\)", "range(31)"), (r"% 1000", "% 10"), (r"batch_size=1000\b", "batch_size=100"),
             (r"batch_size=10000", "batch_size=200")])
add("hk_vae", HAIKU, "examples/vae.py",
    shorten=[(r"training_steps: int = \d+", "training_steps: int = 30"), (r"eval_every: int = \d+", "eval_every: int = 10")])

# Numpyro, with the arguments of its own test of the examples.
VERSION = (r"^(\s+)assert numpyro.__version__.*", r"\1pass")
PLATFORM = (r"^(\s+)numpyro\.set_platform\(.*\)", r"\1pass")
NO_PLATFORM = ("minipyro", "toy_mixture_model_discrete_enumeration")
SHORT = "--num-samples 20 --num-warmup 20"
for name, args in (
        ("ar2", SHORT + " --num-data 30"),
        ("bnn", "--num-samples 10 --num-warmup 10 --num-data 7"),
        ("dais_demo", "--num-svi-steps 10 --num-samples 10 --num-warmup 10"), ("funnel", SHORT),
        ("gp", "--num-samples 10 --num-warmup 10"),
        ("hmm", SHORT), ("holt_winters", "--T 4 --num-samples 10 --num-warmup 10"),
        ("horseshoe_regression", "--num-samples 10 --num-warmup 10 --num-data 5"), ("minipyro", ""),
        ("neutra", "--num-samples 20 --num-warmup 20 --num-iters 50 --hidden-factor 2"),
        ("proportion_test", SHORT),
        ("sparse_regression", "--num-samples 10 --num-warmup 10 --num-data 10 --num-dimensions 10"),
        ("thompson_sampling", "--num-random 2 --num-bo 2"),
        ("toy_mixture_model_discrete_enumeration", "--num-steps=5"), ("var2", SHORT),
        ("zero_inflated_poisson", SHORT)):
    add("np_" + name, NUMPYRO, f"examples/{name}.py", args, shorten=[VERSION, PLATFORM][:1 if name in NO_PLATFORM else 2])

# Diffrax.
for name, shorten in (
        ("coupled_odes", []), ("forcing", []), ("hessian", []),
        ("kalman_filter", [(r"n_gradient_steps=100", "n_gradient_steps=5")]),
        ("latent_ode", [(r"dataset_size=10000", "dataset_size=256"), (r"batch_size=256", "batch_size=32"),
                        (r"steps=250", "steps=10"), (r"save_every=50", "save_every=5")]),
        ("neural_cde", [(r"steps=20", "steps=5"), (r"width_size=128", "width_size=16")]),
        ("neural_ode", [(r"\(500, 500\)", "(20, 20)")]),
        ("neural_sde", [(r"steps=10000", "steps=6"), (r"steps_per_print=200", "steps_per_print=3"),
                        (r"batch_size=1024", "batch_size=32"), (r"dataset_size=8192", "dataset_size=128")]),
        ("nonlinear_heat_pde", []), ("steady_state", []), ("stiff_ode", []), ("underdamped_langevin_example", [])):
    add("dfx_" + name, DIFFRAX, f"docs/examples/{name}.ipynb", shorten=shorten)

# Blackjax.
for name, shorten in (
        ("quickstart", [(r"\b10_000\b", "200"), (r"num_steps=1000", "num_steps=100")]),
        ("howto_custom_gradients", []),
        ("howto_laplace_hmc", [])):
    add("bj_" + name, BLACKJAX, f"docs/examples/{name}.md", shorten=shorten)

# Programs that came after the rules were repaired on those above; docs/judged.md counts them apart.
REPAIRED_ON = len(PROGRAMS)

for page in ("automatic-differentiation", "jacobian-vector-products"):
    add("jaxdoc_" + page.replace("-", "_"), JAX, f"docs/{page}.md")
for page in ("autodiff_cookbook", "Custom_derivative_rules_for_Python_code"):
    add("jaxdoc_" + page.lower(), JAX, f"docs/notebooks/{page}.md")
add("nnx_04_data_parallel_with_jit", FLAX, "examples/nnx_toy_examples/04_data_parallel_with_jit.py")
for page in ("nnx_basics", "key_concepts", "guides/transforms", "guides/randomness", "guides/surgery", "guides/view",
             "guides/filters_guide", "guides/demo", "guides/extracting_intermediates", "guides/performance",
             "guides/pytree", "guides/tiny_nnx", "guides/bridge_guide"):
    add("nnxdoc_" + page.split("/")[-1], FLAX, f"docs_nnx/{page}.ipynb")
for page in ("flax_fundamentals/flax_basics", "flax_fundamentals/rng_guide", "model_inspection/model_surgery"):
    add("linen_" + page.split("/")[-1], FLAX, f"docs/guides/{page}.ipynb")
for page in ("basics", "non_trainable", "parameter_sharing", "transforms", "build_your_own_haiku"):
    add("hkdoc_" + page, HAIKU, f"docs/notebooks/{page}.ipynb")
for name in ("constrained/binary_kernel_svm_with_intercept", "constrained/multiclass_linear_svm", "constrained/nmf",
             "fixed_point/plot_anderson_accelerate_gd", "fixed_point/plot_anderson_wrapper_cd",
             "fixed_point/plot_picard_ode", "implicit_diff/lasso_implicit_diff",
             "implicit_diff/ridge_reg_implicit_diff", "implicit_diff/sparse_coding"):
    add("jaxopt_" + name.split("/")[1], JAXOPT, f"examples/{name}.py")
add("distrax_hmm", DISTRAX, "examples/hmm.py")
add("distrax_vae", DISTRAX, "examples/vae.py", "--training_steps=31 --eval_frequency=10")
add("distrax_flow", DISTRAX, "examples/flow.py", "--training_steps=11 --eval_frequency=5 --hidden_size=32")
for name in ("truncated_distributions", "effect_handlers"):
    add("npdoc_" + name, NUMPYRO, f"notebooks/source/{name}.ipynb", shorten=[(r"^\s*numpyro\.set_platform\(.*\)", "")])
add("optax_microbatching", OPTAX, "examples/gradient_accumulation_and_microbatching.ipynb",
    shorten=[(r"^hidden_size = 512", "hidden_size = 32"), (r"^vocab_size = 10000", "vocab_size = 100"),
             (r"^sequence_length = 256", "sequence_length = 16"), (r"^batch_size = 32", "batch_size = 8"),
             (r"^B = 1024", "B = 64"), (r"^N = 4096", "N = 64")])
add("dfx_sde_example", DIFFRAX, "docs/examples/sde_example.ipynb")
for name in ("howto_metropolis_within_gibbs", "howto_other_frameworks", "howto_use_numpyro"):
    add("bj_" + name, BLACKJAX, f"docs/examples/{name}.md")
