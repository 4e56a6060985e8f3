"""Graph to graph, and graph to schedule: one pass per file, the order in one tuple."""

from stagrad.passes.runner import Lowering, lower, run

__all__ = ["Lowering", "lower", "run"]
