class A:
    @property
    def v(self): return self._v
    @v.setter
    def v(self, x): self._v = x + 1
a = A()
a.v = 1
r = a.v
