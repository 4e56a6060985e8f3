"""Errors a beginner meets, in PyTorch's words."""

import stagrad as torch


def attempt(function, kind=RuntimeError):
    try:
        function()
    except (RuntimeError, IndexError, TypeError) as error:
        print(isinstance(error, kind), str(error).splitlines()[0])


x = torch.tensor([1.0, 2.0], requires_grad=True)
attempt(lambda: torch.tensor([1.0]).backward())
attempt(lambda: x.numpy())
attempt(lambda: (x * 2).requires_grad_(False))
attempt(lambda: torch.ones(2) + torch.ones(3))
attempt(lambda: torch.ones(2, 3) @ torch.ones(2, 3))
attempt(lambda: torch.ones(2, 3).view(4))
attempt(lambda: torch.ones(3)[5], IndexError)
attempt(lambda: torch.ones(2, 3).sum(dim=2), IndexError)
attempt(lambda: bool(torch.ones(2)))
attempt(lambda: x.item())
attempt(lambda: torch.cat([torch.ones(2, 2), torch.ones(3, 3)]))
attempt(lambda: (x * 2).backward(torch.ones(3)))
attempt(lambda: torch.zeros(2).expand(3))
attempt(lambda: torch.arange(6).reshape(4, 2))
