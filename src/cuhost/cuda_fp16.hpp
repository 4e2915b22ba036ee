// cuda_fp16.hpp - see cuda_fp16.h.
#pragma once
#include "cuda_fp16.h"
