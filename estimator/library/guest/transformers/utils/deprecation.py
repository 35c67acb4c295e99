"""Old names of arguments."""


def deprecate_kwarg(old_name=None, version=None, new_name=None, **options):
    def around(function):
        def renamed(*args, **kwargs):
            if old_name in kwargs and new_name is not None:
                kwargs[new_name] = kwargs.pop(old_name)
            return function(*args, **kwargs)

        renamed.__wrapped__ = function
        return renamed

    return around
