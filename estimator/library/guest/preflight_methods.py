"""What ``types.MethodType`` makes of something that is called and is no plain function."""


class Bound:
    def __init__(self, function, owner):
        self.__func__ = function
        self.__self__ = owner

    def __call__(self, *args, **kwargs):
        return self.__func__(self.__self__, *args, **kwargs)
