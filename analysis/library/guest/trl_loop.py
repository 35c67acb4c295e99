"""What the trainers of TRL do with a model: they are those of Transformers, with arguments of their own."""

from transformers import AutoModelForCausalLM
from transformers.trainer import Trainer, TrainingArguments


class SFTTrainer(Trainer):
    def __init__(self, model=None, args=None, data_collator=None, train_dataset=None, eval_dataset=None, callbacks=None, optimizers=(None, None), **options):
        if isinstance(model, str):
            model = AutoModelForCausalLM.from_pretrained(model)
        super().__init__(model, args, data_collator, train_dataset, eval_dataset, callbacks=callbacks, optimizers=optimizers)


class DPOTrainer(SFTTrainer):
    def __init__(self, model=None, ref_model=None, args=None, data_collator=None, train_dataset=None, eval_dataset=None, **options):
        super().__init__(model, args, data_collator, train_dataset, eval_dataset, **options)
        self.ref_model = ref_model


RewardTrainer = CPOTrainer = ORPOTrainer = SFTTrainer
KTOTrainer = DPOTrainer
SFTConfig = DPOConfig = RewardConfig = CPOConfig = ORPOConfig = KTOConfig = TrainingArguments
