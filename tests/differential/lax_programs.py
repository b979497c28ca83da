"""The rest of jax.lax: what no other family has, so that every function of it lowers somewhere.

unnamed() says which functions of the installed release no program names: a new release's operations are
noticed instead of being left out."""

import inspect
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import programs
from programs import F32, I32, S, U32, family, lower, mesh

# Functions of jax.lax that compute shapes or numbers in Python and put nothing into a program.
NO_OPERATION = set("""axis_size broadcast_shapes broadcast_to_rank conv_dimension_numbers conv_general_permutations
    conv_general_shape_tuple conv_shape_tuple conv_transpose_shape_tuple dce_sink padtype_to_pads
    reduce_window_shape_tuple shape_as_value stage""".split())


@family
def scatters():
    dims = lax.ScatterDimensionNumbers(update_window_dims=(1,), inserted_window_dims=(0,),
                                       scatter_dims_to_operand_dims=(0,))
    args = S(10, 4), S(3, 1, dtype=I32), S(3, 4)
    for f in (lax.scatter_add, lax.scatter_sub, lax.scatter_mul, lax.scatter_min, lax.scatter_max):
        yield f.__name__, lower(lambda x, i, u, f=f: f(x, i, u, dims), *args)
    yield "scatter_apply", lower(
        lambda x, i: lax.scatter_apply(x, i, jnp.sin, dims, update_shape=(3, 4)), *args[:2])


@family
def along_dimensions():
    x = S(6, 4)
    yield "slice_in_dim", lower(lambda v: lax.slice_in_dim(v, 1, 5, 2, axis=0), x)
    yield "index_in_dim", lower(lambda v: lax.index_in_dim(v, 2, 0, keepdims=False), x)
    yield "index_take", lower(lambda v, i: lax.index_take(v, (i,), (0,)), x, S(3, dtype=I32))
    yield "dynamic_slice_in_dim", lower(lambda v, i: lax.dynamic_slice_in_dim(v, i, 2, 1), x, S(dtype=I32))
    yield "dynamic_update_slice_in_dim", lower(
        lambda v, u, i: lax.dynamic_update_slice_in_dim(v, u, i, 0), x, S(2, 4), S(dtype=I32))
    yield "dynamic_update_index_in_dim", lower(
        lambda v, u, i: lax.dynamic_update_index_in_dim(v, u, i, 0), x, S(4), S(dtype=I32))
    yield "broadcasted_iota", lower(lambda v: v + lax.broadcasted_iota(F32, (6, 4), 1), x)
    yield "broadcast_like", lower(lambda v, w: lax.broadcast_like(v, w), S(), x)
    yield "collapse", lower(lambda v: lax.collapse(v, 0), x)
    yield "expand_dims", lower(lambda v: lax.expand_dims(v, (0, 3)), x)
    yield "full_like", lower(lambda v: v + lax.full_like(v, 3.5), x)
    yield "unstack", lower(lambda v: lax.unstack(v, axis=1), x)
    yield "sort_key_val", lower(lambda k, v: lax.sort_key_val(k, v), S(9), S(9, dtype=I32))
    yield "stop_gradient", lower(jax.grad(lambda v: (lax.stop_gradient(v) * v).sum()), x)
    yield "convert_element_type", lower(lambda v: lax.convert_element_type(v, jnp.int8), x)
    for f in (lax.reduce_max, lax.reduce_min, lax.reduce_prod, lax.reduce_sum):
        yield f.__name__, lower(lambda v, f=f: f(v, (1,)), x)


@family
def products():
    yield "batch_matmul", lower(lax.batch_matmul, S(2, 3, 4), S(2, 4, 5))
    yield "dot_general", lower(
        lambda a, b: lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,))), preferred_element_type=F32),
        S(2, 3, 4, dtype=jnp.bfloat16), S(2, 4, 5, dtype=jnp.bfloat16))
    yield "mulhi", lower(lambda a, b: lax.mulhi(a, b), S(4, dtype=U32), S(4, dtype=U32))
    yield "ragged_dot_general", lower(
        lambda a, b, g: lax.ragged_dot_general(a, b, g, lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0])),
        S(8, 4), S(3, 4, 5), S(3, dtype=I32))
    yield "scaled_dot", lower(
        lambda a, b, s, t: lax.scaled_dot(a, b, lhs_scale=s, rhs_scale=t, preferred_element_type=F32),
        S(2, 8, 32, dtype=jnp.float8_e4m3fn), S(2, 32, 8, dtype=jnp.float8_e4m3fn),
        S(2, 8, 1, dtype=jnp.float8_e8m0fnu), S(2, 1, 8, dtype=jnp.float8_e8m0fnu))
    yield "conv_with_general_padding", lower(
        lambda x, k: lax.conv_with_general_padding(x, k, (1, 2), [(0, 1), (2, 0)], (1, 1), (2, 1)),
        S(1, 3, 8, 8), S(4, 3, 3, 3))
    yield "conv_general_dilated_patches", lower(
        lambda x: lax.conv_general_dilated_patches(x, (2, 2), (1, 1), "VALID"), S(1, 3, 5, 5))
    yield "conv_general_dilated_local", lower(
        lambda x, k: lax.conv_general_dilated_local(x, k, (1,), "VALID", (2,)), S(1, 3, 6), S(4, 6, 5))


@family
def functions():
    yield "igamma_grad_a", lower(lax.igamma_grad_a, S(3), S(3))
    yield "random_gamma_grad", lower(lax.random_gamma_grad, S(3), S(3))
    yield "custom_root", lower(lambda a: lax.custom_root(
        lambda x: x * x - a, jnp.ones(()), lambda f, x: lax.fori_loop(0, 9, lambda i, y: y - f(y) / (2 * y), x),
        lambda g, y: y / g(1.0)), S())
    yield "custom_linear_solve", lower(lambda m, b: lax.custom_linear_solve(
        lambda x: m @ x, b, lambda _, v: jnp.linalg.solve(m, v), symmetric=True), S(3, 3), S(3))
    yield "composite", lower(
        lambda x: lax.composite(lambda v, *, scale: v * scale, name="my.scale", version=2)(x, scale=np.float32(2)), S(4))
    yield "tokens", lower(lambda x: (lax.after_all(lax.create_token(x)), x)[1], S(4))


@family
def collectives():
    from jax.sharding import PartitionSpec as P

    def mapped(body, *args, platform="cpu"):
        f = jax.shard_map(body, mesh=mesh("d"), in_specs=tuple(P("d") for _ in args), out_specs=P("d", None), check_vma=False)
        return lambda: jax.jit(f).trace(*args).lower(lowering_platforms=(platform,))

    x = S(16, 8)
    yield "pmin", mapped(lambda v: lax.pmin(v, "d"), x)
    yield "pshuffle", mapped(lambda v: lax.pshuffle(v, "d", list(reversed(range(8)))), x)
    yield "pswapaxes", mapped(lambda v: lax.pswapaxes(v, "d", 1), S(16, 8))
    yield "pbroadcast", mapped(lambda v: lax.pbroadcast(v, "d", 0), x, platform="cuda")
    yield "pcast", mapped(lambda v: lax.pcast(v, "d", to="varying"), x)
    yield "psend", mapped(lambda v: (lax.psend(v, "d", [(i, (i + 1) % 8) for i in range(8)]), v)[1], x, platform="cuda")
    yield "precv", mapped(
        lambda v: lax.precv(lax.create_token(), jax.ShapeDtypeStruct(v.shape, v.dtype), "d", [(0, 1)]), x, platform="cuda")
    yield "ragged_all_to_all", mapped(
        lambda v, i: lax.ragged_all_to_all(v, jnp.zeros_like(v), i, i, i, i, axis_name="d"), x, S(64, dtype=I32))


def unnamed():
    """Public functions of jax.lax that no program here or in programs.py names."""
    source = inspect.getsource(programs) + inspect.getsource(inspect.getmodule(unnamed))
    source = source.replace(inspect.getdoc(inspect.getmodule(unnamed)), "")
    return [name for name, f in sorted(vars(lax).items())
            if callable(f) and not inspect.isclass(f) and re.fullmatch("[a-z][a-z0-9_]*", name)
            and not name.endswith("_p") and name not in NO_OPERATION
            and not re.search(rf"\b{name}\b", source)]
