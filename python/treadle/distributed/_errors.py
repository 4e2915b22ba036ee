"""What goes wrong between processes."""


class DistributedError(RuntimeError):
    """Processes did not do the same thing, or cannot find each other."""


class PeerError(DistributedError, ConnectionError):
    """A process of the group has gone, or does not answer: the group is broken and takes no more calls."""
