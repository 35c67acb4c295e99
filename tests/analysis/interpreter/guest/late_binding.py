fs = []
for i in range(3):
    fs.append(lambda j=i: j)
r = [f() for f in fs]
