"""``TrainingArguments``. Mirrors transformers 5.24.0: the arguments that decide memory, and their defaults."""

import torch
from preflight_host import trainer_arguments, world_size


class TrainingArguments:
    def __init__(
        self, output_dir=None, per_device_train_batch_size=8, per_device_eval_batch_size=8, gradient_accumulation_steps=1, bf16=False, fp16=False,
        optim="adamw_torch_fused", gradient_checkpointing=False, gradient_checkpointing_kwargs=None, max_grad_norm=1.0, num_train_epochs=3.0, max_steps=-1,
        learning_rate=5e-5, weight_decay=0.0, use_cache=False, remove_unused_columns=True, label_names=None, bf16_full_eval=False, torch_compile=False,
        eval_strategy="no", seed=42, local_rank=-1, do_train=False, do_eval=False, deepspeed=None, fsdp="", fsdp_config=None, **others,
    ):  # fmt: skip
        self.output_dir = output_dir
        self.per_device_train_batch_size = per_device_train_batch_size
        self.per_device_eval_batch_size = per_device_eval_batch_size
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.bf16 = bf16
        self.fp16 = fp16
        self.optim = optim
        self.gradient_checkpointing = gradient_checkpointing
        self.gradient_checkpointing_kwargs = gradient_checkpointing_kwargs
        self.max_grad_norm = max_grad_norm
        self.num_train_epochs = num_train_epochs
        self.max_steps = max_steps
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.use_cache = use_cache
        self.remove_unused_columns = remove_unused_columns
        self.label_names = label_names
        self.torch_compile = torch_compile
        self.eval_strategy = eval_strategy
        self.seed = seed
        self.local_rank = local_rank
        self.do_train = do_train
        self.do_eval = do_eval
        self.deepspeed = deepspeed
        self.fsdp = fsdp
        self.fsdp_config = fsdp_config
        for name, value in others.items():
            setattr(self, name, value)
        self.device = torch.device("cuda")
        self.n_gpu = 1
        self.process_index = self.local_process_index = 0
        self.should_save = True
        trainer_arguments(self)

    @property
    def world_size(self):
        return world_size()

    @property
    def train_batch_size(self):
        return self.per_device_train_batch_size

    def main_process_first(self, *args, **options):
        from accelerate import nothing

        return nothing()

    def get_process_log_level(self):
        return 20

    def to_dict(self):
        return dict(self.__dict__)


class Seq2SeqTrainingArguments(TrainingArguments):
    pass
