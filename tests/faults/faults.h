/* faults.h - read before each C source of a build for faults: what asks the system for memory, threads or files asks
 * faults.c instead, where the n-th request fails.
 *
 * The names stand for the others wherever they are, in declarations of the system and as members too, so that nothing
 * but a call of the system's function changes.  What C++ and the libraries ask for themselves does not fail.
 */
#ifndef __cplusplus
#define malloc         faults_malloc
#define calloc         faults_calloc
#define realloc        faults_realloc
#define aligned_alloc  faults_aligned_alloc
#define strdup         faults_strdup
#define mmap           faults_mmap
#define mprotect       faults_mprotect
#define memfd_create   faults_memfd_create
#define pthread_create faults_pthread_create
#define open           faults_open
#define openat         faults_openat
#define fopen          faults_fopen
#define read           faults_read
#define write          faults_write
#define pread          faults_pread
#define pwrite         faults_pwrite
#define ftruncate      faults_ftruncate
#define renameat       faults_renameat
#endif
