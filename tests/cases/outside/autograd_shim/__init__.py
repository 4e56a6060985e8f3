"""A module tree named `autograd` whose derivatives come from another library.

Code written for HIPS autograd (its own test suite, its examples, lifelines, pymanopt) runs on it
unmodified: `install` puts the tree into `sys.modules`, after which `import autograd.numpy as np`
and the rest find it. As a pytest plugin (`-p tests.cases.outside.autograd_shim.plugin`) it installs
the library that the environment variable AUTOGRAD_SHIM names.
"""

from tests.cases.outside.autograd_shim.backends import BACKENDS, Backend
from tests.cases.outside.autograd_shim.modules import install

__all__ = ["BACKENDS", "Backend", "install"]
