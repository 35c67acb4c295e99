"""Libraries around a loop: ignite's engine runs it, torchmetrics looks on, torchvision's weights say how images are prepared."""

from __future__ import annotations

from tests.estimator.script.running import estimated

MODEL = """
import torch
from torch import nn

model = nn.Sequential(nn.Flatten(), nn.Linear({size}, 2)).cuda()
optimizer = {optimizer}
"""
PLAIN = "torch.optim.SGD(model.parameters(), lr=0.1)"
LOOP = """
for _ in range(2):
    loss = model({batch}.cuda()).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def trained(before, size, loop, optimizer=PLAIN):
    found = estimated(before + MODEL.format(size=size, optimizer=optimizer) + loop)
    assert found.memory is not None, found.unknowns
    assert found.mode.value == "training"
    return found


def test_an_engine_runs_its_function_over_the_data():
    step = """
def update(engine, batch):
    model(batch.cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    return engine.state.iteration

trainer = Engine(update)

@trainer.on(Events.ITERATION_COMPLETED(every=10))
def show(engine):
    print(engine.state.output)

trainer.add_event_handler(Events.EPOCH_COMPLETED, ModelCheckpoint("kept"), {"model": model})
trainer.run([torch.zeros(8, 32)] * 5, max_epochs=2)
"""
    imports = "from ignite.engine import Engine, Events\nfrom ignite.handlers import ModelCheckpoint\n"
    assert trained(imports, 32, step).config.batch_size.value == 8


def test_a_supervised_trainer_moves_batches_and_scales_under_amp():
    step = """
pairs = [(torch.zeros(8, 32), torch.zeros(8, dtype=torch.long))] * 5
create_supervised_trainer(model, optimizer, nn.functional.cross_entropy, device="cuda", amp_mode="amp", scaler=True).run(pairs)
"""
    found = trained("from ignite.engine import create_supervised_trainer\n", 32, step)
    assert (found.config.precision.value, found.config.batch_size.value) == ("amp-fp16", 8)


def test_metrics_keep_nothing_of_what_they_see():
    watched = """
import torchmetrics
from torchmetrics.classification import MulticlassF1Score
from torchmetrics.functional import accuracy
metrics = torchmetrics.MetricCollection([torchmetrics.Accuracy(task="multiclass", num_classes=2), MulticlassF1Score(2)]).to("cuda")
seen = torchmetrics.MeanMetric().cuda()
"""
    looks = """    seen(loss)
    metrics.update(model(torch.zeros(8, 32).cuda()), torch.zeros(8).cuda())
    accuracy(model(torch.zeros(8, 32).cuda()), torch.zeros(8), task="binary")
print(metrics.compute(), seen.compute())
"""
    plain = trained("", 32, LOOP.format(batch="torch.zeros(8, 32)"))
    found = trained(watched, 32, LOOP.format(batch="torch.zeros(8, 32)") + looks)
    assert found.memory.parameters == plain.memory.parameters
    assert found.unknowns == ()


def test_published_weights_prepare_images_of_the_side_that_they_were_trained_on():
    for name, side in (("ResNet50_Weights.IMAGENET1K_V2", 224), ("EfficientNet_B4_Weights.DEFAULT", 380)):
        folder = f"from torchvision import datasets, models\nimages = datasets.ImageFolder('images', models.{name}.transforms())\n"
        trained(folder, 3 * side * side, LOOP.format(batch="torch.stack([images[0][0]])"))


def test_the_librarys_adafactor_keeps_rows_and_columns():
    step = LOOP.format(batch="torch.zeros(8, 1024)")
    found = trained("from transformers.optimization import Adafactor\n", 1024, step, "Adafactor(model.parameters(), relative_step=True, lr=None)")
    assert found.config.optimizer.value == "adafactor"
    assert 0 < found.memory.components.optimizer_state <= 8 * 1024
