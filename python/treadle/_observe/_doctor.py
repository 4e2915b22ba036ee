"""treadle.doctor: what costs time in a program, at which line, and the change that would save it."""

import functools
import json
import sys

from . import _findings, _page
from ._seen import Seen


class doctor:
    """A context manager that watches a program and says what costs time, where, and what to change.

    ``print(d)`` shows the findings, and ``d.save("page.html")`` or ``d.save("found.json")`` writes them. ``d.findings``
    has those first that save most: id, line ("file.py:12"), code, calls, seconds, what, change, suggestion, saved
    (seconds; None: not known), measured, how. A saving is measured by trying both ways on arrays made for it, or
    estimated; each finding says which. Trials run when the with-statement ends and take some ten milliseconds each.

    Parameters
    ----------
    function : callable, optional
        Returned, watched at each call; what was found goes to standard error when the call returns.

    Raises
    ------
    RuntimeError
        It is open already.

    Examples
    --------
    >>> with np.doctor() as d:
    ...     total = float(np.ones(3).sum())
    >>> type(d.findings).__name__
    'list'
    """

    def __init__(self, function=None):
        self.seen, self.findings = Seen(), []
        self._function, self._open = function, False
        if function is not None:
            functools.update_wrapper(self, function)

    def __enter__(self):
        if self._open:
            raise RuntimeError("doctor: it is open already")
        self._open, self.seen = True, Seen()
        self.seen.__enter__()
        return self

    def __exit__(self, *exc):
        self._open = False
        self.seen.__exit__(*exc)
        self.findings = _findings.find(self.seen)
        return False

    def __call__(self, *args, **kwargs):
        if self._function is None:
            raise TypeError("doctor: there is no function to call: doctor(f)(…), or with doctor() as d: …")
        with self:
            r = self._function(*args, **kwargs)
        sys.stderr.write(f"{self}\n")
        return r

    def facts(self):
        """What was found as plain data, for JSON.

        Returns
        -------
        dict
            Lists, dicts, texts and numbers.

        Examples
        --------
        >>> with np.doctor() as d:
        ...     total = float(np.ones(3).sum())
        >>> type(d.facts()).__name__
        'dict'
        """
        return {"seconds": self.seen.seconds, "device": self.seen.device,
                "findings": [f.facts() for f in self.findings]}  # fmt: skip

    def text(self):
        """What was found as text.

        Returns
        -------
        str
            What print shows.

        Examples
        --------
        >>> with np.doctor() as d:
        ...     total = float(np.ones(3).sum())
        >>> type(d.text()).__name__
        'str'
        """
        n = len(self.findings)
        head = f"{n} thing{'s' * (n != 1)} to change" if n else "nothing to change was found"
        out = [f"treadle doctor: {head}, in {self.seen.seconds:.2f} s on {self.seen.device}"]
        for i, f in enumerate(self.findings, 1):
            out += ["", f"{i}. {f.line}  {f.what} ({millis(f.seconds)})"]
            out += [f"     {f.code}"] if f.code else []
            out += [f"   change: {f.change}"]
            out += [f"       {line}" for line in f.suggestion.splitlines()]
            out += [f"   saves {saving(f)}"]
        if self.seen.profile.dropped:
            out += [
                "",
                f"{self.seen.profile.dropped} records found no room: watch a part of the program with treadle.doctor()",
            ]
        return "\n".join(out)

    __str__ = text

    def save(self, path):
        """Write what was found into a file.

        Parameters
        ----------
        path : str or path
            A page where it ends in .html or .htm, else JSON.

        Raises
        ------
        OSError
            The file cannot be written.

        Examples
        --------
        >>> import os
        >>> with np.doctor() as d:
        ...     total = float(np.ones(3).sum())
        >>> d.save(os.devnull)
        """
        if str(path).endswith((".html", ".htm")):
            text = self.page()
        else:
            text = json.dumps(self.facts(), indent=1)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def page(self):
        """What was found as a page of HTML that needs no other file, with the timeline.

        Returns
        -------
        str
            The page.

        Examples
        --------
        >>> with np.doctor() as d:
        ...     total = float(np.ones(3).sum())
        >>> "<html" in d.page()
        True
        """
        sections = [_page.finding(f, saving(f), millis(f.seconds)) for f in self.findings]
        sections.append(_page.section("Timeline", _page.timeline(self.seen.profile)))
        sections.append(_page.section("What took the time", _page.profile_table(self.seen.profile)))
        return _page.page(self.text().partition("\n")[0], sections)


def millis(seconds):
    """Seconds as text in a suitable unit."""
    return f"{1e3 * seconds:.3g} ms" if seconds < 10 else f"{seconds:.1f} s"


def saving(f):
    """The text that says what a Finding's change saves."""
    if f.saved is None:
        return f"an unknown time: {f.how}"
    kind = "measured" if f.measured else "not measured"
    how = f.how if f.measured else f.how.removeprefix("an estimate").lstrip(":, ")
    return f"{millis(f.saved)} ({kind}: {how})" if f.measured else f"about {millis(f.saved)} (an estimate, {how})"


def whole_program(value):
    """Watches from now to the end of the process. value: "" writes text to standard error, "json" JSON; else it is a
    file's name."""
    import atexit
    import os

    d, pid = doctor(), os.getpid()
    d.__enter__()

    def finish():
        if os.getpid() != pid:  # this is a forked child: only the parent reports
            return
        d.__exit__(None, None, None)
        sys.stdout.flush()
        try:
            _write(d, value)
        except OSError as e:
            sys.stderr.write(f"--doctor={value}: {e}\n")

    atexit.register(finish)


def _write(d, value):
    if value == "json":
        sys.stderr.write(json.dumps(d.facts(), indent=1) + "\n")
    elif value:
        d.save(value)
        sys.stderr.write(d.text().partition("\n")[0] + f"; written to {value}\n")
    else:
        sys.stderr.write(f"\n{d}\n")
