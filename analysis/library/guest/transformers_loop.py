"""What the trainer of Transformers does with a model."""

import torch
from preflight_library import framework_accelerator, framework_loader, scales_losses, taken


class TrainingArguments:
    def __init__(self, output_dir="out", gradient_accumulation_steps=1, max_grad_norm=1.0, **options):
        self.output_dir = output_dir
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self.max_grad_norm = max_grad_norm
        for name, value in options.items():
            setattr(self, name, value)


class TrainerControl:
    should_training_stop = False
    should_epoch_stop = False
    should_save = False
    should_evaluate = False
    should_log = False


class TrainerState:
    def __init__(self):
        self.epoch = 0
        self.global_step = 0
        self.log_history = []
        self.is_world_process_zero = self.is_local_process_zero = torch.distributed.get_rank() == 0


class TrainerCallback:
    def _nothing(self, args, state, control, **kwargs):
        pass

    on_init_end = on_train_begin = on_train_end = on_epoch_begin = on_epoch_end = on_step_begin = on_step_end = on_substep_end = _nothing
    on_pre_optimizer_step = on_optimizer_step = on_evaluate = on_predict = on_save = on_log = on_prediction_step = _nothing


class Trainer:
    def __init__(
        self,
        model=None,
        args=None,
        data_collator=None,
        train_dataset=None,
        eval_dataset=None,
        tokenizer=None,
        model_init=None,
        compute_loss_func=None,
        compute_metrics=None,
        callbacks=None,
        optimizers=(None, None),
        **options,
    ):
        self.model = model_init() if model is None and model_init is not None else model
        self.args = args if args is not None else TrainingArguments()
        self.accelerator = framework_accelerator()
        self.control = TrainerControl()
        self.state = TrainerState()
        self._own = [each for each in taken(callbacks) if isinstance(each, TrainerCallback)]
        torch.manual_seed(42)
        self.data_collator = data_collator
        self.train_dataset = train_dataset
        self.eval_dataset = eval_dataset
        self.compute_loss_func = compute_loss_func
        self.model_accepts_loss_kwargs = True
        self.optimizer, self.lr_scheduler = optimizers

    def add_callback(self, callback):
        if isinstance(callback, TrainerCallback):
            self._own.append(callback)

    def _hook(self, name, **more):
        for callback in self._own:
            getattr(callback, name)(self.args, self.state, self.control, model=self.model, optimizer=self.optimizer, lr_scheduler=self.lr_scheduler, **more)

    def create_optimizer(self):
        if self.optimizer is None:
            self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=5e-5)
        return self.optimizer

    def create_scheduler(self, num_training_steps=None, optimizer=None):
        if self.lr_scheduler is None:
            self.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, None)
        return self.lr_scheduler

    def get_train_dataloader(self):
        return torch.utils.data.DataLoader(self.train_dataset, collate_fn=self.data_collator, sampler=torch.utils.data.DistributedSampler(self.train_dataset))

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(**inputs)
        loss = outputs.loss
        return (loss, outputs) if return_outputs else loss

    def training_step(self, model, inputs, num_items_in_batch=None):
        model.train()
        loss = self.compute_loss(model, inputs, num_items_in_batch=num_items_in_batch)
        loss = loss / self.args.gradient_accumulation_steps
        loss.backward()
        return loss.detach()

    def prediction_step(self, model, inputs, prediction_loss_only=False, ignore_keys=None):
        with torch.no_grad():
            return self.compute_loss(model, inputs, return_outputs=True)

    def log(self, logs, *args):
        pass

    def _prepare_inputs(self, inputs):
        return inputs

    def train(self, resume_from_checkpoint=None, **options):
        self.create_optimizer()
        self.create_scheduler()
        scales_losses(self.model, getattr(self.args, "fp16", False), getattr(self.args, "deepspeed", None))
        self.model.train()
        num_items_in_batch = torch.tensor(1)
        self._hook("on_train_begin")
        for epoch in range(2):
            self.state.epoch = epoch
            self._hook("on_epoch_begin")
            for step, inputs in enumerate(framework_loader(self.get_train_dataloader())):
                loss = self.training_step(self.model, inputs, num_items_in_batch)
                if (step + 1) % self.args.gradient_accumulation_steps == 0:
                    torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.args.max_grad_norm)
                    self.optimizer.step()
                    self.lr_scheduler.step()
                    self.model.zero_grad()
                    self.optimizer.zero_grad()
                    self.state.global_step += 1
                    self._hook("on_step_end")
            self.log({"loss": loss})
            self._hook("on_log", logs={"loss": loss})
            self._hook("on_epoch_end")
            if self.eval_dataset is not None:
                self.evaluate(self.eval_dataset)
                self._hook("on_evaluate", metrics={})
            self._hook("on_save")
        self._hook("on_train_end")

    def evaluate(self, eval_dataset=None, **options):
        self.model.eval()
        self.control.should_evaluate = True
        for inputs in framework_loader(torch.utils.data.DataLoader(eval_dataset)):
            self.prediction_step(self.model, inputs, False)
        self.control.should_evaluate = False
        self.model.train()
        return {}

    def predict(self, test_dataset=None, **options):
        return None

    def save_model(self, output_dir=None):
        pass

    def save_state(self):
        pass

    def is_world_process_zero(self):
        return torch.distributed.get_rank() == 0


Seq2SeqTrainer = Trainer
Seq2SeqTrainingArguments = TrainingArguments
