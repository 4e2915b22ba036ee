// assert.h - a failed assertion fails the launch with file, line, block and thread.  No include guard: NDEBUG counts at
// each #include, as in the C library.
#undef assert
#ifdef NDEBUG
#define assert(c) ((void)0)
#else
#define assert(c)                                                                                                      \
    (__builtin_expect(!(c), 0) ? td_cu::fail(threadIdx, blockIdx, "%s:%d: %s: assertion `%s' failed", __FILE__, __LINE__, td_function ? td_function : __func__, #c) \
                               : (void)0)
#endif
