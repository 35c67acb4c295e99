from enum import Enum


class Colour(str, Enum):
    red = "red"
    blue = "blue"


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y


def told(value):
    match value:
        case {"kind": "circle", "radius": int(radius), **rest}:
            return ("circle", radius, rest)
        case {"kind": str(kind)}:
            return ("other", kind)
        case Point(x=0, y=y):
            return ("axis", y)
        case Point(x=x):
            return ("point", x)
        case int(number) | float(number):
            return ("number", number)
    return "nothing"


r = [
    told({"kind": "circle", "radius": 3, "fill": 1}),
    told({"kind": "square", "radius": 3}),
    told({"radius": 3}),
    told(Point(0, 5)),
    told(Point(2, 5)),
    told(2.5),
    told("text"),
    Colour.red == "red",
    "blue" == Colour.red,
    Colour("blue") is Colour.blue,
    Colour.blue != "blue",
]
