"""NumPy's named results of its factorizations, so that traced calls return the same types."""

from typing import Any

import numpy as np

_ONE = np.ones((1, 1))

EigResult: Any = type(np.linalg.eig(_ONE))
EighResult: Any = type(np.linalg.eigh(_ONE))
QRResult: Any = type(np.linalg.qr(_ONE))
SlogdetResult: Any = type(np.linalg.slogdet(_ONE))
SVDResult: Any = type(np.linalg.svd(_ONE))
