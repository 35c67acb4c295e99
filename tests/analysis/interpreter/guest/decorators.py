def twice(f):
    def inner(*a):
        return f(*a) * 2
    return inner
@twice
def g(x): return x + 1
r = g(3)
