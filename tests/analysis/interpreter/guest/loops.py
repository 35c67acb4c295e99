r = []
for i in range(10):
    if i == 2: continue
    if i == 5: break
    r.append(i)
else:
    r.append('else')
for i in range(2): pass
else: r.append('end')
