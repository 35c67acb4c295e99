def f(x, seen=[]):
    seen.append(x)
    return len(seen)
f(1)
r = f(2)
