n = 1
def f():
    global n
    n = 5
f()
r = n
