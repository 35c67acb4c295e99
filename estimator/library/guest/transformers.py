"""``transformers``: the zoo's families behind the library's classes, its tokenizers as lengths, its Trainer as the loop it runs."""

from preflight_host import catalog_config, named_model, token_batch, training_argument
from preflight_zoo.bert import BertConfig, BertForMaskedLM, BertForSequenceClassification, BertModel
from preflight_zoo.gpt2 import GPT2Config, GPT2LMHeadModel, GPT2Model
from preflight_zoo.llama import LlamaConfig, LlamaForCausalLM, LlamaForSequenceClassification, LlamaModel
from preflight_zoo.mistral import MistralConfig, MistralForCausalLM, MistralForSequenceClassification, MistralModel
from preflight_zoo.qwen2 import Qwen2Config, Qwen2ForCausalLM, Qwen2ForSequenceClassification, Qwen2Model
from preflight_zoo.roberta import RobertaConfig, RobertaForMaskedLM, RobertaForSequenceClassification, RobertaModel
import torch

CONFIGS = {"gpt2": GPT2Config, "llama": LlamaConfig, "mistral": MistralConfig, "qwen2": Qwen2Config, "bert": BertConfig, "roberta": RobertaConfig}
CAUSAL = {"gpt2": GPT2LMHeadModel, "llama": LlamaForCausalLM, "mistral": MistralForCausalLM, "qwen2": Qwen2ForCausalLM}
MASKED = {"bert": BertForMaskedLM, "roberta": RobertaForMaskedLM}
CLASSIFIER = {
    "bert": BertForSequenceClassification, "roberta": RobertaForSequenceClassification, "llama": LlamaForSequenceClassification,
    "mistral": MistralForSequenceClassification, "qwen2": Qwen2ForSequenceClassification,
}  # fmt: skip
BASE = {"gpt2": GPT2Model, "llama": LlamaModel, "mistral": MistralModel, "qwen2": Qwen2Model, "bert": BertModel, "roberta": RobertaModel}
NOT_OF_THE_CONFIG = (
    "torch_dtype", "dtype", "device_map", "low_cpu_mem_usage", "trust_remote_code", "cache_dir", "token", "revision", "config",
    "ignore_mismatched_sizes", "local_files_only", "from_tf", "subfolder", "use_safetensors",
)  # fmt: skip


class AutoConfig:
    @staticmethod
    def from_pretrained(name, **options):
        family, numbers, _ = catalog_config(name)
        return CONFIGS[family](**{**numbers, **{key: value for key, value in options.items() if key not in NOT_OF_THE_CONFIG}})


def load(classes, name, options):
    family, numbers, stored = catalog_config(name)
    config = options.get("config")
    if config is None:
        given = {key: value for key, value in options.items() if key not in NOT_OF_THE_CONFIG}
        config = CONFIGS[family](**{**numbers, **given})
    elif "attn_implementation" in options:
        config._attn_implementation = options["attn_implementation"]
    dtype = options.get("dtype", options.get("torch_dtype"))
    model = built(classes[family], config, stored if dtype is None or dtype == "auto" else dtype)
    model.eval()
    if "device_map" in options and options["device_map"] is not None:
        model.to("cuda")
    return model


def built(cls, config, dtype):
    if isinstance(dtype, str):
        dtype = getattr(torch, dtype)
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    model = cls(config)
    torch.set_default_dtype(before)
    return model


class AutoModelForCausalLM:
    @staticmethod
    def from_pretrained(name, **options):
        named_model(name)
        return load(CAUSAL, name, options)

    @staticmethod
    def from_config(config, **options):
        return from_config(CAUSAL, config, options)


class AutoModelForMaskedLM:
    @staticmethod
    def from_pretrained(name, **options):
        named_model(name)
        return load(MASKED, name, options)

    @staticmethod
    def from_config(config, **options):
        return from_config(MASKED, config, options)


class AutoModelForSequenceClassification:
    @staticmethod
    def from_pretrained(name, **options):
        named_model(name)
        return load(CLASSIFIER, name, options)

    @staticmethod
    def from_config(config, **options):
        return from_config(CLASSIFIER, config, options)


class AutoModel:
    @staticmethod
    def from_pretrained(name, **options):
        named_model(name)
        return load(BASE, name, options)

    @staticmethod
    def from_config(config, **options):
        return from_config(BASE, config, options)


def from_config(classes, config, options):
    for family in CONFIGS:
        if family in classes and type(config) is CONFIGS[family]:
            return built(classes[family], config, options.get("dtype", options.get("torch_dtype")) or torch.get_default_dtype())
    raise KeyError("the configuration is of a family that is not known")


class AutoTokenizer:
    @staticmethod
    def from_pretrained(name, **options):
        return Tokenizer()


class Tokenizer:
    pad_token = None
    eos_token = "</s>"
    pad_token_id = 0
    eos_token_id = 0
    model_max_length = None

    def __call__(self, text=None, pair=None, truncation=False, padding=False, max_length=None, return_tensors=None, **options):
        return token_batch(text, padding, max_length, return_tensors)

    def save_pretrained(self, path):
        pass

    def decode(self, tokens, **options):
        return ""

    def batch_decode(self, tokens, **options):
        return []


AutoTokenizer.Tokenizer = Tokenizer
GPT2Tokenizer = GPT2TokenizerFast = BertTokenizer = BertTokenizerFast = LlamaTokenizer = RobertaTokenizer = AutoTokenizer


class DataCollatorForLanguageModeling:
    def __init__(self, tokenizer=None, mlm=True, **options):
        self.mlm = mlm

    def __call__(self, samples):
        from torch.utils.data import default_collate

        batch = default_collate(samples)
        batch["labels"] = batch["input_ids"].clone()
        return batch


class DataCollatorWithPadding:
    def __init__(self, tokenizer=None, **options):
        pass

    def __call__(self, samples):
        from torch.utils.data import default_collate

        return default_collate(samples)


def default_data_collator(samples):
    from torch.utils.data import default_collate

    return default_collate(samples)


class _Schedule:
    def __init__(self, *args, **options):
        pass

    def step(self):
        pass

    def get_last_lr(self):
        return [0.0]


def get_scheduler(*args, **options):
    return _Schedule()


get_linear_schedule_with_warmup = get_cosine_schedule_with_warmup = get_constant_schedule = get_scheduler


def set_seed(seed):
    pass


class TrainingArguments:
    def __init__(
        self, output_dir=None, per_device_train_batch_size=8, gradient_accumulation_steps=1, bf16=False, fp16=False, optim="adamw_torch_fused",
        gradient_checkpointing=False, max_grad_norm=1.0, num_train_epochs=3, learning_rate=5e-5, **others,
    ):  # fmt: skip
        self.per_device_train_batch_size = training_argument("batch_size", per_device_train_batch_size)
        self.gradient_accumulation_steps = training_argument("accumulation_steps", gradient_accumulation_steps)
        self.bf16 = bf16
        self.fp16 = fp16
        self.optim = optim
        self.gradient_checkpointing = gradient_checkpointing
        self.max_grad_norm = max_grad_norm
        self.num_train_epochs = num_train_epochs
        self.learning_rate = learning_rate
        self.device = torch.device("cuda")
        for name, value in others.items():
            setattr(self, name, value)


class Trainer:
    def __init__(self, model=None, args=None, data_collator=None, train_dataset=None, eval_dataset=None, tokenizer=None, optimizers=(None, None), **others):
        self.model = model
        self.args = args if args is not None else TrainingArguments()
        self.data_collator = data_collator if data_collator is not None else default_data_collator
        self.train_dataset = train_dataset
        self.optimizer = optimizers[0]
        if self.args.gradient_checkpointing:
            model.gradient_checkpointing_enable()

    def create_optimizer(self):
        if self.optimizer is None:
            trained = [p for p in self.model.parameters() if p.requires_grad]
            if self.args.optim == "adafactor":
                self.optimizer = torch.optim.Adafactor(trained, lr=self.args.learning_rate)
            elif self.args.optim == "sgd":
                self.optimizer = torch.optim.SGD(trained, lr=self.args.learning_rate)
            else:
                self.optimizer = torch.optim.AdamW(trained, lr=self.args.learning_rate, fused=self.args.optim == "adamw_torch_fused")
        return self.optimizer

    def get_train_dataloader(self):
        from torch.utils.data import DataLoader

        return DataLoader(self.train_dataset, batch_size=self.args.per_device_train_batch_size, collate_fn=self.data_collator)

    def compute_loss(self, model, inputs, return_outputs=False, **others):
        outputs = model(**inputs)
        loss = outputs["loss"]
        return (loss, outputs) if return_outputs else loss

    def training_step(self, model, inputs):
        model.train()
        inputs = {name: value.to(self.args.device) for name, value in inputs.items()}
        dtype = torch.bfloat16 if self.args.bf16 else torch.float16
        with torch.autocast("cuda", dtype=dtype, enabled=self.args.bf16 or self.args.fp16):
            loss = self.compute_loss(model, inputs)
        del inputs
        if self.args.gradient_accumulation_steps > 1:
            loss = loss / self.args.gradient_accumulation_steps
        loss.backward()
        return loss.detach()

    def train(self, *args, **options):
        model = self.model.to(self.args.device)
        optimizer = self.create_optimizer()
        loader = self.get_train_dataloader()
        for epoch in range(2):
            for step, inputs in enumerate(loader):
                self.training_step(model, inputs)
                if (step + 1) % self.args.gradient_accumulation_steps == 0:
                    if self.args.max_grad_norm:
                        torch.nn.utils.clip_grad_norm_(model.parameters(), self.args.max_grad_norm)
                    optimizer.step()
                    optimizer.zero_grad()

    def evaluate(self, *args, **options):
        return {}

    def save_model(self, *args, **options):
        pass
