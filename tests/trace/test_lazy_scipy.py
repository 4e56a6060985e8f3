"""Tracing imports no part of SciPy that the program has not imported."""

import subprocess
import sys

PROGRAM = """
import sys
import numpy as np
import scipy
import scipy.special
import stagrad

before = {name for name in sys.modules if name.startswith("scipy.")}
stagrad.grad(lambda x: np.sum(np.sin(x)))(np.ones(3))
print(*sorted({"scipy.signal", "scipy.integrate", "scipy.optimize"} & set(sys.modules) - before))
"""


def test_tracing_imports_no_part_of_scipy_by_itself():
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
