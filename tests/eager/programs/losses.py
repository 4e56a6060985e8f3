"""Losses, as functions and as modules, and their gradients."""

import stagrad as torch
from stagrad import nn
from stagrad.nn import functional as F

scores = torch.tensor([[2.0, 1.0, 0.1], [0.5, 2.5, 0.3]], requires_grad=True)
labels = torch.tensor([0, 2])
for loss in (
    F.cross_entropy(scores, labels),
    F.nll_loss(F.log_softmax(scores, dim=1), labels),
    nn.CrossEntropyLoss(label_smoothing=0.1)(scores, labels),
    nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 3.0]))(scores, labels),
    F.mse_loss(scores, torch.zeros(2, 3)),
    F.l1_loss(scores, torch.zeros(2, 3), reduction="sum"),
    F.smooth_l1_loss(scores, torch.zeros(2, 3)),
    F.huber_loss(scores, torch.zeros(2, 3)),
    F.binary_cross_entropy(torch.sigmoid(scores), torch.ones(2, 3)),
    nn.BCEWithLogitsLoss()(scores, torch.ones(2, 3)),
    F.kl_div(F.log_softmax(scores, 1), torch.full((2, 3), 1 / 3), reduction="batchmean"),
    F.cosine_similarity(scores[0], scores[1], dim=0),
    F.margin_ranking_loss(scores[0], scores[1], torch.ones(3)),
    F.softplus(scores).sum(),
    F.gelu(scores).sum(),
    F.silu(scores).sum(),
    F.leaky_relu(-scores).sum(),
    F.elu(-scores).sum(),
):
    scores.grad = None
    loss.backward()
    print(loss, scores.grad)
print(F.one_hot(labels, num_classes=4), F.normalize(scores.detach(), dim=1))
print(F.cross_entropy(scores, labels, reduction="none"))
