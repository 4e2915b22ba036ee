// treadle_cuda.h - CUDA C++ for a C++17 compiler of a CPU: what a text is compiled with.
//
// A kernel is a function that is called once for each thread of a block.  Where no threads wait for each other
// that is a loop (TD_CU_PLAIN), else each thread has a stack and they take turns (TD_CU_SWITCHED).  One translation
// unit is one module: nothing here has linkage beyond it.
#ifndef TREADLE_CUDA_H
#define TREADLE_CUDA_H
#pragma GCC system_header // the user's text is what warnings are for

#undef _FORTIFY_SOURCE // it would call another printf than ours

#include "abi.h"

// libstdc++'s special functions come with half of the standard library and are no part of CUDA.
#if __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#endif
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "td_cu/keywords.h"
#include "td_cu/vector.h"
#include "td_cu/thread.h"
#include "td_cu/entry.h"
#include "td_cu/sync.h"
#include "td_cu/warp.h"
#include "td_cu/atomic.h"
#include "td_cu/integer.h"
#include "td_cu/math.h"
#include "td_cu/output.h"
#include "td_cu/texture.h"
#include "td_cu/regions.h"
#include "td_cu/table.h"
#include "td_cu/checked.h"

#endif
