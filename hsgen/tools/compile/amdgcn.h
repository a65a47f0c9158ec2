/* The parts of OpenCL C that hsgen's kernels use, implemented with builtins of LLVM's AMDGPU back end.  clang alone has
   neither OpenCL's headers nor AMD's device library.  hsgen/tools/compile/amdgcn.py includes this file before the
   kernels' text, and defines HS_WAVE, the number of lanes of a wavefront.  Kernels compiled with this file are never
   run; only their resources are reported. */

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef __SIZE_TYPE__ size_t;
typedef uint uint2 __attribute__((ext_vector_type(2)));
typedef uint uint4 __attribute__((ext_vector_type(4)));
typedef uint uint16 __attribute__((ext_vector_type(16)));
typedef ulong ulong8 __attribute__((ext_vector_type(8)));

#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2

#define HS_OVER static inline __attribute__((overloadable, always_inline))
#define HS_CONST static inline __attribute__((always_inline))

/* Ids.  Grids have one or two dimensions.  The number of work-groups is at the start of the implicit arguments; before
   version 5 of these arguments, it is the number of lanes of the grid divided by that of a work-group. */
HS_CONST size_t get_local_id(uint d) { return __builtin_amdgcn_workitem_id_x(); }
HS_CONST size_t get_group_id(uint d) { return d ? __builtin_amdgcn_workgroup_id_y() : __builtin_amdgcn_workgroup_id_x(); }
#if __clang_major__ >= 18
HS_CONST size_t get_num_groups(uint d) { return ((__constant const uint *)__builtin_amdgcn_implicitarg_ptr())[d]; }
#else
HS_CONST size_t get_num_groups(uint d) { return __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x(); }
#endif
HS_CONST uint get_sub_group_id(void) { return __builtin_amdgcn_workitem_id_x() / HS_WAVE; }
#if HS_WAVE == 64
HS_CONST uint get_sub_group_local_id(void) { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
#else
HS_CONST uint get_sub_group_local_id(void) { return __builtin_amdgcn_mbcnt_lo(~0u, 0u); }
#endif

/* Barriers: the barrier instruction between a release fence and an acquire fence. */
#define HS_FENCED(scope, instruction) \
    do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, scope); instruction; __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, scope); } while (0)
#define barrier(flags) HS_FENCED("workgroup", __builtin_amdgcn_s_barrier())
#define sub_group_barrier(flags) HS_FENCED("wavefront", __builtin_amdgcn_wave_barrier())
#define mem_fence(flags) __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup")

/* Relaxed atomic operations on 32-bit words.  The scope is the work-group in local memory, the device in global
   memory. */
#define HS_ATOMIC(name, what, space, scope) \
    HS_OVER uint name(volatile space uint *p, uint x) \
    { return __opencl_atomic_##what((volatile space atomic_uint *)p, x, __ATOMIC_RELAXED, scope); }
#define HS_EXCHANGE(space, scope) \
    HS_OVER uint atomic_cmpxchg(volatile space uint *p, uint old, uint x) \
    { \
        __opencl_atomic_compare_exchange_strong((volatile space atomic_uint *)p, &old, x, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope); \
        return old; \
    }
#define HS_ATOMICS(name, what) \
    HS_ATOMIC(name, what, __local, __OPENCL_MEMORY_SCOPE_WORK_GROUP) \
    HS_ATOMIC(name, what, __global, __OPENCL_MEMORY_SCOPE_DEVICE)
HS_ATOMICS(atomic_add, fetch_add)
HS_ATOMICS(atomic_or, fetch_or)
HS_ATOMICS(atomic_xchg, exchange)
HS_ATOMICS(atomic_min, fetch_min)
HS_EXCHANGE(__local, __OPENCL_MEMORY_SCOPE_WORK_GROUP)
HS_EXCHANGE(__global, __OPENCL_MEMORY_SCOPE_DEVICE)

/* Subgroup operations.  Shuffles exchange 32-bit words through the crossbar of local memory.  A broadcast reads the
   register of one lane. */
#if __has_builtin(__builtin_amdgcn_ballot_w64)
#define sub_group_ballot(vote) hs_ballot_words(__builtin_amdgcn_ballot_w64(vote))
#else /* clang 15 and before: uicmp compares with 0; 33 is LLVM's number of the predicate "not equal" */
#define sub_group_ballot(vote) hs_ballot_words(__builtin_amdgcn_uicmp((uint)(vote), 0u, 33))
#endif
HS_CONST uint4 hs_ballot_words(ulong votes) { return (uint4)((uint)votes, (uint)(votes >> 32), 0u, 0u); }
HS_OVER uint sub_group_shuffle_xor(uint x, uint mask)
{ return (uint)__builtin_amdgcn_ds_bpermute((int)((get_sub_group_local_id() ^ mask) << 2), (int)x); }
HS_OVER int sub_group_shuffle_xor(int x, uint mask) { return (int)sub_group_shuffle_xor((uint)x, mask); }
HS_OVER uint sub_group_broadcast(uint x, uint lane) { return (uint)__builtin_amdgcn_readlane((int)x, (int)lane); }
HS_OVER int sub_group_broadcast(int x, uint lane) { return __builtin_amdgcn_readlane(x, (int)lane); }
#define HS_WIDE(name) \
    HS_OVER ulong name(ulong x, uint lane) { return (ulong)name((uint)(x >> 32), lane) << 32 | name((uint)x, lane); }
HS_WIDE(sub_group_shuffle_xor)
HS_WIDE(sub_group_broadcast)

/* Minimum, maximum and bit counts of integers. */
#define HS_NUMBERS(type) \
    HS_OVER type min(type a, type b) { return a < b ? a : b; } \
    HS_OVER type max(type a, type b) { return a > b ? a : b; }
HS_NUMBERS(int)
HS_NUMBERS(uint)
HS_NUMBERS(long)
HS_NUMBERS(ulong)
HS_OVER uint popcount(uint x) { return (uint)__builtin_popcount(x); }
HS_OVER ulong popcount(ulong x) { return (ulong)__builtin_popcountl(x); }

/* Bits of floats. */
#define as_uint(x) __builtin_astype((x), uint)
#define as_float(x) __builtin_astype((x), float)
