def f(x, n=
    if x[n: and f(f(f(
        return x ** n)
class f(f):
	def f(self, f=f): self.f = self.f(f).f[f](f=f)
f = f(f) if f else f
for f in f: f += f(*f, **f)
