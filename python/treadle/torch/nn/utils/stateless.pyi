# Written by tools/stubs/write.py from the package itself.
from treadle.torch.func import functional_call as functional_call



__all__ = ['functional_call']
