# -*- coding: latin-1 -*-
import jax
@jax.jit
def f(éx):
    if éx.sum() > 0: print('ÿþ')
