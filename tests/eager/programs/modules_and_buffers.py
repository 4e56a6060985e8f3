"""What a Module holds: buffers, children, modes, hooks, state."""

import stagrad as torch
from stagrad import nn


class Scaled(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(size, size, bias=False) for _ in range(2)])
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("steps", torch.zeros(1))

    def forward(self, x):
        self.steps += 1
        for layer in self.layers:
            x = layer(x)
        return x * self.scale

    def extra_repr(self):
        return "size=2"


model = Scaled(2)
with torch.no_grad():
    for p in model.parameters():
        p.fill_(0.5)
print(model)
print([name for name, _ in model.named_parameters()], [name for name, _ in model.named_buffers()])
print([name for name, _ in model.named_modules()], [type(m).__name__ for m in model.children()])
print(model(torch.ones(1, 2)), model.steps)
print(list(model.state_dict()))
print(model.load_state_dict(model.state_dict()))
try:
    model.load_state_dict({"other": torch.ones(1)})
except RuntimeError as error:
    print(str(error).splitlines()[0])
handle = model.register_forward_hook(lambda module, inputs, output: print("ran", output.shape))
model(torch.ones(3, 2))
handle.remove()
model.eval()
print(model.training, model.layers[0].training, model.double().scale.dtype)
model.requires_grad_(False)
print(any(p.requires_grad for p in model.parameters()))
print(model.float().scale)
print(sum(p.numel() for p in model.parameters()), len(model.layers))
