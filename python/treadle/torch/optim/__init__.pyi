# Written by tools/stubs/write.py from the package itself.
from . import lr_scheduler as lr_scheduler
from . import swa_utils as swa_utils
from treadle.torch.optim.adaptive import Adadelta as Adadelta
from treadle.torch.optim.adaptive import Adagrad as Adagrad
from treadle.torch.optim.adaptive import Adam as Adam
from treadle.torch.optim.adaptive import AdamW as AdamW
from treadle.torch.optim.adaptive import Adamax as Adamax
from treadle.torch.optim.adaptive import NAdam as NAdam
from treadle.torch.optim.adaptive import RAdam as RAdam
from treadle.torch.optim.adaptive import RMSprop as RMSprop
from treadle.torch.optim.lbfgs import LBFGS as LBFGS
from treadle.torch.optim.matrices import Adafactor as Adafactor
from treadle.torch.optim.matrices import Muon as Muon
from treadle.torch.optim.matrices import SparseAdam as SparseAdam
from treadle.torch.optim.optimizer import Optimizer as Optimizer
from treadle.torch.optim.sgd import ASGD as ASGD
from treadle.torch.optim.sgd import Rprop as Rprop
from treadle.torch.optim.sgd import SGD as SGD



__all__ = ['ASGD', 'Adadelta', 'Adafactor', 'Adagrad', 'Adam', 'AdamW', 'Adamax', 'LBFGS', 'Muon', 'NAdam', 'Optimizer', 'RAdam', 'RMSprop', 'Rprop', 'SGD', 'SparseAdam', 'lr_scheduler', 'swa_utils']
