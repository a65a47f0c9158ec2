/* Sorters for Metal: libraries compiled from text, and their pipelines. */
#include "hs_metal_internal.h"

#include <stdlib.h>
#include <string.h>

static hs_status hs_metal_failed(NSError *problem, hs_metal_error *error)
{
    if (error && problem) {
        const char *log = [[problem localizedDescription] UTF8String];
        error->code = (long)[problem code];
        if (log) strncpy(error->log, log, sizeof error->log - 1);
    }
    return HS_ERROR_BUILD;
}

/* Join lines to an NSString, which the caller owns; null if out of memory. */
static void *hs_metal_string(const char *const *lines, size_t count)
{
    void *made = NULL;
    char *text;
    size_t i, size = 1, at = 0;
    for (i = 0; i < count; i++) size += strlen(lines[i]);
    text = (char *)calloc(size, 1);
    if (!text) return NULL;
    for (i = 0; i < count; i++) {
        const size_t length = strlen(lines[i]);
        memcpy(text + at, lines[i], length);
        at += length;
    }
    made = HS_OWNED([[NSString alloc] initWithUTF8String:text]);
    free(text);
    return made;
}

/* Compile the text of a sort; the caller owns the library. */
static hs_status hs_metal_library(const hs_metal_kernels *sort, hs_metal_device device, void **library,
                                  hs_metal_error *error)
{
    NSError *problem = nil;
    void *text = hs_metal_string(sort->lines, sort->line_count);
    if (!text) return HS_ERROR_HOST_MEMORY;
    *library = HS_OWNED([device newLibraryWithSource:HS_OBJECT(NSString *, text) options:nil error:&problem]);
    HS_DROP(text);
    return *library ? HS_OK : hs_metal_failed(problem, error);
}

/* Whether a pipeline can run the work-groups and subgroups of its kernel.  A pipeline may run fewer lanes than the
 * device's limit, and has a SIMD group width of its own. */
static hs_status hs_metal_suits(const hs_kernel *kernel, id<MTLComputePipelineState> pipeline)
{
    if ([pipeline maxTotalThreadsPerThreadgroup] < kernel->work_group) return HS_ERROR_DEVICE;
    return kernel->subgroup == 1 || [pipeline threadExecutionWidth] == kernel->subgroup ? HS_OK : HS_ERROR_DEVICE;
}

static hs_status hs_metal_pipeline(hs_metal *made, uint32_t index, hs_metal_device device, void *library,
                                   hs_metal_error *error)
{
    const hs_kernel *kernel = &made->sort->kernels[index];
    NSError *problem = nil;
    void *function, *pipeline, *name = hs_metal_string(&kernel->name, 1);
    if (!name) return HS_ERROR_HOST_MEMORY;
    function = HS_OWNED([HS_OBJECT(id<MTLLibrary>, library) newFunctionWithName:HS_OBJECT(NSString *, name)]);
    HS_DROP(name);
    if (!function) return HS_ERROR_BUILD;
    pipeline = HS_OWNED([device newComputePipelineStateWithFunction:HS_OBJECT(id<MTLFunction>, function)
                                                              error:&problem]);
    HS_DROP(function);
    if (!pipeline) return hs_metal_failed(problem, error);
    made->pipelines[index] = pipeline;
    return hs_metal_suits(kernel, HS_OBJECT(id<MTLComputePipelineState>, pipeline));
}

hs_status hs_metal_create(const hs_metal_kernels *sort, hs_metal_device device, hs_metal **sorter,
                          hs_metal_error *error)
{
    return hs_metal_create_with(sort, device, NULL, sorter, error);
}

hs_status hs_metal_create_with(const hs_metal_kernels *sort, hs_metal_device device,
                               const hs_metal_create_options *options, hs_metal **sorter, hs_metal_error *error)
{
    hs_metal *made;
    hs_scope scope;
    hs_status status;
    void *library = NULL;
    uint32_t i;
    if (error) memset(error, 0, sizeof *error);
    if (sorter) *sorter = NULL;
    if (!sort || !sort->sort || !device || !sorter) return HS_ERROR_ARGUMENT;
    if (!sort->lines) return HS_ERROR_KERNELS;
    status = hs_scope_of(sort->sort, options ? &options->scope : NULL, &scope);
    if (status != HS_OK) return status;
    @autoreleasepool {
        if (!hs_metal_runs(sort->sort, device)) return HS_ERROR_DEVICE;
        made = (hs_metal *)calloc(1, sizeof *made + sort->sort->kernel_count * sizeof made->pipelines[0]);
        if (!made) return HS_ERROR_HOST_MEMORY;
        made->sort = sort->sort;
        made->scope = scope;
        status = hs_metal_library(sort, device, &library, error);
        for (i = 0; i < made->sort->kernel_count && status == HS_OK; i++)
            if (hs_scope_has(made->sort, &scope, i, 0)) status = hs_metal_pipeline(made, i, device, library, error);
        if (library) HS_DROP(library);
        if (status != HS_OK)
            hs_metal_release(made);
        else
            *sorter = made;
    }
    return status;
}

void hs_metal_release(hs_metal *sorter)
{
    uint32_t i;
    if (!sorter) return;
    for (i = 0; i < sorter->sort->kernel_count; i++)
        if (sorter->pipelines[i]) HS_DROP(sorter->pipelines[i]);
    free(sorter);
}

uint32_t hs_metal_pipeline_count(const hs_metal *sorter)
{
    uint32_t i, count = 0;
    for (i = 0; sorter && i < sorter->sort->kernel_count; i++) count += sorter->pipelines[i] != NULL;
    return count;
}

const hs_sort *hs_metal_sort_of(const hs_metal *sorter) { return sorter ? sorter->sort : NULL; }
