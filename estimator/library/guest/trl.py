"""``trl``: supervised fine-tuning. Mirrors trl 0.24 (``sft_config.py``, ``sft_trainer.py``): its defaults, its batches, and the copy of the logits for its metrics."""

import torch
from peft import get_peft_model
from preflight_host import not_modelled
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainingArguments


class SFTConfig(TrainingArguments):
    def __init__(
        self, output_dir=None, max_length=1024, max_seq_length=None, packing=False, gradient_checkpointing=True, bf16=None, fp16=False, model_init_kwargs=None,
        assistant_only_loss=False, completion_only_loss=None, dataset_text_field="text", **others,
    ):  # fmt: skip
        self.max_length = max_length if max_seq_length is None else max_seq_length
        self.packing = packing
        self.model_init_kwargs = model_init_kwargs
        self.dataset_text_field = dataset_text_field
        super().__init__(output_dir, gradient_checkpointing=gradient_checkpointing, bf16=not fp16 if bf16 is None else bf16, fp16=fp16, **others)


class SFTTrainer(Trainer):
    def __init__(self, model=None, args=None, train_dataset=None, processing_class=None, peft_config=None, data_collator=None, tokenizer=None, **others):
        args = args if args is not None else SFTConfig("trainer_output")
        if isinstance(model, str):
            model = AutoModelForCausalLM.from_pretrained(model, **(args.model_init_kwargs or {}))
        processing_class = processing_class if processing_class is not None else tokenizer
        if processing_class is None:
            processing_class = AutoTokenizer.from_pretrained(model.config._name_or_path if hasattr(model.config, "_name_or_path") else "a tokenizer")
        if peft_config is not None:
            model = get_peft_model(model, peft_config)
        if getattr(args, "use_liger_kernel", False):
            not_modelled("the kernels of Liger")
        collator = data_collator if data_collator is not None else DataCollatorForLanguageModeling(processing_class, mlm=False)
        super().__init__(model=model, args=args, data_collator=collator, train_dataset=train_dataset, processing_class=processing_class, **others)

    def get_train_dataloader(self):
        length = self.args.max_length if hasattr(self.args, "max_length") else 1024
        row = self.processing_class("a text", truncation=True, max_length=length)
        return DataLoader([row] * 1000, batch_size=self.args.per_device_train_batch_size, collate_fn=self.data_collator)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        loss, outputs = super().compute_loss(model, inputs, return_outputs=True, num_items_in_batch=num_items_in_batch)
        with torch.no_grad():  # the accuracy that is logged
            outputs.logits[..., :-1, :].contiguous().argmax(dim=-1)
        return (loss, outputs) if return_outputs else loss
