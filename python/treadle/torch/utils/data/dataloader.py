"""``DataLoader``: batches of a data set, made in this process or by worker processes."""

import weakref

from ... import _modules
from ._utils.collate import default_collate as default_collate
from ._utils.collate import default_convert as default_convert
from ._utils.worker import Failed, Pool, unpacked
from ._utils.worker import get_worker_info as get_worker_info
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler


class _Fetch:
    """Makes batches of items. For an iterable set, indices only say how many items to take."""

    def __init__(self, iterable, batched, collate):
        self.iterable, self.batched, self.collate = iterable, batched, collate

    def begin(self, dataset):
        self.dataset = dataset
        self.items = iter(dataset) if self.iterable else None

    def __call__(self, numbers):
        if self.iterable:
            return self._next(numbers)
        if not self.batched:
            return self.collate(self.dataset[numbers])
        if self.collate is default_collate and hasattr(self.dataset, "__batch__"):
            return self.dataset.__batch__(numbers)
        many = getattr(self.dataset, "__getitems__", None)
        return self.collate(many(numbers) if many else [self.dataset[i] for i in numbers])

    def _next(self, numbers):
        if not self.batched:
            return self.collate(next(self.items))
        found = [item for _, item in zip(numbers, self.items)]
        if not found or (len(found) < len(numbers) and self.drop_last):
            raise StopIteration
        return self.collate(found)

    drop_last = False


class _InfiniteConstantSampler(Sampler):
    """The sampler of an iterable set."""

    def __iter__(self):
        while True:
            yield 0


class DataLoader:
    """Batches of dataset: ``for batch in loader``.

    num_workers: the number of processes that load. multiprocessing_context ("fork", "spawn", a context; None: Python's
    default) starts them. A spawned process needs ``if __name__ == "__main__":`` in the script, and a data set that can
    be pickled. pin_memory is accepted; copies to a device go through pinned memory in any case.
    """

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        pin_memory_device="",
        in_order=True,
    ):
        self._check(num_workers, timeout, prefetch_factor, persistent_workers)
        iterable = isinstance(dataset, IterableDataset)
        given = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
        for name, value in given.items():
            if iterable and value is not None:
                raise ValueError(
                    f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
                )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
            )
        if batch_sampler is None and batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            sampler = (
                _InfiniteConstantSampler()
                if iterable
                else RandomSampler(dataset, generator=generator)
                if shuffle
                else SequentialSampler(dataset)
            )
        batch_size = None if batch_sampler is not None else batch_size
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.sampler, self.batch_sampler, self.generator = sampler, batch_sampler, generator
        self.num_workers, self.timeout, self.worker_init_fn = num_workers, timeout, worker_init_fn
        self.pin_memory, self.multiprocessing_context = pin_memory, multiprocessing_context
        self.prefetch_factor = prefetch_factor if prefetch_factor or not num_workers else 2
        self.persistent_workers, self._iterable, self._pool = persistent_workers, iterable, None
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self._fixed = True

    _fixed = False  # is the order of batches settled?
    _auto_collation = property(lambda self: self.batch_sampler is not None, doc="Are samples put into batches?")

    _ORDER = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")

    def __setattr__(self, name, value):
        if self._fixed and name in self._ORDER:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @staticmethod
    def _check(num_workers, timeout, prefetch_factor, persistent_workers):
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to "
                "enable multiprocessing, otherwise set prefetch_factor to None."
            )
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")

    @property
    def _index_sampler(self):  # PyTorch's name
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __len__(self):
        if not self._iterable:
            return len(self._index_sampler)
        n = len(self.dataset)
        return n if self.batch_size is None else n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    def _fetch(self):
        fetch = _Fetch(self._iterable, self.batch_sampler is not None, self.collate_fn)
        fetch.drop_last = self.drop_last
        return fetch

    def __iter__(self):
        return self._get_iterator()

    def _get_iterator(self):  # libraries' subclasses override it
        return self._here() if self.num_workers == 0 else self._elsewhere()

    def _here(self):
        fetch = self._fetch()
        fetch.begin(self.dataset)
        for numbers in self._index_sampler:
            try:
                batch = fetch(numbers)
            except StopIteration:
                return
            yield batch

    def _workers(self):
        if self._pool is None:
            pool = Pool(
                self.num_workers,
                self.multiprocessing_context,
                self.dataset,
                self._fetch(),
                self.worker_init_fn,
                self.timeout,
                self.generator,
            )
            pool.fresh, pool.asked = True, 0
            if not self.persistent_workers:
                return pool
            self._pool = pool
            weakref.finalize(self, pool.close)
        return self._pool

    def _elsewhere(self):
        pool = self._workers()
        try:
            yield from self._ordered(pool)
        finally:
            if pool is not self._pool:
                pool.close()

    def _ordered(self, pool):
        """Batches in the order of their numbers. Each worker has up to prefetch_factor tasks ahead."""
        numbers, first = iter(self._index_sampler), pool.asked
        again = [self._iterable and not pool.fresh] * self.num_workers
        pool.fresh = False
        busy, ready, ended, want = list(range(self.num_workers)), {}, set(), first

        def ask():
            """Give a task to the next worker whose data set has not ended."""
            alive = [w for w in busy if w not in ended]
            items = next(numbers, None) if alive else None
            if items is None:
                return False
            worker = alive[0]
            busy.remove(worker)
            busy.append(worker)
            pool.ask(worker, pool.asked, items, again[worker])
            again[worker] = False
            pool.asked += 1
            return True

        for _ in range(self.prefetch_factor * self.num_workers):
            ask()
        while want < pool.asked:
            while want not in ready:
                worker, number, answer = pool.answer()
                if number >= first:  # others belong to an abandoned iteration
                    ready[number] = worker, answer
            worker, answer = ready.pop(want)
            want += 1
            if answer is StopIteration:
                ended.add(worker)
                ask()
                continue
            ask()
            if isinstance(answer, Failed):
                answer.raise_()
            yield unpacked(answer)


__getattr__, __dir__ = _modules.refusing("torch.utils.data.dataloader")
