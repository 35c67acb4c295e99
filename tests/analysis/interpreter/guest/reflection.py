class A: pass
a = A()
setattr(a, 'x', 4)
r = (getattr(a, 'x'), getattr(a, 'y', 9), hasattr(a, 'x'), hasattr(a, 'z'), callable(len))
