// The mark of functions that are compiled for the host and, where a CUDA compiler reads them, for the device too.
#pragma once

#if defined(__CUDACC__)
#define IMGPACK_HD __host__ __device__
#else
#define IMGPACK_HD
#endif
