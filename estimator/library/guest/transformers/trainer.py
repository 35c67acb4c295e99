"""``Trainer``. Mirrors transformers 5.24.0 (``trainer.py``): the loop of training, and what it keeps alive between two steps."""

import torch
from accelerate import Accelerator
from preflight_host import accepts, handed_out, not_modelled, open_data_set, parameter_names
from torch.utils.data import DataLoader
from transformers.collators import DataCollatorWithPadding, default_data_collator
from transformers.schedules import Schedule
from transformers.sharding import sharded
from transformers.training_args import TrainingArguments


def set_seed(seed, deterministic=False):
    pass


def is_main_process(local_rank):
    return True


def get_last_checkpoint(folder):
    return None


class TrainerCallback:
    pass


class EarlyStoppingCallback(TrainerCallback):
    def __init__(self, *args, **options):
        pass


class TrainOutput:
    training_loss = 0.0
    global_step = 2

    def __init__(self):
        self.metrics = {}


def placed(value, device):
    """A batch with every tensor in it on the device."""
    if isinstance(value, torch.Tensor):
        return value.to(device)
    if hasattr(value, "items"):
        return {name: placed(item, device) for name, item in value.items()}
    return [placed(item, device) for item in value] if isinstance(value, (list, tuple)) else value


class _Columns:
    """Samples with only those columns that the model takes."""

    def __init__(self, names, collator, labelled):
        self.names = names
        self.collator = collator
        self.labelled = labelled

    def __call__(self, samples):
        first = samples[0]
        kept = {name: first[name] for name in first.keys() if name in self.names}
        if self.labelled and not [name for name in ("labels", "label", "label_ids") if name in kept]:
            kept["labels"] = 0
        return self.collator([kept] * len(samples))


class Trainer:
    def __init__(
        self, model=None, args=None, data_collator=None, train_dataset=None, eval_dataset=None, processing_class=None, model_init=None,
        compute_loss_func=None, compute_metrics=None, callbacks=None, optimizers=(None, None), tokenizer=None, **others,
    ):  # fmt: skip
        self.args = args if args is not None else TrainingArguments("trainer_output")
        self.model = model if model is not None else model_init()
        self.tokenizer = self.processing_class = processing_class if processing_class is not None else tokenizer
        self.given_collator = data_collator is not None
        self.data_collator = data_collator
        if data_collator is None:
            self.data_collator = DataCollatorWithPadding(self.tokenizer) if self.tokenizer is not None else default_data_collator
        self.train_dataset = train_dataset
        self.eval_dataset = eval_dataset
        self.compute_loss_func = compute_loss_func
        self.optimizer, self.lr_scheduler = optimizers
        self.sharded = sharded(self.args)
        precision = "bf16" if self.args.bf16 else "fp16" if self.args.fp16 else "no"
        if self.sharded is not None and self.sharded.dtype is not None:
            precision = "no"
        self.accelerator = Accelerator(mixed_precision=precision, gradient_accumulation_steps=1)
        self.accelerator.sharded = None
        self.model_accepts_loss_kwargs = accepts(self.model, "**")
        if hasattr(self.model, "config") and not self.args.use_cache:
            self.model.config.use_cache = False
        self.model_wrapped = self.model
        self.model.to(self.args.device)

    def add_callback(self, callback):
        pass

    def log(self, *args, **options):
        pass

    def log_metrics(self, *args, **options):
        pass

    save_metrics = save_state = save_model = push_to_hub = create_model_card = log_metrics

    def num_tokens(self, *args):
        return 0

    def get_decay_parameter_names(self, model):
        return []

    def create_optimizer(self, model=None):
        if self.optimizer is None:
            self.optimizer = self.make_optimizer([p for p in self.model.parameters() if p.requires_grad])
        return self.optimizer

    def make_optimizer(self, trained):
        name = str(self.args.optim)
        if name == "adafactor":
            return torch.optim.Adafactor(trained, lr=self.args.learning_rate)
        if name == "sgd":
            return torch.optim.SGD(trained, lr=self.args.learning_rate)
        if name == "adagrad":
            return torch.optim.Adagrad(trained, lr=self.args.learning_rate)
        if name == "rmsprop":
            return torch.optim.RMSprop(trained, lr=self.args.learning_rate)
        if name not in ("adamw_torch", "adamw_torch_fused", "adamw_hf"):
            not_modelled("the optimizer " + name)
        return torch.optim.AdamW(trained, lr=self.args.learning_rate, fused=True if name == "adamw_torch_fused" else None)

    def create_scheduler(self, num_training_steps=0, optimizer=None):
        if self.lr_scheduler is None:
            self.lr_scheduler = Schedule()
        return self.lr_scheduler

    def create_optimizer_and_scheduler(self, num_training_steps=0):
        self.create_optimizer()
        self.create_scheduler()

    def get_train_dataloader(self):
        collator = self.data_collator
        if self.args.remove_unused_columns and open_data_set(self.train_dataset):
            names = [*parameter_names(self.model), "labels", "label", "label_ids"]
            collator = _Columns(names, collator, "labels" in names and not self.given_collator)
        return DataLoader(self.train_dataset, batch_size=self.args.per_device_train_batch_size, collate_fn=collator)

    def get_eval_dataloader(self, dataset=None):
        return DataLoader(self.eval_dataset, batch_size=self.args.per_device_eval_batch_size, collate_fn=self.data_collator)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels") if self.compute_loss_func is not None and "labels" in inputs else None
        if self.model_accepts_loss_kwargs and num_items_in_batch is not None:
            inputs = {**inputs, "num_items_in_batch": num_items_in_batch}
        outputs = model(**inputs)
        if not self.accelerator.native_amp:
            handed_out(outputs)
        if self.compute_loss_func is not None:
            loss = self.compute_loss_func(outputs, labels, num_items_in_batch=num_items_in_batch)
        else:
            loss = outputs["loss"] if isinstance(outputs, dict) or hasattr(outputs, "keys") else outputs[0]
        return (loss, outputs) if return_outputs else loss

    def _prepare_inputs(self, inputs):
        return placed(inputs, self.args.device)

    def training_step(self, model, inputs, num_items_in_batch=None):
        model.train()
        inputs = self._prepare_inputs(inputs)
        loss = self.compute_loss(model, inputs, num_items_in_batch=num_items_in_batch)
        del inputs
        if not (self.model_accepts_loss_kwargs and num_items_in_batch is not None) and self.compute_loss_func is None:
            loss = loss / self.args.gradient_accumulation_steps
        self.accelerator.backward(loss)
        return loss.detach()

    def items_in(self, batches):
        """How many tokens have a label, over the micro-batches of a step; None where batches have no labels."""
        if "labels" not in batches[0] or not self.model_accepts_loss_kwargs or not isinstance(batches[0]["labels"], torch.Tensor):
            return None
        total = sum([batch["labels"].ne(-100).sum() for batch in batches])
        return total.to(self.args.device)

    def train(self, *args, **options):
        if self.args.gradient_checkpointing:
            self.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=self.args.gradient_checkpointing_kwargs)
        loader = self.accelerator.prepare(self.get_train_dataloader())
        if self.sharded is not None:
            self.sharded.prepare(self.model)
        self.create_optimizer()
        model, self.optimizer = self.accelerator.prepare(self.model, self.optimizer)
        if self.sharded is not None:
            self.optimizer.optimizer = self.sharded.wrapped(self.optimizer.optimizer)
        self.create_scheduler()
        self.model_wrapped = model
        total = torch.tensor(0.0, device=self.args.device)
        batches = iter(loader)
        window = min(self.args.gradient_accumulation_steps, 4)
        for _ in range(2):
            samples = [next(batches) for _ in range(window)]
            items = self.items_in(samples)
            for index, inputs in enumerate(samples):
                step = self.training_step(model, inputs, items)
                total = total + step
            norm = None
            if self.args.max_grad_norm is not None and self.args.max_grad_norm > 0:
                norm = self.accelerator.clip_grad_norm_(model.parameters(), self.args.max_grad_norm)
            self.optimizer.step()
            self.lr_scheduler.step()
            model.zero_grad()
            if self.sharded is not None:
                self.optimizer.zero_grad()
        return TrainOutput()

    def evaluate(self, *args, **options):
        return {}

    def predict(self, *args, **options):
        return TrainOutput()


class Seq2SeqTrainer(Trainer):
    pass
