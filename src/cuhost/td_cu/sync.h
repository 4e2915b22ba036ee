// sync.h - the block's barriers.
#ifndef TD_CU_SYNC_H
#define TD_CU_SYNC_H

namespace td_cu {

[[noreturn]] __attribute__((noinline, unused, cold)) static void no_turns(const char *what)
{
    fail(threadIdx, blockIdx, "%s where the threads of the block do not take turns", what);
}

// The block's barrier.  A block whose threads run as a loop cannot wait, unless it has only one thread.
__attribute__((unused)) static void sync_block()
{
    thread *t = now;

    if (!t) {
        if (block_now->block[0] * block_now->block[1] * block_now->block[2] == 1)
            return;
        no_turns("__syncthreads()");
    }
    host->barrier(&t->at->all, t->at->first, int(t->at->n));
    resume(t);
}

// Lets the next thread run, if the threads are fibers.  Called after accesses in code that expects warps to run in
// step.
TD_CU_INLINE void turn()
{
    thread *t = now;

    if (t) {
        host->yield();
        resume(t);
    }
}

// The sum of v over the block's threads.  Threads still read one phase's count during the next phase, so there are two
// counts.
__attribute__((unused)) static uint32_t sync_sum(uint32_t v)
{
    thread *t = now;
    block *b;
    uint32_t phase, sum;

    if (!t) {
        sync_block();
        return v;
    }
    b = t->at;
    phase = b->phase;
    b->counted[phase & 1] += v;
    host->barrier(&b->all, b->first, int(b->n));
    if (b->phase == phase) { // the first thread to continue
        b->phase = phase + 1;
        b->counted[(phase + 1) & 1] = 0;
    }
    sum = uint32_t(b->counted[phase & 1]);
    resume(t);
    return sum;
}

} // namespace td_cu

TD_CU_INLINE void __syncthreads() { td_cu::sync_block(); }
TD_CU_INLINE int __syncthreads_count(int p) { return int(td_cu::sync_sum(p != 0)); }
TD_CU_INLINE int __syncthreads_or(int p) { return td_cu::sync_sum(p != 0) != 0; }
TD_CU_INLINE int __syncthreads_and(int p) { return td_cu::sync_sum(p == 0) == 0; }
TD_CU_INLINE void __barrier_sync(unsigned) { td_cu::sync_block(); }

#endif
