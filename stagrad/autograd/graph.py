"""Nodes, edges and saved tensors of the dynamic graph, under PyTorch's names."""

from stagrad.eager.graph import (
    GradientEdge,
    get_gradient_edge,
    save_on_cpu,
    saved_tensors_hooks,
)
from stagrad.eager.node import Node

__all__ = ["GradientEdge", "Node", "get_gradient_edge", "save_on_cpu", "saved_tensors_hooks"]
