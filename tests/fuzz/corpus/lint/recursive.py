import jax
@jax.jit
def f(x): return g(x)
def g(x): return f(x) if f(x) > 0 else g(g(x))
class A(A): pass
class B(C): pass
class C(B):
  def forward(self, x): return self.forward(x)
from a.b import f as f
