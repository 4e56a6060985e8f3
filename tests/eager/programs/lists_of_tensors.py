"""Loops over tensors, comprehension, sorting by value, and Python's own protocols."""

import math

import stagrad as torch

rows = torch.arange(6.0).view(3, 2)
for row in rows:
    print(row, row.sum().item())
print([r.tolist() for r in rows], len(rows), sum(rows), max(rows[:, 0]), sorted(rows[2]))
print(list(map(float, rows[1])), math.sqrt(rows[2, 0]), int(rows[1, 1]), bool(rows[0, 1] > 0))
print(
    torch.tensor([len(rows), 2.5]), torch.stack([r * 2 for r in rows]), rows[0].tolist() == [0, 1]
)
a, b = rows[0]
print(a, b, a == b, a < b, a.item() + b.item())
print(rows[torch.tensor(1)], rows[[True, False, True]], rows[rows[:, 0] > 1], rows[-1, -1])
print(rows.shape[0], *rows.shape, rows.size(-1), rows.ndim, rows.dim(), tuple(rows.shape))
print(f"{rows[0, 1]:.2f} {rows.mean():.3f}", str(rows[0]), hash(rows) == hash(rows), rows is rows)
print(1.0 in rows, 9.0 in rows)
total = 0
for value in rows.flatten():
    total += value
print(total, total.dtype, -rows[0], +rows[0], rows[0] // 2, divmod(7, 2), rows[1] % 2)
d = {"w": torch.zeros(1), "b": torch.ones(1)}
print({k: v + 1 for k, v in d.items()}, (rows == rows).all().item(), not rows[0, 0])
print(range(torch.tensor(3)), [10, 20, 30][torch.tensor(1)])
