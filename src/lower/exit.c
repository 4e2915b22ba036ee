/* exit.c - keeps LLVM's static objects from being destroyed.
 *
 * When the process ends, a thread may still be compiling.  LLVM is linked into this library, so
 * its registrations of destructors find the function below first.  The system takes the memory
 * back.
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
