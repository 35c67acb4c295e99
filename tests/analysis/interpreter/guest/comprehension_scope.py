i = 7
x = [i for i in range(3)]
r = i
