"""The pytest plugin that installs the shim before any test module is imported."""

import os

from tests.cases.outside.autograd_shim import BACKENDS, install

install(BACKENDS[os.environ["AUTOGRAD_SHIM"]]())
