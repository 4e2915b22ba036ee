# Written by tools/stubs/write.py from the package itself.
from treadle.torch.hub import load_state_dict_from_url as load_url



__all__ = ['load_url']
