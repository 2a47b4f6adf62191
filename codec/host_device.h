// IMGPACK_HD marks functions that run on the host and, compiled by nvcc, on the device; IMGPACK_COLD those that are
// rarely called and better not inlined.
#pragma once

#if defined(__CUDACC__)
#define IMGPACK_HD __host__ __device__
#define IMGPACK_COLD __noinline__
#else
#define IMGPACK_HD
#define IMGPACK_COLD [[gnu::noinline, gnu::cold]]
#endif
