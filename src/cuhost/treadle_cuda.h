// treadle_cuda.h - compiles CUDA C++ with a CPU's C++17 compiler: included before the text.
//
// A kernel is a function that is called once per thread of a block.  Where no thread waits for another, the calls are a
// loop (TD_CU_PLAIN); else each thread is a fiber (TD_CU_SWITCHED).  One translation unit is one module: nothing here
// has external linkage.
#ifndef TREADLE_CUDA_H
#define TREADLE_CUDA_H
#pragma GCC system_header // warnings are for the user's text

#undef _FORTIFY_SOURCE // it would call a printf other than ours

#include "abi.h"

// libstdc++'s special functions pull in half of the standard library, and CUDA lacks them.
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
#include "td_cu/line.h"
#include "td_cu/regions.h"
#include "td_cu/table.h"
#include "td_cu/checked.h"

#endif
