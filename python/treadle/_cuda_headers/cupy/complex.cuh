// cupy/complex.cuh - complex<float> and complex<double>, which are thrust::complex too.
#ifndef TD_CUPY_COMPLEX_CUH
#define TD_CUPY_COMPLEX_CUH
#include "../td_complex.h"

namespace thrust {
using namespace td_num;
}
using td_num::complex;
#endif
