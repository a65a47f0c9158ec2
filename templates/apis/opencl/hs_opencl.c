/* The operations of hs_opencl.h. Each stores its arguments in a record, and enqueues the record. One thread at a time
 * may do so for a sorter. */
#include "hs_opencl_internal.h"

#include <string.h>

static hs_status hs_opencl_run(hs_opencl *sorter, cl_command_queue queue, const hs_opencl_record *record,
                               hs_opencl_error *error)
{
    hs_status status;
    if (error) memset(error, 0, sizeof *error);
    if (!sorter || !queue || !record || (record->wait_count && !record->wait)) return HS_ERROR_ARGUMENT;
    if (record->event) *record->event = NULL;
    if (sorter->sort->kind != record->kind) return HS_ERROR_KERNELS;
    if (!HS_ENTER(&sorter->busy)) return HS_ERROR_BUSY;
    status = hs_opencl_perform(sorter, queue, record, error);
    HS_LEAVE(&sorter->busy);
    return status;
}

/* HSGEN_CALLS */
