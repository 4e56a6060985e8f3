"""stagrad's NumPy target: the same programs where there is no C compiler."""

import functools

from benchmarks.peers import stagrad_peer

VENV = "stagrad"
build = functools.partial(stagrad_peer.build, backend="numpy")
