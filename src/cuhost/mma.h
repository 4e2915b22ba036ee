#error "mma.h: matrix instructions of tensor cores are not to be had on a CPU; write the product with ordinary loops under #ifdef TREADLE_CPU"
