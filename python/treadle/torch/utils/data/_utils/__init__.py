"""What loaders are made of: batches of items, and worker processes."""

from . import collate as collate
from . import worker as worker
