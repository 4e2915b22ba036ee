// cuda_texture_types.h - a header of CUDA; treadle_cuda.h has its declarations for kernels.
#pragma once
#include "treadle_cuda.h"
