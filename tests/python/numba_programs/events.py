"""A queue of events: a heap in a list of tuples."""

from numba import njit


@njit
def push(heap, item):
    heap.append(item)
    i = len(heap) - 1
    while i > 0 and heap[i][0] < heap[(i - 1) // 2][0]:
        j = (i - 1) // 2
        heap[i], heap[j] = heap[j], heap[i]
        i = j


@njit
def pop(heap):
    top = heap[0]
    last = heap.pop()
    if len(heap) > 0:
        heap[0] = last
        i = 0
        while True:
            j = 2 * i + 1
            if j >= len(heap):
                break
            if j + 1 < len(heap) and heap[j + 1][0] < heap[j][0]:
                j += 1
            if heap[i][0] <= heap[j][0]:
                break
            heap[i], heap[j] = heap[j], heap[i]
            i = j
    return top


@njit
def simulate(until):
    heap = [(0.0, 0)]
    log = []
    while len(heap) > 0:
        time, kind = pop(heap)
        if time > until:
            break
        log.append((time, kind))
        push(heap, (time + 1.5, kind))
        if kind < 2:
            push(heap, (time + 0.7, kind + 1))
    return len(log), log[:6]


print(simulate(12.0))
