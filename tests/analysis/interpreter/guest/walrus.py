if (n := 4) > 3: r = n
