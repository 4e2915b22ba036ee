// pycuda-complex.hpp - pycuda::complex<float>, pycuda::complex<double>.
#ifndef TD_PYCUDA_COMPLEX_HPP
#define TD_PYCUDA_COMPLEX_HPP
#include "td_complex.h"

namespace pycuda {
using namespace td_num;
}
#endif
