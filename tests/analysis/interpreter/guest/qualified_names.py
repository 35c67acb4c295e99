"""A decorator that a class puts on its own methods, and which tells by the qualified name that it is not called on an object."""


class Launcher:
    def on_first_rank(self, function=None):
        if function is None:
            if "Launcher." not in self.__qualname__:
                raise ValueError("to be called on an object")
            function = self

        def inner(*args):
            return ["first rank", *function(*args)]

        return inner

    @on_first_rank
    def log(self, value):
        return [value]


r = [Launcher().log(3), Launcher.on_first_rank.__name__, Launcher.on_first_rank.__qualname__]
