# A binary heap and a linked list as classes of jitclass.
import numpy as np
from numba import deferred_type, int64, njit, optional
from numba.experimental import jitclass


@jitclass([("data", int64[:]), ("size", int64)])
class Heap:
    def __init__(self, room):
        self.data = np.empty(room, np.int64)
        self.size = 0

    def push(self, x):
        i = self.size
        self.size += 1
        self.data[i] = x
        while i > 0 and self.data[(i - 1) // 2] > self.data[i]:
            up = (i - 1) // 2
            self.data[up], self.data[i] = self.data[i], self.data[up]
            i = up

    def pop(self):
        least = self.data[0]
        self.size -= 1
        self.data[0] = self.data[self.size]
        i = 0
        while True:
            child = 2 * i + 1
            if child >= self.size:
                break
            if child + 1 < self.size and self.data[child + 1] < self.data[child]:
                child += 1
            if self.data[i] <= self.data[child]:
                break
            self.data[i], self.data[child] = self.data[child], self.data[i]
            i = child
        return least

    @property
    def empty(self):
        return self.size == 0


node_type = deferred_type()


@jitclass([("data", int64), ("next", optional(node_type))])
class Node:
    def __init__(self, data, next):
        self.data = data
        self.next = next


node_type.define(Node.class_type.instance_type)


@njit
def heap_sort(a):
    heap, out = Heap(a.size), np.empty_like(a)
    for x in a:
        heap.push(x)
    i = 0
    while not heap.empty:
        out[i] = heap.pop()
        i += 1
    return out


@njit
def reverse(head):
    before = None
    while head is not None:
        rest = head.next
        head.next = before
        before = head
        head = rest
    return before


print(heap_sort((np.arange(12) * 7) % 12))
heap = Heap(3)
heap.push(5)
heap.push(2)
print(heap.pop(), heap.size, heap.empty)
head = None
for i in range(4):
    head = Node(i, head)
head = reverse(head)
while head is not None:
    print(head.data, end=" ")
    head = head.next
print()
