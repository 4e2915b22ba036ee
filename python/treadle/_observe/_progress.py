"""Progress bars of long work (tqdm)."""


class Progress:
    """A bar of items and of bytes a second; on=False: nothing is shown.

    total: how many items; None: not known. ImportError: tqdm is not installed."""

    def __init__(self, on, total, title):
        self._bar = None
        self._bytes = 0
        if on:
            try:
                from tqdm.auto import tqdm
            except ImportError:
                raise ImportError("progress=True shows its bar with tqdm: pip install tqdm") from None
            self._bar = tqdm(total=total, desc=title, unit="items", unit_scale=True)

    def add(self, items, nbytes=0):
        """Count items as done, with the bytes that were read and written for them."""
        if self._bar is None:
            return
        self._bytes += nbytes
        self._bar.update(items)
        seconds = self._bar.format_dict["elapsed"]
        if nbytes and seconds:
            self._bar.set_postfix_str(f"{self._bar.format_sizeof(self._bytes / seconds)}B/s", refresh=False)

    def close(self):
        if self._bar is not None:
            self._bar.close()
            self._bar = None


NO_BAR = Progress(False, None, "")
