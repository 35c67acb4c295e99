"""The library's tokenizers: texts become rows of numbers whose length is what the arguments say, as far as they do."""

import torch
from preflight_host import filled_mask, rows_of, tokenized, tokens_as_tensor
from transformers.saved import save, saved


class BatchEncoding(dict):
    """Rows or tensors by name, which are attributes too."""

    def to(self, device=None, **options):
        return BatchEncoding({name: value.to(device) if isinstance(value, torch.Tensor) else value for name, value in self.items()})

    def word_ids(self, batch_index=0):
        rows = self["input_ids"]
        return [0] * len(rows[batch_index] if isinstance(rows, list) else rows)

    sequence_ids = word_ids

    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)

    @property
    def data(self):
        return dict(self)


#: Families whose tokenizers tell first texts from second ones.
SEGMENTED = ("bert", "electra", "deberta_v2", "transformers.xlnet")


#: The length that the library says of tokenizers that cut texts at none.
NO_LIMIT = int(1e30)


class Tokenizer:
    """Any tokenizer. ``vocabulary`` and ``model_max_length`` are those of the model of the same name, where it is known."""

    padding_side = "right"
    truncation_side = "right"
    pad_token = None
    eos_token = "</s>"
    bos_token = "<s>"
    unk_token = "<unk>"
    mask_token = "<mask>"
    cls_token = "<s>"
    sep_token = "</s>"
    pad_token_id = eos_token_id = bos_token_id = unk_token_id = mask_token_id = cls_token_id = sep_token_id = 0
    chat_template = None
    is_fast = True

    def __init__(self, vocabulary=50000, limit=None, family=""):
        self.vocab_size = vocabulary
        self.model_max_length = NO_LIMIT if limit is None else limit
        self.tells_segments = family in SEGMENTED
        self.added = 0

    def __len__(self):
        return self.vocab_size + self.added

    def __call__(
        self, text=None, text_pair=None, text_target=None, padding=False, truncation=None, max_length=None, return_tensors=None,
        return_special_tokens_mask=False, add_special_tokens=True, is_split_into_words=False, **options,
    ):  # fmt: skip
        texts = text if text is not None else text_target
        whole = is_split_into_words and not (isinstance(texts, list) and texts and not isinstance(texts[0], str))
        count = None if whole else rows_of(texts)
        limit = None if self.model_max_length is None or self.model_max_length >= NO_LIMIT else self.model_max_length
        row = tokenized(texts, padding, truncation, max_length, limit)
        names = ["input_ids", "attention_mask"] + (["special_tokens_mask"] if return_special_tokens_mask else [])
        if self.tells_segments:
            names.append("token_type_ids")
        encoded = {name: row if count is None else [row] * count for name in names}
        if text is not None and text_target is not None:
            encoded["labels"] = encoded["input_ids"]
        if return_tensors is None:
            return BatchEncoding(encoded)
        made = {name: tokens_as_tensor(row, 1 if count is None else count) for name in encoded}
        filled_mask(made["attention_mask"])
        return BatchEncoding(made)

    def encode(self, text, **options):
        return self(text, **options)["input_ids"]

    def encode_plus(self, text, **options):
        return self(text, **options)

    def batch_encode_plus(self, texts, **options):
        return self(texts, **options)

    def tokenize(self, text, **options):
        return self(text, **options)["input_ids"]

    def apply_chat_template(self, messages, tokenize=True, return_tensors=None, return_dict=False, max_length=None, truncation=None, padding=False, **options):
        if not tokenize:
            return "a conversation"
        encoded = self("a conversation", padding=padding, truncation=truncation, max_length=max_length, return_tensors=return_tensors)
        return encoded if return_dict else encoded["input_ids"]

    def pad(self, samples, padding=True, max_length=None, return_tensors=None, **options):
        from transformers.collators import padded

        made = padded(self, samples, max_length if padding == "max_length" else None)
        if "attention_mask" not in made and "input_ids" in made:
            made["attention_mask"] = torch.ones_like(made["input_ids"])
        return BatchEncoding(made)

    def convert_tokens_to_ids(self, tokens):
        return 0 if isinstance(tokens, str) else [0 for _ in tokens]

    def convert_ids_to_tokens(self, ids):
        return "a"

    def decode(self, tokens, **options):
        return ""

    def batch_decode(self, tokens, **options):
        return []

    def add_special_tokens(self, tokens, **options):
        count = sum(len(value) if isinstance(value, list) else 1 for value in tokens.values())
        self.added += count
        return count

    def add_tokens(self, tokens, **options):
        count = len(tokens) if isinstance(tokens, list) else 1
        self.added += count
        return count

    def set_prefix_tokens(self, *args, **options):
        pass

    def get_vocab(self):
        return {}

    def save_pretrained(self, path, **options):
        save("tokenizer", path, self)


class AutoTokenizer:
    @staticmethod
    def from_pretrained(name, model_max_length=None, subfolder=None, tokenizer_type=None, **options):
        from preflight_host import tokenizer_limits, vocabulary_of_type

        if saved("tokenizer", name) is not None:
            return saved("tokenizer", name)
        if tokenizer_type is not None:
            return Tokenizer(vocabulary_of_type(tokenizer_type), model_max_length)
        if isinstance(name, str) and subfolder:
            # of a pipeline's parts, the encoder that the tokenizer feeds
            name = name + "-" + subfolder.replace("tokenizer", "text_encoder")
        vocabulary, limit, family = tokenizer_limits(name)
        return Tokenizer(vocabulary, limit if model_max_length is None else model_max_length, family)


PreTrainedTokenizer = PreTrainedTokenizerFast = PreTrainedTokenizerBase = Tokenizer
