/* A harness on the host: its buffers, a copy, and the baseline compiled with it.  It sorts nothing itself. */
#include "hn_cuda.h"

#include <string.h>

hn_cuda hn_state;

const char *hn_said(const char *what, cudaError_t code) { return code == cudaSuccess ? NULL : what; }
const char *hn_wrong(const char *what) { return what; }
const char *hn_allocate(unsigned char **memory, uint64_t *size, uint64_t bytes)
{
    free(*memory);
    *memory = static_cast<unsigned char *>(malloc(bytes));
    *size = bytes;
    return NULL;
}
const char *hn_time(double *seconds) { return *seconds = 0.25, nullptr; }

extern "C" const char *hn_open(int, const char *)
{
    hn_state.open = true;
    hn_state.stream = fake_stream;
    return NULL;
}
extern "C" const char *hn_sorter(const char *, const char *, const char *, const char *) { return NULL; }
extern "C" const char *hn_buffer(int slot, uint64_t bytes)
{
    return hn_allocate(&hn_state.buffers[slot], &hn_state.sizes[slot], bytes);
}
extern "C" const char *hn_write(int slot, uint64_t offset, const void *data, uint64_t bytes)
{
    memcpy(hn_state.buffers[slot] + offset, data, bytes);
    return NULL;
}
extern "C" const char *hn_read(int slot, uint64_t offset, void *data, uint64_t bytes)
{
    memcpy(data, hn_state.buffers[slot] + offset, bytes);
    return NULL;
}
extern "C" const char *hn_copy(uint64_t bytes, double *seconds)
{
    *seconds = -1;
    memcpy(hn_state.buffers[1], hn_state.buffers[0], bytes);
    return NULL;
}
extern "C" void hn_close(void) {}
