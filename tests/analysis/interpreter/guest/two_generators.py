def g(k):
    while True:
        yield k
        k += 1
a, b = g(0), g(10)
r = [next(a), next(b), next(a), next(b), next(a)]
