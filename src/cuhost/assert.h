// assert.h - a launch fails with the file, the line, the block and the thread.  Read again at each #include, as the C library's.
#undef assert
#ifdef NDEBUG
#define assert(c) ((void)0)
#else
#define assert(c)                                                                                                      \
    (__builtin_expect(!(c), 0) ? td_cu::fail(threadIdx, blockIdx, "%s:%d: %s: assertion `%s' failed", __FILE__, __LINE__, __func__, #c) \
                               : (void)0)
#endif
