def g(): raise KeyError('k')
def f():
    try:
        g()
    except LookupError:
        return 'seen'
r = f()
