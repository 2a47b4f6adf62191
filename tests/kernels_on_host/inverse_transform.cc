// The kernel as it is, for threads of the host.
#include "reader/gpu/kernels/inverse_transform.cu"
