// The CUDA functions that kernels use, as declarations for a C++ compiler that only checks syntax and types.
#include <cstddef>
#define __global__
#define __device__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __CUDA_ARCH__ 900
struct uint3_ { unsigned x, y, z; };
extern const uint3_ threadIdx, blockIdx, gridDim, blockDim;
struct uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) ulonglong2 { unsigned long long x, y; };
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
void __syncthreads();
void __syncwarp(unsigned = ~0u);
void __threadfence();
template <class T> T __shfl_xor_sync(unsigned, T, int, int = 32);
template <class T> T __shfl_sync(unsigned, T, int, int = 32);
template <class T> T __shfl_up_sync(unsigned, T, int, int = 32);
unsigned __ballot_sync(unsigned, int);
int __popc(unsigned);
unsigned atomicAdd(unsigned *, unsigned);
unsigned atomicOr(unsigned *, unsigned);
unsigned atomicExch(unsigned *, unsigned);
unsigned atomicMin(unsigned *, unsigned);
unsigned atomicCAS(unsigned *, unsigned, unsigned);
float __uint_as_float(unsigned);
unsigned __float_as_uint(float);
float __fadd_rn(float, float);
inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a < b ? b : a; }
inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned max(unsigned a, unsigned b) { return a < b ? b : a; }
inline unsigned long long min(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
inline unsigned long long max(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
