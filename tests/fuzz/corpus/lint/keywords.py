def def def
class class(:
if if else
jax.jit(
f(**,*,=)
x[::,:]
with : pass
from . import
from ... import (a as, b
import a.b.c as
@
@@x
