/* Random calls of CUDA's runtime, over functions that only record, and every failure of them; see fuzz.h.  Linked with
 * --wrap=malloc and --wrap=free, so that allocations may fail. */
#include "any_cuda.h"

#include <cuda_runtime_api.h>

enum { FUZZ_SCRATCH = 256, FUZZ_SAME_HANDLE = 0, FUZZ_LEAST_ROOM = 1, FUZZ_WHOLE = 0, FUZZ_WIDE = 1, FUZZ_GRIDS = 0,
       FUZZ_LIMITED = 0 };
#include "fuzz.h"

static char marks[256]; /* kernels never run, so their addresses are arbitrary */
static const void *kernels[256];
static const hs_sort *sorted;
static hs_cuda *sorter;
static hs_cuda_kernels current;
static int grid_x = 65535, cooperates;
static cudaError_t last;
static unsigned calls, fail_at;
static cudaError_t fail_code;
static const char *failed;
static long allocated; /* blocks allocated by the runtime */
static bool in_runtime;

static bool fails(const char *name)
{
    if (++calls != fail_at) return false;
    failed = name;
    fuzz_injected = 1;
    return true;
}
#define MAY_FAIL                                         \
    if (fails(__func__)) return last = fail_code;

extern "C" void *__real_malloc(size_t bytes);
extern "C" void __real_free(void *memory);
extern "C" void *__wrap_malloc(size_t bytes);
extern "C" void __wrap_free(void *memory);
extern "C" void *__wrap_malloc(size_t bytes)
{
    if (!in_runtime) return __real_malloc(bytes);
    if (fails("malloc")) return NULL;
    allocated++;
    return __real_malloc(bytes);
}
extern "C" void __wrap_free(void *memory)
{
    if (in_runtime && memory) allocated--;
    __real_free(memory);
}

extern "C" cudaError_t cudaPeekAtLastError(void) { return last; }
extern "C" cudaError_t cudaGetLastError(void)
{
    const cudaError_t was = last;
    last = cudaSuccess;
    return was;
}
extern "C" cudaError_t cudaGetDevice(int *device)
{
    MAY_FAIL
    return *device = 0, cudaSuccess;
}
extern "C" cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    MAY_FAIL
    switch (attribute) {
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = 232448; break;
    case cudaDevAttrMaxGridDimX: *value = grid_x; break;
    case cudaDevAttrMaxGridDimY: *value = 65535; break;
    case cudaDevAttrCooperativeLaunch: *value = 1; break;
    case cudaDevAttrMultiProcessorCount: *value = 1 << 20; break;
    default: abort();
    }
    return cudaSuccess;
}
extern "C" cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
    MAY_FAIL
    memset(p, 0, sizeof *p);
    strcpy(p->name, "Fake");
    p->major = 9;
    return cudaSuccess;
}
extern "C" cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, const void *)
{
    MAY_FAIL
    memset(a, 0, sizeof *a);
    a->maxThreadsPerBlock = 1024;
    a->ptxVersion = 90;
    return cudaSuccess;
}
extern "C" cudaError_t cudaDriverGetVersion(int *version)
{
    MAY_FAIL
    return *version = 13000, cudaSuccess;
}
extern "C" cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int)
{
    MAY_FAIL
    return cudaSuccess;
}
extern "C" cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *, int, size_t)
{
    MAY_FAIL
    return *blocks = 8, cudaSuccess;
}
extern "C" cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **values, size_t, cudaStream_t)
{
    MAY_FAIL
    fuzz_launch *l = &fuzz_seen[fuzz_count < FUZZ_LAUNCHES ? fuzz_count++ : 0];
    memset(l, 0, sizeof *l);
    l->kernel = static_cast<uint32_t>(static_cast<const char *>(kernel) - marks);
    const hs_kernel *k = &sorted->kernels[l->kernel];
    l->lanes = block.x;
    l->grid[0] = grid.x;
    l->grid[1] = grid.y;
    l->bindings = k->bindings;
    for (uint32_t i = 0; i < k->bindings; i++) {
        l->bound[i].memory = 1;
        l->bound[i].begin = *static_cast<uint64_t *>(values[i]);
    }
    void *const n = values[k->bindings];
    l->n = static_cast<uint64_t>(k->index64 ? *static_cast<int64_t *>(n) : *static_cast<int *>(n));
    l->argument = *static_cast<int *>(values[k->bindings + 1]);
    return cudaSuccess;
}
extern "C" cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **values)
{
    if (config->numAttrs && config->attrs->id != cudaLaunchAttributeCooperative &&
        config->attrs->id != cudaLaunchAttributeProgrammaticStreamSerialization)
        abort();
    return cudaLaunchKernel(kernel, config->gridDim, config->blockDim, values, config->dynamicSmemBytes, config->stream);
}

/* All pointers are into one memory, whose last megabyte is the last of the fuzzed memories. */
static void fuzz_reshape(fuzz_case *c)
{
    for (int i = 0; i < HS_ROLES; i++) {
        fuzz_part *part = &c->at[i];
        if (!part->memory) {
            memset(part, 0, sizeof *part);
            continue;
        }
        const uint64_t size = uint64_t{1} << (part->memory == FUZZ_MEMORIES - 1 ? 20 : 44);
        const uint64_t begin = part->memory == FUZZ_MEMORIES - 1 ? UINT64_MAX - size + 1 : size * part->memory;
        part->offset = begin + (part->offset & (size - 1));
        part->memory = 1;
        part->unknown = i == HS_COUNT || (i != HS_SCRATCH && part->room == 0);
        if (part->unknown) part->room = 0;
    }
    fuzz_members(c);
    c->columns = static_cast<uint64_t>(grid_x);
    c->rows = 65535;
    c->nulls &= ~static_cast<uint32_t>(FUZZ_NO_QUEUE); /* the default stream */
}

static hs_status make(const hs_cuda_kernels *sort, hs_cuda **made, cudaError_t *error)
{
    in_runtime = true;
    const hs_status status = hs_cuda_create(sort, made, error);
    in_runtime = false;
    return status;
}

static void drop(hs_cuda *made)
{
    in_runtime = true;
    hs_cuda_release(made);
    in_runtime = false;
    fuzz_expect(allocated == 0, NULL, "something is left over");
}

static int fuzz_create(const hs_sort *sort)
{
    static const int limits[] = {65535, INT32_MAX, 64};
    cudaError_t error;
    grid_x = limits[fuzz_below(3)];
    sorted = sort;
    current.sort = sort;
    current.kernels = kernels;
    fail_at = 0;
    return make(&current, &sorter, &error) == HS_OK;
}

static void fuzz_release(void) { drop(sorter); }

static void *at(const fuzz_part *part)
{
    return part->memory ? reinterpret_cast<void *>(static_cast<uintptr_t>(part->offset)) : NULL;
}

static const cudaError_t codes[] = {cudaErrorMemoryAllocation, cudaErrorNoDevice, cudaErrorInsufficientDriver,
                                    cudaErrorECCUncorrectable, cudaErrorInvalidValue, cudaErrorUnknown};
static const hs_status statuses[] = {HS_ERROR_DEVICE_MEMORY, HS_ERROR_DEVICE, HS_ERROR_DEVICE,
                                     HS_ERROR_DEVICE_LOST, HS_ERROR_API, HS_ERROR_API};

static hs_status fuzz_perform(const fuzz_case *c, unsigned fail)
{
    any_args a = {};
    a.n = c->n;
    a.parts = c->parts;
    a.options = c->options;
    a.source = at(&c->at[HS_SOURCE]);
    a.destination = at(&c->at[HS_DESTINATION]);
    a.scratch = at(&c->at[HS_SCRATCH]);
    a.values = at(&c->at[HS_VALUES]);
    a.values_destination = at(&c->at[HS_VALUES_OUT]);
    a.count = static_cast<const uint32_t *>(at(&c->at[HS_COUNT]));
    a.other = at(&c->at[HS_OTHER_INPUT]);
    a.other_values = at(&c->at[HS_OTHER_VALUES]);
    a.report = static_cast<uint32_t *>(at(&c->at[HS_REPORT]));
    a.source_bytes = c->at[HS_SOURCE].room;
    a.destination_bytes = c->at[HS_DESTINATION].room;
    a.scratch_bytes = c->at[HS_SCRATCH].room;
    a.values_bytes = c->at[HS_VALUES].room;
    a.values_destination_bytes = c->at[HS_VALUES_OUT].room;
    a.other_bytes = c->at[HS_OTHER_INPUT].room;
    a.other_values_bytes = c->at[HS_OTHER_VALUES].room;
    a.report_bytes = c->at[HS_REPORT].room;
    cudaError_t error = cudaErrorUnknown;
    calls = 0;
    fail_at = fail;
    fail_code = codes[fail % 6];
    fuzz_injected = 0;
    in_runtime = true;
    const hs_status status = any_entries[c->entry](c->nulls & FUZZ_NO_SORTER ? NULL : sorter, NULL,
                                               c->nulls & FUZZ_NO_ARGS ? NULL : &a,
                                               c->nulls & FUZZ_NO_ERROR ? NULL : &error);
    in_runtime = false;
    fail_at = 0;
    fuzz_expect(last == cudaSuccess, c, "an error is left behind");
    fuzz_expect(!fuzz_injected || status == statuses[fail % 6], c, "another status than the driver's");
    if (!(c->nulls & FUZZ_NO_ERROR))
        fuzz_expect(error == (fuzz_injected ? fail_code : cudaSuccess), c, "another code than the driver's");
    return status;
}

/* Whether a failure of the first query of a kernel is legitimate: it was not compiled for this device. */
static bool answers() { return strcmp(failed, "cudaFuncGetAttributes") == 0 && fail_code == cudaErrorNoKernelImageForDevice; }

/* Every call of matching and of creating a sorter fails, with every code. */
static void failures(const hs_sort *sort)
{
    static const char *const name[] = {"Fake"};
    static const hs_match match = {HS_GPU, 0, 1, 0, NULL, name, NULL, 0, 0, 3};
    const hs_sort *const sorts[] = {sort};
    const hs_target best = {"best", &match, sorts, 1}, any = {"any", NULL, sorts, 1};
    const hs_cuda_kernels first = {sort, kernels}, second = {sort, kernels};
    const hs_cuda_kernels *const of_best[] = {&first}, *const of_any[] = {&second};
    const hs_cuda_target targets[] = {{&any, of_any}, {&best, of_best}}, *const both[] = {&targets[0], &targets[1]};
    sorted = sort;
    for (unsigned c = 0; c <= 6; c++)
        for (unsigned k = 1;; k++) {
            const hs_cuda_kernels *found = NULL;
            hs_cuda *made = NULL;
            cudaError_t error = cudaSuccess;
            const hs_status expected = c < 6 ? statuses[c] : HS_ERROR_DEVICE;
            fail_code = c < 6 ? codes[c] : cudaErrorNoKernelImageForDevice;
            failed = NULL;
            calls = 0;
            fail_at = k;
            hs_status status = hs_cuda_match_kind(both, 2, sort->kind, sort->key, sort->value, &found);
            fuzz_status = hs_status_text(status);
            if (failed && !answers()) {
                const bool as_it_is = c < 6 || strcmp(failed, "malloc") != 0;
                fuzz_expect(status == expected && !found && as_it_is, NULL, "a search that fails says so");
            } else {
                fuzz_expect(status == HS_OK && (found == &first || failed), NULL, "the best target is found");
            }
            const char *const in_match = failed;
            failed = NULL;
            calls = 0;
            status = make(&first, &made, &error);
            fuzz_status = hs_status_text(status);
            if (!failed) {
                fuzz_expect(status == HS_OK, NULL, "a sorter is made");
            } else if (strcmp(failed, "malloc") == 0) {
                fuzz_expect(status == HS_ERROR_HOST_MEMORY && error == cudaSuccess, NULL, "no memory for a sorter");
            } else {
                fuzz_expect(status == expected && error == fail_code && !made, NULL, "a sorter that is not made");
            }
            fuzz_expect(last == cudaSuccess, NULL, "an error is left behind");
            if (made) drop(made);
            fuzz_expect(allocated == 0, NULL, "something is left over");
            if (!failed && !in_match) break;
        }
    fail_at = 0;
    fuzz_injected = 0;
}

static void fuzz_nulls(void)
{
    const hs_sort *sort = &fuzz_sorts[0];
    const hs_cuda_kernels good = {sort, kernels}, bare = {NULL, kernels}, *found = NULL;
    hs_cuda *made = NULL;
    sorted = sort;
    for (int i = 0; i < 4; i++) {
        const hs_status status = hs_cuda_create(i & 1 ? NULL : &good, i & 2 ? NULL : &made, NULL);
        fuzz_expect(status == (i ? HS_ERROR_ARGUMENT : HS_OK), NULL, "hs_cuda_create");
        if (!i) hs_cuda_release(made);
        fuzz_expect((hs_cuda_match_kind(NULL, i & 1, static_cast<hs_kind>(fuzz_below(5)), i & 2 ? NULL : "u32", NULL,
                                        &found) == HS_OK) == (i == 0), NULL, "hs_cuda_match_kind");
    }
    fuzz_expect(hs_cuda_create(&bare, &made, NULL) == HS_ERROR_ARGUMENT, NULL, "a sort without a sort");
    fuzz_expect(hs_cuda_match(NULL, 0, "u32", NULL, NULL) == HS_ERROR_ARGUMENT, NULL, "hs_cuda_match");
    hs_cuda_release(NULL);
    fuzz_expect(hs_cuda_sort_of(NULL) == NULL, NULL, "hs_cuda_sort_of");
    for (size_t i = 0; i < fuzz_collect(); i += 3) failures(&fuzz_sorts[i]);
}

int main(int argc, char **argv)
{
    const size_t count = fuzz_collect();
    for (int k = 0; k < 256; k++) kernels[k] = &marks[k];
    for (size_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < fuzz_sorts[i].kernel_count; k++) cooperates |= fuzz_sorts[i].kernels[k].cooperative != 0;
        if (fuzz_sorts[i].kernel_count > 256) return 2;
    }
    return fuzz_main(argc, argv, count);
}
