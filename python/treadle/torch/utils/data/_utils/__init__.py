"""The parts of loaders: collating items into batches, and worker processes."""

from . import collate as collate
from . import worker as worker
