// texture_indirect_functions.h - what it declares for kernels is declared already.
#pragma once
#include "treadle_cuda.h"
