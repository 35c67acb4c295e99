class A:
    kind = 'a'
    def __init__(self, v): self.v = v
    @property
    def twice(self): return 2 * self.v
    @staticmethod
    def s(x): return x + 1
    @classmethod
    def make(cls): return cls(9)
    def __add__(self, o): return A(self.v + o.v)
    def __call__(self, x): return x + self.v
    def __len__(self): return 4
    def __getitem__(self, i): return i * 10
class B(A):
    def __init__(self): super().__init__(3)
    def __getattr__(self, name): return name
b = B()
r = (b.twice, A.s(1), A.make().v, (b + b).v, b(1), len(b), b[2], b.kind, b.missing, isinstance(b, A))
