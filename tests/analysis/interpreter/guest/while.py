n = 0
while True:
    n += 1
    if n > 6: break
r = n
