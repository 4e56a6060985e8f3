"""Layers with weights set by hand: normalisation, embedding, attention, recurrence."""

import stagrad as torch
from stagrad import nn


def fill(module):
    with torch.no_grad():
        for number, p in enumerate(module.parameters()):
            p.copy_(torch.sin(torch.arange(p.numel()) + number * 2.0).view(p.shape) / 2)
    return module


x = (torch.arange(12.0) / 6).view(2, 3, 2)
print(nn.LayerNorm(2)(x))
print(fill(nn.LayerNorm([3, 2]))(x))
bn = nn.BatchNorm1d(3)
print(bn(x))
print(bn.running_mean, bn.running_var, bn.num_batches_tracked)
bn.eval()
print(bn(x))
embedding = fill(nn.Embedding(5, 3))
print(embedding(torch.tensor([[1, 2], [4, 1]])))
embedding(torch.tensor([1, 1, 2])).sum().backward()
print(embedding.weight.grad)
lstm = fill(nn.LSTM(2, 2, batch_first=True))
out, (h, c) = lstm(x)
print(out)
print(h, c)
attention = fill(nn.MultiheadAttention(2, 1, batch_first=True))
out, weights = attention(x, x, x)
print(out, weights)
dropout = nn.Dropout(0.5).eval()
print(dropout(x).equal(x), dropout)
print(nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Dropout(0.1)), nn.Conv2d(1, 2, (3, 5), stride=2))
print(nn.Flatten()(x).shape, nn.Identity()(x).shape, nn.Softmax(dim=-1)(x)[0])
