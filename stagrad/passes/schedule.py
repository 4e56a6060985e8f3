"""Lower a graph to a Schedule: buffers, and the steps that fill them, in order."""

from stagrad.ir import Graph, Kind, Node, constant_p, input_p, project_p
from stagrad.ir.kernel import Buffer, Copy, LibraryCall, Role, Schedule, Step, View
from stagrad.ir.naming import Names, name_nodes


def schedule(graph: Graph) -> Schedule:
    """Return the schedule of a graph."""
    return _Scheduler(graph).run()


class _Scheduler:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.names = Names()
        self.node_names = name_nodes(graph.nodes, self.names)
        self.buffers: dict[Node, Buffer] = {}
        self.roots: dict[Buffer, Buffer] = {}
        self.steps: list[Step] = []

    def run(self) -> Schedule:
        """Lower node by node."""
        for node in self.graph.nodes:
            if node.primitive is input_p:
                self._buffer(node, Role.INPUT)
            elif node.primitive is constant_p:
                self._buffer(node, Role.CONSTANT)
            elif node.primitive is not project_p:
                self._step(node)
        outputs = tuple(self._outputs())
        return Schedule(
            inputs=tuple(self.buffers[node] for node in self.graph.inputs),
            constants=tuple(
                self.buffers[node] for node in self.graph.nodes if node.primitive is constant_p
            ),
            steps=tuple(self.steps),
            outputs=outputs,
        )

    def _buffer(self, node: Node, role: Role) -> Buffer:
        buffer = Buffer(self.node_names[node], node.aval, role, node)
        self.buffers[node] = buffer
        return buffer

    def _step(self, node: Node) -> None:
        operands = tuple(self.buffers[operand] for operand in node.inputs)
        if node.primitive.view is not None and node.primitive.kind is Kind.MOVEMENT:
            result = self._buffer(node, Role.VIEW)
            self.roots[result] = self.roots.get(operands[0], operands[0])
            self.steps.append(View(node.primitive, operands[0], result, node.params, node))
            return
        if node.primitive.multiple:
            results = self._parts(node)
        else:
            results = (self._buffer(node, Role.TEMPORARY),)
        self.steps.append(LibraryCall(node.primitive, operands, results, node.params, node))

    def _parts(self, node: Node) -> tuple[Buffer, ...]:
        """Return one buffer per result; parts that nobody takes get one of their own."""
        parts = {
            user.params["index"]: user
            for user in self.graph.users[node]
            if user.primitive is project_p
        }
        buffers = []
        for index, aval in enumerate(node.avals):
            part = parts.get(index)
            if part is None:
                buffers.append(Buffer(self.names.generated("v"), aval, Role.TEMPORARY, node))
            else:
                buffers.append(self._buffer(part, Role.TEMPORARY))
        return tuple(buffers)

    def _outputs(self) -> list[Buffer]:
        """Return the outputs' buffers, copying what would share memory with something else."""
        given: set[Buffer] = set()
        outputs = []
        for node in self.graph.outputs:
            buffer = self.buffers[node]
            root = self.roots.get(buffer, buffer)
            owned = root.role is Role.TEMPORARY and buffer.aval.size == root.aval.size
            if not owned or root in given:
                copy = Buffer(self.names.generated("v"), buffer.aval, Role.OUTPUT, node)
                self.steps.append(Copy(buffer, copy))
                buffer = copy
            given.add(self.roots.get(buffer, buffer))
            outputs.append(buffer)
        return outputs
