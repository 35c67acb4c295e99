"""Hidden states that layers make are kept where a model is asked for them. Mirrors transformers 5.24.0 (``utils/output_capturing.py``)."""

from functools import wraps


class OutputRecorder:
    def __init__(self, target_class=None, index=0, layer_name=None, class_name=None, capture_initial_hidden_state=True, **options):
        self.target_class = target_class
        self.index = index
        self.capture_initial_hidden_state = capture_initial_hidden_state


def capture_outputs(function=None, tie_last_hidden_states=True, **options):
    def around(forward):
        @wraps(forward)
        def capturing(self, *args, **kwargs):
            recorder = recorder_of(self)
            if recorder is None or kwargs.get("output_hidden_states", getattr(self.config, "output_hidden_states", False)) is not True:
                return forward(self, *args, **kwargs)
            states = []
            handles = [module.register_forward_hook(kept_in(states, recorder)) for module in self.modules() if isinstance(module, recorder.target_class)]
            outputs = forward(self, *args, **kwargs)
            for handle in handles:
                handle.remove()
            if tie_last_hidden_states and states and outputs.last_hidden_state is not None:
                states[-1] = outputs.last_hidden_state
            outputs["hidden_states"] = tuple(states)
            return outputs

        return capturing

    return around if function is None else around(function)


def recorder_of(model):
    """What a model's class says of its hidden states; None where it says nothing."""
    found = (getattr(type(model), "_can_record_outputs", None) or {}).get("hidden_states")
    return found if found is None or isinstance(found, OutputRecorder) else OutputRecorder(found)


def kept_in(states, recorder):
    def keep(module, args, output):
        if not states and recorder.capture_initial_hidden_state and args:
            states.append(args[0])
        states.append(output[recorder.index] if isinstance(output, (tuple, list)) else output)

    return keep


def same(value):
    return value
