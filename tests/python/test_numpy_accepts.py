"""What NumPy accepts and what it refuses: the same calls of both libraries give the same values, dtypes and shapes, or
exceptions of one kind."""

import numpy as np
import pytest
from numpy_side import same_call

pytestmark = [
    pytest.mark.skipif(np.__version__ < "2.4", reason="the rows are what NumPy 2.4 does"),
    pytest.mark.filterwarnings("ignore"),
]

# A line calls np, which is either library, over host's (NumPy's) arrays or its own; its last part is compared.
COMPARED = """
np.array([1,2]) == None
np.array([1,2]) != None
np.array([1,2]) == 'a'
np.array([1,2]) != 'a'
np.array([1,2]) == object()
np.array([1,2]) != object()
np.array([1,2]) == [None, 1, 2]
np.array([1,2,3]) == [None, 2, 2]
np.array([1,2]) < None
np.array(1) == None
np.array([]) == None
np.array([1,2]) == ['1','2']
np.array([1,2]) == (1,3)
np.array([1,2]) == [1,2,3]
np.array([1,2]) == []
np.array([1,2]) == {}
np.array([1,2]) != {}
np.array([1,2]) == {1:2}
np.array([1,2]) == b'a'
np.array([1,2]) == slice(1)
np.array([1,2]) == Ellipsis
np.array([1,2]) == int
np.array([1,2]) == host.array([1,None],object)
np.array([1,2]) == host.array(['1','2'])
np.array([1,2]) != host.array(['1','2'])
np.array([1,2]) == [[1],[2]]
np.array([1,2]) == [[1],[2,3]]
np.array([1,2]) == [1,[2]]
np.array([[1,2],[3,4]]) == None
np.zeros((0,2)) != None
np.array(True) == 'a'
np.array([1,2]) == host.str_('a')
np.array([1,2]) == host.datetime64('2020-01-01')
np.array([1,2]) == 2**70
np.array([1,2]) == set()
np.array([1,2]) == {1}
np.array([1,2]) == frozenset()
np.array([1,2]) == (lambda: 1)
np.array([1,2]) == range(2)
np.array([1,2]) == bytearray(b'ab')
np.array([1,2]) == NotImplemented
np.array([1,2]) == host.dtype('f4')
np.array([1,2]) == __import__('fractions').Fraction(1)
np.array([1,2]) < [None, 1]
None == np.array([1,2])
'a' != np.array([1,2])
[None, 2] == np.array([1,2])
np.array([1,2]).__eq__(None)
None in np.array([1,2])
'a' in np.array([1,2])
np.array([[1,2]]) == 'ab'
"""
CHOSEN = """
np.clip(np.array([3],'u1'), 1, 300, dtype='i8')
np.select([np.array([True,False]), np.array([False,True])], [np.array([1,2]), np.array([3,4])])
np.select([[True,False],[False,True]], [[1,2],[3,4]])
np.select([np.array([True,False])], [[1,2]], 7)
np.select(np.array([[True,False],[False,True]]), np.array([[1,2],[3,4]]))
np.select([np.array([True,False])], [1.5])
np.select([], [])
np.select([np.array([1,0])], [1.5])
np.digitize(np.array([1.,2.,host.nan]), np.array([1.,2.,host.nan]))
np.digitize([0.5,1.5,host.nan], [0.,1.,host.nan])
np.digitize([0.5,1.5,host.nan], [0.,1.,host.nan], right=True)
np.digitize([0.5,1.5,host.nan], [host.nan,1.,0.])
np.digitize([0.5,1.5,host.nan], [2.,1.,0.])
np.digitize([0.5], [2.,1.,3.])
np.digitize([0.5,3], [2,2,2])
np.digitize([0.5], [])
np.digitize([1j], [1.])
x = np.arange(4.); np.put(x, [0.,1.], 5); x
x = np.arange(4.); x.put([0,1], [5.,6.]); x
x = np.arange(4); np.put(x, [0,1], [5.5,6.5]); x
np.take(np.arange(4.), [0.,1.])
np.take(np.arange(4.), [0,1])
np.take([4.,5.,6.], [0,1])
np.take(np.arange(4.), [True,False])
np.take(np.arange(4.), [])
np.arange(4.).take([])
np.roll(np.arange(4), np.array(1))
np.roll(np.arange(4), np.array([1]))
np.roll(np.arange(4), np.array([1,2]))
np.roll(np.arange(4).reshape(2,2), np.array([1,2]), axis=(0,1))
np.roll(np.arange(4).reshape(2,2), (1,), axis=(0, 1))
np.roll(np.arange(4).reshape(2,2), 1, axis=(0, 1))
np.roll(np.arange(4).reshape(2,2), (1,1), axis=0)
np.roll(np.arange(4).reshape(2,2), (1,1))
np.roll(np.arange(4).reshape(2,2), (1,1,1), axis=(0,1))
np.roll(np.arange(4).reshape(2,2), 1.0)
np.roll(np.arange(4).reshape(2,2), 1, axis=2)
np.roll(np.arange(4).reshape(2,2), [1,0], axis=[0,1])
np.take([4.,5.,6.], [1.7])
np.digitize([0.5,1.5], [1.,host.nan,2.])
np.digitize([0.5,1.5], [1.,host.nan,2.,3.])
np.digitize([0.5,1.5], [host.nan,1.,2.])
np.digitize([0.5,1.5], [host.nan,host.nan])
np.digitize([0.5,1.5], [3])
np.digitize([0.5,1.5], [1,1])
np.digitize([0.5,1.5], [1,1,0,0])
np.digitize([0.5,1.5], [1,1,2,2])
np.digitize(np.zeros((2,0)), [1,1,2,2])
np.digitize(1.5, [1,2])
np.roll(np.arange(4), [1,2])
np.roll(np.arange(4), ())
np.roll(np.arange(4), [[1]])
np.roll(np.arange(4).reshape(2,2), [[1]], axis=0)
np.roll(np.arange(4).reshape(2,2), 1, axis=(0,0))
np.roll(np.arange(4).reshape(2,2), (1,2), axis=(0,0))
np.roll(np.arange(0), 1)
np.roll(np.array(5), 1)
np.roll(np.arange(4), 1.7)
np.roll(np.arange(4), np.array(1), axis=np.array(0))
np.roll(np.arange(4).reshape(2,2), host.array([1,1]), axis=host.array([0,1]))
np.roll(np.arange(4), -1)
np.roll(np.arange(4), 2**40)
np.select([np.array([[True,False]])], [np.array([[1],[2]])], np.array([5,6]))
np.take(np.arange(3), [None])
np.take(np.arange(3), 1.0)
np.clip(np.arange(3), 1)
np.clip(np.arange(3), None, 1)
np.clip(np.arange(3), None, None)
np.clip(np.arange(3), max=1)
np.clip(np.arange(3), min=1)
np.clip(np.arange(3))
np.clip(np.arange(3), a_min=1)
np.clip(np.arange(3), a_max=1)
np.clip(np.arange(3), 1, 2, min=1)
np.arange(3).clip()
np.arange(3).clip(1)
np.arange(3).clip(max=1)
np.choose([0,1], [[1,2],[3,4]], mode='foo')
np.choose([0,1], [[1,2],[3,4]])
np.choose([0,5], [[1,2],[3,4]])
np.choose([0,5], [[1,2],[3,4]], mode='wrap')
np.choose([0,5], [[1,2],[3,4]], mode='clip')
np.choose([0,5], [[1,2],[3,4]], mode=None)
np.take(np.arange(3), [0,5], mode='foo')
np.put(np.arange(3), [0,5], 1, mode='foo')
np.array([0,1]).choose([[1,2],[3,4]], mode='foo')
np.clip(5, 1, 3, dtype='u1')
np.clip(np.array([3.7]), 1, 3, dtype='f4')
np.clip(np.array([3,300]), 1, 30, dtype='u1', casting='unsafe')
np.clip(np.array([3,300]), 1, 30, out=np.zeros(2), dtype='f8')
np.clip(np.array([3,300]), 1, 30, out=np.zeros(2), where=np.array([True,False]))
np.array([3,300]).clip(1, 30, dtype='f8')
"""
JOINED = """
np.hstack([np.arange(2.), np.arange(2)], dtype='i4')
np.hstack([np.arange(2.), np.arange(2)], dtype='i4', casting='unsafe')
np.vstack([np.arange(2.), np.arange(2)], dtype='i4')
np.vstack([np.arange(2.), np.arange(2)], dtype='i4', casting='unsafe')
np.stack([np.arange(2.), np.arange(2)], dtype='i4')
np.stack([np.arange(2.), np.arange(2)], dtype='i4', casting='unsafe')
np.stack([np.arange(2.), np.arange(2)], casting='no')
np.hstack([np.arange(2.), np.arange(2)], casting='safe', dtype='f4')
np.concatenate([np.arange(2.), np.arange(2)], dtype='i4')
np.concatenate([np.arange(2.), np.arange(2)], casting='no')
np.concatenate([np.arange(2.), np.arange(2)], casting='bogus')
np.hstack([np.arange(2.), np.arange(2)], casting='bogus')
np.stack([np.arange(2.), np.arange(2)], casting='bogus')
np.vstack([np.arange(2.), np.arange(2)], casting='bogus')
"""
SHAPED = """
np.zeros(host.array(3))
np.zeros(np.array(3))
np.zeros(host.array([2,3]))
np.zeros(np.array([2,3]))
np.zeros([2,3])
np.zeros(host.int8(2))
np.zeros(2.0)
np.zeros((2.0,))
np.zeros(host.array(2.0))
np.zeros(True)
np.zeros((host.array(2), 3))
np.zeros(-1)
np.zeros((-1,2))
np.zeros('3')
np.zeros(None)
np.zeros(())
np.zeros([])
np.ones(host.array(3))
np.full(host.array(3), 2)
np.full(np.array([3]), 2)
np.reshape(np.arange(6), host.array(6))
np.arange(6).reshape(host.array(6))
np.arange(6).reshape(host.array([2,3]))
np.arange(6).reshape(np.array([2,3]))
np.arange(6).reshape([2,3])
np.arange(6).reshape(2.0, 3)
np.arange(6).reshape(None)
np.arange(6).reshape()
np.arange(6).reshape((-1,-1))
np.arange(6).reshape(4)
np.broadcast_to(np.arange(3), host.array([2,3]))
np.broadcast_to(np.arange(3), host.array(3))
np.broadcast_to(np.arange(3), 3)
np.ndarray((2,), 'f8').shape
np.ndarray((2,), 'f8', buffer=host.array([1.,2.,3.]))
np.ndarray((2,), 'f8', buffer=host.array([1.,2.,3.]), offset=8)
np.ndarray((2,), 'f8', buffer=host.array([1.,2.,3.]), strides=(16,))
np.ndarray((2,2), 'f8', host.arange(4.), 0, None, 'F')
np.ndarray(2, buffer=host.arange(4.))
np.ndarray((2,), 'i4', buffer=b'abcdefgh')
np.ndarray((9,), 'f8', buffer=host.arange(4.))
np.ndarray(shape=(2,), dtype=int).shape
np.ndarray(host.array(2)).shape
np.ndarray()
np.ndarray('a')
np.full(2, 1j, dtype='float32')
np.full(2, 1.5, dtype='i4')
np.full(2, host.nan, dtype='i4')
np.full(2, 300, dtype='u1')
np.full(2, -1, dtype='u1')
np.full(2, [1,2])
np.full((2,2), [1.5,2], dtype='i4')
np.full(2, '3', dtype='f8')
np.full(2, None, dtype='f8')
np.full_like(np.zeros(2,'f4'), 1j)
np.full_like(np.zeros(2,'u1'), 300)
np.full_like(np.zeros(2,'i4'), 1.5)
np.ones((2,3)).trace(axis2=2)
np.ones((2,3)).diagonal(axis2=2)
np.ones(3).diagonal()
np.zeros((True,2))
np.arange(6).reshape((2,3)).reshape(None)
np.arange(1).reshape()
"""
STORED = """
x = np.zeros(2); x[0] = None; x
x = np.zeros(2); x[0] = '3.5'; x
x = np.zeros(2); x[:] = '3.5'; x
x = np.zeros(2); x[:] = ['3.5','2']; x
x = np.zeros(2); x[:] = None; x
x = np.zeros(2); x[:] = [None, 1]; x
x = np.zeros(2, int); x[0] = None; x
x = np.zeros(2, int); x[0] = '3'; x
x = np.zeros(2, int); x[0] = '3.5'; x
x = np.zeros(2, int); x[:] = '3'; x
x = np.zeros(2, bool); x[0] = None; x
x = np.zeros(2, bool); x[0] = 'a'; x
x = np.zeros(2, bool); x[0] = ''; x
x = np.zeros(2, complex); x[0] = None; x
x = np.zeros(2, complex); x[0] = '1+2j'; x
x = np.zeros(2, 'f4'); x[0] = None; x
x = np.zeros(2); x[0] = 'abc'; x
x = np.zeros(2); x[0] = b'3.5'; x
x = np.zeros(2); x[0] = object(); x
x = np.zeros(2); x[0] = [1]; x
x = np.zeros(()); x[()] = [1]; x
x = np.zeros(()); x[...] = [1]; x
x = np.zeros(()); x[...] = np.array([1]); x
x = np.zeros(3); x[...] = [1]; x
x = np.zeros(3); x[0,...] = [1]; x
x = np.zeros((3,1)); x[0] = [1]; x
x = np.zeros((3,1)); x[0,0] = np.array(1); x
x = np.zeros((3,3)); x[x[0] > -1] = np.ones((1,3,3)); x
x = np.zeros((3)); x[x > -1] = [[1,2,3]]; x
x = np.zeros(2); x[0] = [1,2]; x
x = np.zeros(2); x[0] = np.array([1]); x
x = np.zeros(2); x[0] = 1j; x
x = np.zeros(2); x[0] = np.array(1j); x
x = np.zeros(2); x[:] = 1j; x
x = np.zeros(2); x[:] = np.array([1j,2]); x
x = np.zeros(2); x.fill('3'); x
x = np.zeros(2); x.fill(None); x
x = np.zeros(2); x.fill(1j); x
x = np.zeros(2); x[[0,1]] = None; x
x = np.zeros(2); x[[0,1]] = '2'; x
x = np.zeros(2); x[np.array([True,False])] = '2'; x
x = np.zeros(2); x[np.array([True,False])] = None; x
x = np.zeros((3,3)); x[x > -1] = np.ones((9,1)); x
x = np.zeros((3,3)); x[x > -1] = np.ones((1,9)); x
x = np.zeros((3,3)); x[x > -1] = np.ones((9,)); x
x = np.zeros((3,3)); x[x > -1] = np.ones((3,3)); x
x = np.zeros((3,3)); x[x > -1] = np.ones((1,1)); x
x = np.zeros((3,3)); x[x > 5] = np.ones((1,0)); x
x = np.zeros((3,3)); x[np.array([True,False,True])] = np.ones((1,2,3)); x
x = np.zeros((3,3)); x[np.array([True,False,True])] = np.ones((2,1,2,3)); x
x = np.arange(3); x['a'] = 1; x
x = np.arange(3); x[['a']] = 1; x
x = np.arange(3); x[1.0] = 1; x
x = np.arange(3); x[host.array([])] = 1; x
x = np.arange(3); x[host.array(['a'])] = 1; x
x = np.array(host.nan); np.nan_to_num(x, copy=False); x
"""
CONVERTED = """
np.array([1, None], dtype=float)
np.array(['1', '2'], dtype=float)
np.array('1.5', dtype=float)
np.array(None, dtype=float)
np.array(['1', '2'], dtype=int)
np.array(['1.5', '2'], dtype=int)
np.array([1], copy='str')
np.asarray([1], copy='str')
np.asarray(np.arange(3), copy='str')
np.arange(3).astype('f4', copy='str')
np.nan_to_num(np.zeros(2), copy='str')
np.nan_to_num(np.array(host.nan), copy=False)
"""
INDEXED = """
np.arange(3)[host.array([])]
np.arange(3)[np.array([])]
np.arange(3)[[]]
np.arange(3)[host.array([1.0])]
np.arange(3)[[1.0]]
np.arange(3)[1.0]
np.arange(3)[None]
np.arange(3)['a']
np.arange(3)[['a']]
np.arange(3)[host.array(['a'])]
np.arange(3)[host.array([1], object)]
np.arange(3)[[None]]
np.arange(3)[[object()]]
np.arange(3)[object()]
np.arange(3)[{}]
np.arange(3)[1j]
np.arange(3)[[1j]]
np.arange(3)[()]
np.arange(3)[(1,2)]
np.arange(3)[2**70]
np.arange(3)[[2**70]]
np.arange(3)[host.array([1],'u8')]
"""
INTO = """
np.einsum('i,i->i', np.arange(3.), np.arange(3.), out=np.zeros(3))
np.einsum('i,i', np.arange(3.), np.arange(3.), out=np.zeros(()))
np.einsum('i,i', np.arange(3.), np.arange(3.), out=np.zeros(2))
np.einsum('ij->ij', np.ones((2,3)), out=np.zeros((4,2,3)))
np.matmul(np.ones((2,2)), np.ones((2,2)), out=np.zeros((3,2,2)))
np.matmul(np.ones((1,2,2)), np.ones((2,2)), out=np.zeros((3,2,2)))
np.matmul(np.ones((2,2)), np.ones((2,2)), out=np.zeros((2,3)))
np.add(np.ones((2,2)), np.ones((2,2)), out=np.zeros((3,2,2)))
np.add(np.ones((2,2)), np.ones((2,2)), out=np.zeros((2,)))
np.dot(np.ones((2,2)), np.ones((2,2)), out=np.zeros((2,2)))
np.dot(np.ones((2,2)), np.ones((2,2)), out=np.zeros((2,2), 'f4'))
np.dot(np.ones((2,2)), np.ones((2,2)), out=np.zeros((3,2,2)))
np.dot(np.ones(2), np.ones(2), out=np.zeros(()))
np.dot(np.ones(2), np.ones(2), out=np.zeros((), 'i4'))
np.dot(np.ones((2,2),'i4'), np.ones((2,2),'i4'), out=np.zeros((2,2)))
np.matmul(np.ones((2,2)), np.ones((2,2)), out=np.zeros((2,2), 'f4'))
np.matmul(np.ones((2,2)), np.ones((2,2)), out=np.zeros((2,2), 'i4'))
np.matmul(np.ones((2,2)), np.ones((2,2)), casting='bogus')
np.matmul(np.ones((2,2)), np.ones((2,2)), dtype='f4')
np.matmul(np.ones((2,2)), np.ones((2,2)), dtype='i4')
np.matmul(np.ones((2,2)), np.ones((2,2)), dtype='i4', casting='unsafe')
np.matmul(np.ones((2,2),'f4'), np.ones((2,2),'f4'), dtype='f8')
np.matmul(np.ones((2,2),'f4'), np.ones((2,2),'f4'), dtype='f8', casting='no')
np.vecdot(np.ones((2,2)), np.ones((2,2)), casting='bogus')
"""
REDUCED = """
np.sum(np.arange(3), initial=[1, 2])
np.sum(np.arange(3), initial=[1])
np.sum(np.arange(3), initial=None)
np.sum(np.arange(3), initial='a')
np.sum(np.arange(3), initial=1j)
np.sum(np.arange(3), initial=1.5)
np.prod(np.arange(3), initial=[1, 2])
np.max(np.arange(3), initial=[1, 2])
np.max(np.arange(3), initial=None)
np.add.reduce(np.arange(3), initial=[1,2])
np.add.reduce(np.arange(3), initial=host.array(5))
"""
# Arguments of another kind than the function's: floats for counts and axes, None, arrays, empty sequences.
ODD = """
np.eye(2.5)
np.eye(2.0)
np.eye(np.arange(3.0)[2])
np.eye(-1)
np.eye(2, -1)
np.eye(3, 4, 1.0)
np.identity(2.0)
np.tri(3, 4, 1.5)
np.tri(2.5)
np.tri(3, 4, None)
np.tril(np.ones((3,4)), 1.5)
np.triu(np.ones((3,4)), 1.5)
np.triu(np.ones((3,4)), 2.5)
np.triu(np.ones((3,4)), -1)
np.triu(np.arange(4), 1)
np.tril(np.ones((2,3,4)), -1)
np.tril_indices(-1)
np.tril_indices(2.5, -1, 4)
np.triu_indices(3, 2.5)
np.triu_indices(2, -1, 4.0)
np.triu_indices_from(np.ones((3,4)), 2.5)
np.mask_indices(3, np.triu, 1)
np.linspace(0, 1, 5.0)
np.linspace(0, 1, np.asarray(5))
np.linspace(0, 1, np.asarray([5]))
np.logspace(0, 2, 3.0)
np.logspace(0, 2, 5, base=[2, 3])
np.logspace(0, 2, 5, base=[1.0])
np.logspace([0, 1], 2, 3, base=[[2], [3]], axis=-1)
np.geomspace(1, 8, 4.0)
np.geomspace(1, 8, np.asarray(4))
np.vander(np.arange(3), 2.0)
np.vander(np.arange(3), -1)
np.round(np.ones(2), 1.5)
np.round(np.ones(2), np.asarray(1))
np.arange(-host.inf)
np.arange(host.inf)
np.arange(5, -host.inf, 3)
np.arange(0, -1e30)
np.arange(None, 5)
np.arange(5, None)
np.arange(1, 5, None)
np.arange(None)
np.zeros(2, dtype=np.ones(1))
np.zeros(2, dtype=np.ones(1)[0])
np.ones(3).astype(np.ones(1))
np.ones((2,2)).sum(True)
np.ones((2,2)).max((True,))
np.std(np.arange(4.0), ddof=host.nan)
np.var(np.arange(4.0), ddof=host.nan)
np.var(np.arange(400.0), 0, ddof=host.nan)
np.std(np.arange(4.0), ddof=5)
np.nanmax(np.asarray([1.0, host.nan]), initial=host.nan)
np.nanmax(np.asarray([1.0, 2.0]), initial=host.nan)
np.nanmin(np.asarray([[1.0, host.nan], [host.nan, host.nan]]), axis=1, initial=host.nan)
np.nanmax(np.asarray([1.0, host.nan]), initial=host.nan, where=np.asarray([False, True]))
np.average(np.ones((2,3)), np.asarray([1]))
np.average(np.ones((2,3)), range(2))
np.median(np.ones((2,3)), range(2))
np.nanmedian(np.ones((2,3)), np.asarray([1]))
np.quantile(np.ones((2,3)), 0.5, np.asarray([1]))
np.size(np.ones((2,3)), np.asarray([1]))
np.flip(np.arange(6).reshape(2,3), np.asarray([1]))
np.flip(np.arange(6).reshape(2,3), range(2))
np.flip(np.arange(6).reshape(2,3), 1.0)
np.rot90(np.arange(6).reshape(2,3), 1, range(2))
np.moveaxis(np.ones((2,3)), np.asarray([0]), 1)
np.expand_dims(np.ones(2), 1.0)
np.roll(np.arange(6).reshape(2,3), 1, 1.0)
np.roll(np.arange(6).reshape(2,3), 1, 1j)
np.roll(np.arange(6).reshape(2,3), 1, {})
np.roll(np.arange(6).reshape(2,3), [1, 2], [0, 0])
np.split(np.arange(6), 3.0)
np.split(np.arange(6), 2.5)
np.split(np.arange(6), np.asarray(3))
np.split(np.arange(6), np.int64(2))
np.split(np.arange(6), np.asarray([2, 3]))
np.split(np.arange(6), np.asarray([2.0, 3.0]))
np.split(np.arange(6), [2, None])
np.split(np.arange(6), [2.0])
np.split(np.arange(6), None)
np.split(np.arange(6), '2')
np.array_split(np.arange(7), 3.7)
np.array_split(np.arange(7), -2)
np.hsplit(np.ones((2,4)), np.asarray(2))
np.vsplit(np.ones((2,4)), np.int64(2))
np.repeat(np.arange(2), np.arange(3.0)[2])
np.repeat(np.arange(2), 2.5)
np.repeat(np.arange(2), np.asarray(2.5))
np.indices(())
np.indices((2, 3), None)
np.fromfunction(lambda i, j: i + j, (2, 3), dtype=None)
np.take(np.arange(5), [7, -7], mode=0)
np.take(np.arange(5), [7, -7], mode=1)
np.take(np.arange(5), [2], mode=2.5)
np.choose([5, 0], [[1, 2], [3, 4]], mode=1)
np.choose([5, 0], [[1, 2], [3, 4]], mode=np.int64(0))
np.choose([5, 0], [[1, 2], [3, 4]], mode='bogus')
np.ravel_multi_index(([5, 0], [1, 9]), (3, 4), mode=[0, 1])
np.ravel_multi_index(([5, 0], [1, 9]), (3, 4), mode=('clip',))
np.ravel_multi_index(([0, 1], [1, 2]), (3, 4), mode='bogus')
np.ravel_multi_index(([0, 1], [1, 2]), (3, 4), mode=2.5)
np.array_equal(np.ones(2), None)
np.array_equal(['a'], ['a'])
np.array_equal(np.ones(2), [[1, 2], [3]])
np.array_equiv(np.ones(2), [[1, 2], [3]])
np.shares_memory(None, np.ones(2))
np.may_share_memory(3, np.ones(2))
np.tensordot(np.ones((2,2)), np.ones((2,2)), np.asarray(1))
np.tensordot(np.ones((2,2)), np.ones((2,2)), 1.0)
np.tensordot(np.ones((2,2)), np.ones((2,2)), -1)
np.tensordot(np.ones((2,2)), np.ones((2,2)), 3)
np.tensordot(np.ones((2,2)), np.ones((2,2)), None)
np.where([True, False], np.asarray([1, 2], 'int8'), 300)
np.where([True, False], 2**40 + 5, np.asarray([1, 2], 'int32'))
np.where([True, False], np.asarray([1, 2], 'uint8'), -1)
np.where([True, False], np.asarray([1, 2], 'uint8'), 2**70)
np.clip(np.asarray([True, False]), 0, [2])
np.nan_to_num(np.asarray([host.nan, 1], 'float16'), nan=[7])
np.nan_to_num(np.asarray([host.nan, 1], 'float32'), nan=1j)
x = np.arange(6.0); x.dtype = 'f4'; x
x = np.arange(6.0); y = x[1:]; x.dtype = 'i8'; x[1] = 1; y
x = np.arange(6, dtype='i4'); x.dtype = complex; x
x = np.arange(6.0); x.dtype = None
x = np.arange(6.0); del x.dtype
x = np.arange(6.0); del x.shape
x = np.arange(6.0); x.shape = 2, 3; x
x = np.arange(6.0); x.shape = (4, 2)
x = np.arange(6.0); x.shape = 2.5
np.finfo('float32').eps / 2 + 1
1 + np.finfo('float16').eps / 2
-np.finfo('float32').max * 2
np.finfo('float32').tiny ** 0.5
np.finfo('float32').eps.astype('float64')
np.ones(2, 'float32') * np.finfo('float32').eps
isinstance(np.finfo('float32').eps, np.float32)
"""


def lines(*texts):
    return [line for text in texts for line in text.strip().split("\n")]


@pytest.mark.parametrize("text", lines(COMPARED, CHOSEN, JOINED, SHAPED, STORED, CONVERTED, INDEXED, INTO, REDUCED, ODD))
def test_same_call(text):
    same_call(text)
