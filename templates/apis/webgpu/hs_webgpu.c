/* The operations of hs_webgpu.h.  Each stores its arguments in a hs_webgpu_record; one thread at a time may use a
 * sorter. */
#include "hs_webgpu_internal.h"

#include <string.h>

static hs_status hs_webgpu_run(hs_webgpu_sorter *sorter, WGPUCommandEncoder encoder, const hs_webgpu_record *record,
                               hs_webgpu_error *error)
{
    hs_status status;
    if (error) memset(error, 0, sizeof *error);
    if (!sorter || !encoder || !record) return HS_ERROR_ARGUMENT;
    if (sorter->sort->kind != record->kind) return HS_ERROR_KERNELS;
    if (!HS_ENTER(&sorter->busy)) return HS_ERROR_BUSY;
    status = hs_webgpu_perform(sorter, encoder, record, error);
    HS_LEAVE(&sorter->busy);
    return status;
}

/* HSGEN_CALLS */
