// Stands in for HIP's runtime header: no more of it than nvme-kv.h needs.
#pragma once

#ifdef __HIP__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#else
#define __host__
#define __device__
#endif
