"""Which operations of a profiled graph wait for which."""

from recursive_tf.python.scheduling.profile import ProfiledGraph


def links_of(graph: ProfiledGraph) -> tuple[list[list[int]], list[int]]:
    """Returns what waits for each operation, and for how many others each waits."""
    successors: list[list[int]] = [[] for _ in graph.names]
    num_waits = [0] * len(graph.names)
    for first, second in graph.waits:
        successors[first].append(second)
        num_waits[second] += 1
    return successors, num_waits


def in_order(successors: list[list[int]], num_waits: list[int]) -> list[int]:
    """Returns all operations, each behind those that it waits for."""
    left = list(num_waits)
    order = [number for number, count in enumerate(left) if count == 0]
    for number in order:
        for successor in successors[number]:
            left[successor] -= 1
            if left[successor] == 0:
                order.append(successor)
    return order
