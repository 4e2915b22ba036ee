"""Collectives as functions: those of a group, by default of the one of all processes."""

from ._process import _group


def broadcast(a, root=0, *, out=None, group=None, wait=True):
    """One process's array, on all of them.

    Parameters
    ----------
    a : ndarray
        The array; elsewhere it gives shape and dtype, and its values do not matter.
    root : int, default 0
        The process whose values are taken.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    ndarray or Work
        Of a's shape and dtype.

    Raises
    ------
    PeerError
        A process has gone.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.broadcast(np.ones(2))
    array([1., 1.])
    >>> distributed.finalize()
    """
    return _group(group).broadcast(a, root, out=out, wait=wait)


def all_reduce(a, op="sum", *, out=None, group=None, wait=True):
    """The sum of all processes' arrays, or another reduction: the same bits everywhere.

    Parameters
    ----------
    a : ndarray
        Of one shape and dtype everywhere.
    op : {"sum", "prod", "min", "max", "mean"}, default 'sum'
        The reduction.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    ndarray or Work
        Of a's shape and dtype.

    Raises
    ------
    ValueError
        op is another word.
    PeerError
        A process has gone.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.all_reduce(np.ones(2), "mean")
    array([1., 1.])
    >>> distributed.finalize()
    """
    return _group(group).all_reduce(a, op, out=out, wait=wait)


def all_reduce_(arrays, op="sum", *, group=None, wait=True):
    """all_reduce of several arrays at once, in place: between GPUs one launch, elsewhere one message for each dtype.

    Parameters
    ----------
    arrays : list of ndarrays
        Each gets its result.
    op : {"sum", "prod", "min", "max", "mean"}, default 'sum'
        The reduction.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    list of ndarrays or Work
        The same list; with wait=False nothing may use the arrays before the Work's wait().

    Raises
    ------
    ValueError
        op is another word.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.all_reduce_([np.ones(2)])
    [array([1., 1.])]
    >>> distributed.finalize()
    """
    return _group(group).all_reduce_(arrays, op, wait=wait)


def reduce(a, op="sum", root=0, *, out=None, group=None, wait=True):
    """all_reduce, of which one process alone has the values.

    Parameters
    ----------
    a : ndarray
        Of one shape and dtype everywhere.
    op : {"sum", "prod", "min", "max", "mean"}, default 'sum'
        The reduction.
    root : int, default 0
        The process that has the result; elsewhere the values are undefined.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    ndarray or Work
        Of a's shape and dtype.

    Raises
    ------
    ValueError
        op is another word.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.reduce(np.ones(2))
    array([1., 1.])
    >>> distributed.finalize()
    """
    return _group(group).reduce(a, op, root, out=out, wait=wait)


def all_gather(a, *, out=None, group=None, wait=True):
    """All processes' arrays, stacked.

    Parameters
    ----------
    a : ndarray
        Of one shape and dtype everywhere.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    ndarray or Work, shape (size, *a.shape)
        Row r is process r's array.

    Raises
    ------
    PeerError
        A process has gone.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.all_gather(np.ones(2)).shape
    (1, 2)
    >>> distributed.finalize()
    """
    return _group(group).all_gather(a, out=out, wait=wait)


def reduce_scatter(a, op="sum", *, out=None, group=None, wait=True):
    """Row r of all processes' arrays reduced, on process r.

    Parameters
    ----------
    a : ndarray, shape (size, ...)
        A row for each process.
    op : {"sum", "prod", "min", "max", "mean"}, default 'sum'
        The reduction.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    ndarray or Work, shape a.shape[1:]
        This process's row.

    Raises
    ------
    ValueError
        a's first axis is not the number of processes.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.reduce_scatter(np.ones((1, 2)))
    array([1., 1.])
    >>> distributed.finalize()
    """
    return _group(group).reduce_scatter(a, op, out=out, wait=wait)


def all_to_all(a, *, out=None, group=None, wait=True):
    """Rows exchanged: row r goes to process r, and row r of the result came from there.

    Parameters
    ----------
    a : ndarray, shape (size, ...)
        A row for each process.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    ndarray or Work
        Of a's shape.

    Raises
    ------
    ValueError
        a's first axis is not the number of processes.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.all_to_all(np.ones((1, 2)))
    array([[1., 1.]])
    >>> distributed.finalize()
    """
    return _group(group).all_to_all(a, out=out, wait=wait)


def gather(a, root=0, *, out=None, group=None, wait=True):
    """all_gather, of which one process alone gets the arrays.

    Parameters
    ----------
    a : ndarray
        Of one shape and dtype everywhere.
    root : int, default 0
        The process that gets them.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    ndarray, Work or None, shape (size, *a.shape)
        None elsewhere.

    Raises
    ------
    PeerError
        A process has gone.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.gather(np.ones(2)).shape
    (1, 2)
    >>> distributed.finalize()
    """
    return _group(group).gather(a, root, out=out, wait=wait)


def scatter(a, root=0, *, like=None, out=None, group=None, wait=True):
    """Row r of one process's array, on process r.

    Parameters
    ----------
    a : ndarray, shape (size, ...), or None
        The rows; None elsewhere.
    root : int, default 0
        The process that has them.
    like : ndarray, optional
        Gives shape and dtype of a row, elsewhere.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    ndarray or Work
        This process's row.

    Raises
    ------
    ValueError
        a's first axis is not the number of processes.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.scatter(np.ones((1, 2)))
    array([1., 1.])
    >>> distributed.finalize()
    """
    return _group(group).scatter(a, root, like=like, out=out, wait=wait)


def send(a, peer, *, group=None, wait=True):
    """Send an array to one process, which receives it with recv.

    Parameters
    ----------
    a : ndarray
        The array.
    peer : int
        The process.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    None or Work
        A Work with wait=False.

    Raises
    ------
    ValueError
        peer is this process or nobody.

    Examples
    --------
    >>> from treadle import distributed
    >>> callable(distributed.send)
    True
    """
    return _group(group).send(a, peer, wait=wait)


def recv(like, peer, *, out=None, group=None, wait=True):
    """What one process sends.

    Parameters
    ----------
    like : ndarray
        Gives shape and dtype.
    peer : int
        The process.
    out : ndarray, optional
        Takes the result and is returned: an array of treadle's or NumPy's with the result's shape.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    ndarray or Work
        Of like's shape and dtype.

    Raises
    ------
    ValueError
        peer is this process or nobody.

    Examples
    --------
    >>> from treadle import distributed
    >>> callable(distributed.recv)
    True
    """
    return _group(group).recv(like, peer, out=out, wait=wait)


def exchange(sends, likes, *, group=None, wait=True):
    """Several sends and receives at once.

    Parameters
    ----------
    sends : list of pairs (ndarray, peer)
        What goes where.
    likes : list of pairs (ndarray, peer)
        Shape and dtype of what comes, and from where.
    group : Group, optional
        The processes that take part; None means all.
    wait : bool, default True
        False returns a Work at once; its array may be used after its wait().

    Returns
    -------
    list of ndarrays or Work
        What came, in the order of likes.

    Raises
    ------
    ValueError
        A peer is this process or nobody.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.exchange([], [])
    []
    >>> distributed.finalize()
    """
    return _group(group).exchange(sends, likes, wait=wait)


def barrier(group=None):
    """Return when all processes have called it.

    Parameters
    ----------
    group : Group, optional
        The processes that take part; None means all.

    Raises
    ------
    PeerError
        A process has gone.

    Examples
    --------
    >>> from treadle import distributed
    >>> group = distributed.init("local", "cpu")
    >>> distributed.barrier()
    >>> distributed.finalize()
    """
    _group(group).barrier()
