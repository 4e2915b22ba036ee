/* exit.c - LLVM's static objects are never destroyed.
 *
 * When the process ends, a thread may still be compiling.  LLVM is linked into this library and
 * finds this function first; the system takes the memory back.
 */
int __cxa_atexit(void (*destroy)(void *), void *object, void *library);

int
__cxa_atexit(void (*destroy)(void *), void *object, void *library)
{
    (void)destroy;
    (void)object;
    (void)library;
    return 0;
}
