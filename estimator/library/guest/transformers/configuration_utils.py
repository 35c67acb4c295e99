"""The base of configurations, for model source that is read from a release of transformers: fields are attributes, what is given goes over them.

Mirrors transformers 5.24.0 (``PreTrainedConfig``, ``RotaryEmbeddingConfigMixin``); older releases call it with what they do not know.
"""

from preflight_zoo.pretrained import Configuration, counted


class PreTrainedConfig(Configuration):
    default_theta = 10000.0
    rope_parameters = None
    partial_rotary_factor = None
    use_cache = True
    use_return_dict = return_dict = True
    output_attentions = output_hidden_states = is_encoder_decoder = False
    add_cross_attention = is_decoder = False
    tie_word_embeddings = True
    chunk_size_feed_forward = 0
    pruned_heads = {}
    pad_token_id = tokenizer_class = None
    attribute_map = {}

    def __init__(self, **given):
        super().__init__()
        for name, value in given.items():
            setattr(self, self.attribute_map.get(name, name), value)
        if self.id2label is not None:
            self.num_labels = counted(self.id2label)
        self.__post_init__(**given)
        for name, own in self.attribute_map.items():
            if hasattr(self, own):
                self.__dict__[name] = getattr(self, own)

    def __post_init__(self, **given):
        self.convert_rope_params_to_dict(**given)

    def convert_rope_params_to_dict(self, **given):
        scaling = given.get("rope_scaling")
        rope = dict(scaling or self.rope_parameters or {})
        rope.setdefault("rope_type", rope.get("type", "default"))
        rope.setdefault("rope_theta", given.get("rope_theta", getattr(self, "rope_theta", None) or self.default_theta))
        partial = given.get("partial_rotary_factor", self.partial_rotary_factor)
        if partial is not None:
            rope.setdefault("partial_rotary_factor", partial)
        self.rope_parameters = rope
        return given

    def standardize_rope_params(self):
        self.rope_parameters.setdefault("rope_type", "default")

    def get_text_config(self, *args, **options):
        return self

    def validate_architecture(self):
        pass


PretrainedConfig = PreTrainedConfig


def layer_type_validation(*args, **options):
    pass
