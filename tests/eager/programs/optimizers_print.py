"""Optimizers and their options, as they print."""

import stagrad as torch
from stagrad import optim

x = torch.ones(2, requires_grad=True)
print(optim.SGD([x], lr=0.1, momentum=0.9))
print(optim.Adam([x], foreach=False))
print(optim.AdamW([{"params": [x]}], lr=1e-2, fused=None))
print(optim.RMSprop([x], centered=True, capturable=False))
print(sorted(optim.SGD([x], lr=0.1).state_dict()["param_groups"][0]))
