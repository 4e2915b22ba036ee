# Written by tools/stubs/write.py from the package itself.
from . import cuda as cuda
from . import cudnn as cudnn
from . import mkl as mkl
from . import mkldnn as mkldnn
from . import mps as mps
from . import openmp as openmp
from . import opt_einsum as opt_einsum



__all__ = ['cuda', 'cudnn', 'mkl', 'mkldnn', 'mps', 'openmp', 'opt_einsum']
