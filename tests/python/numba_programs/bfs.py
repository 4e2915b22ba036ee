"""Distances in a graph: a dict of lists, a set, a queue."""

from numba import njit


@njit
def distances(edges, start):
    graph = {}
    for a, b in edges:
        if a not in graph:
            graph[a] = [b]
        else:
            graph[a].append(b)
        if b not in graph:
            graph[b] = [a]
        else:
            graph[b].append(a)
    seen = {start}
    queue = [(start, 0)]
    out = {}
    while len(queue) > 0:
        node, steps = queue.pop(0)
        out[node] = steps
        for other in graph[node]:
            if other not in seen:
                seen.add(other)
                queue.append((other, steps + 1))
    return out


print(distances([(1, 2), (2, 3), (3, 4), (1, 5), (5, 4), (4, 6)], 1))
