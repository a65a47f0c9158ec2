/* The harness of harness.h for CUDA: buffers, sorts, their time, copies.  The file is compiled together with the
 * sources of a bundle. */
#include "cuda_calls.h"
#include "hs/hs_targets_cuda.h"

#include <stdio.h>
#include <string.h>

hn_cuda hn_state;

hs_cuda *hn_made;
static char hn_text[512];

const char *hn_wrong(const char *what)
{
    snprintf(hn_text, sizeof hn_text, "%s", what);
    return hn_text;
}

const char *hn_said(const char *what, cudaError_t code)
{
    if (code == cudaSuccess) return NULL;
    (void)cudaGetLastError(); /* clears the error, which is reported here, so that no later call reports it again */
    snprintf(hn_text, sizeof hn_text, "%s: %s (%s)", what, cudaGetErrorString(code), cudaGetErrorName(code));
    return hn_text;
}

static const char *hn_failed(const char *what, hs_status status, cudaError_t code)
{
    if (status == HS_OK) return NULL;
    snprintf(hn_text, sizeof hn_text, "%s: status %d: %s%s%s", what, (int)status, hs_status_text(status),
             code == cudaSuccess ? "" : ": ", code == cudaSuccess ? "" : cudaGetErrorName(code));
    return hn_text;
}

const char *hn_allocate(unsigned char **memory, uint64_t *size, uint64_t bytes)
{
    cudaError_t code = cudaSuccess;
    if (*memory && *size == bytes) return NULL;
    code = cudaFree(*memory);
    *memory = NULL;
    *size = 0;
    if (code == cudaSuccess) code = cudaMalloc(reinterpret_cast<void **>(memory), bytes ? bytes : 1);
    if (code == cudaSuccess) *size = bytes;
    return hn_said("allocating device memory", code);
}

const char *hn_time(double *device_seconds)
{
    float ms = 0;
    cudaError_t code = cudaStreamSynchronize(hn_state.stream);
    if (code == cudaSuccess) code = cudaEventElapsedTime(&ms, hn_state.start, hn_state.stop);
    *device_seconds = code == cudaSuccess ? static_cast<double>(ms) / 1000 : -1;
    return hn_said("waiting for the device", code);
}

extern "C" const char *hn_count(int *count)
{
    const cudaError_t code = cudaGetDeviceCount(count);
    if (code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver) {
        *count = 0;
        return NULL;
    }
    return hn_said("looking for devices", code);
}

extern "C" void hn_close(void)
{
    hs_cuda_release(hn_made);
    hn_made = NULL;
    for (unsigned char *memory : hn_state.buffers) (void)cudaFree(memory);
    (void)cudaFree(hn_state.scratch);
    (void)cudaFree(hn_state.baseline);
    if (hn_state.start) (void)cudaEventDestroy(hn_state.start);
    if (hn_state.stop) (void)cudaEventDestroy(hn_state.stop);
    if (hn_state.stream) (void)cudaStreamDestroy(hn_state.stream);
    hn_state = hn_cuda();
}

extern "C" const char *hn_open(int index, const char *options)
{
    char words[256] = "";
    hn_close();
    snprintf(words, sizeof words, "%s", options);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        if (strcmp(word, "graph=1") == 0) hn_state.graph = true;
        else if (strcmp(word, "poison=1") == 0) hn_state.poison = true;
        else return hn_wrong("unknown option; the CUDA harness knows graph=1 and poison=1");
    }
    cudaError_t code = cudaSetDevice(index);
    if (code == cudaSuccess) code = cudaStreamCreateWithFlags(&hn_state.stream, cudaStreamNonBlocking);
    if (code == cudaSuccess) code = cudaEventCreate(&hn_state.start);
    if (code == cudaSuccess) code = cudaEventCreate(&hn_state.stop);
    hn_state.open = code == cudaSuccess;
    return hn_said("opening the device", code);
}

extern "C" const char *hn_sorter(const char *target, const char *algorithm, const char *key, const char *value)
{
    if (!hn_state.open) return hn_wrong("no device is open");
    hs_cuda_release(hn_made);
    hn_made = NULL;
    hn_state.sorted = 0;
    for (size_t t = 0; t < hs_cuda_targets_count; t++) {
        const hs_target *const found = hs_cuda_targets[t]->target;
        const hs_sort *const wanted = strcmp(found->name, target) == 0 ? hs_find(found, algorithm, key, value) : NULL;
        for (size_t s = 0; wanted && s < found->sort_count; s++) {
            if (found->sorts[s] != wanted) continue;
            cudaError_t code = cudaSuccess;
            const hs_status status = hs_cuda_create(hs_cuda_targets[t]->sorts[s], &hn_made, &code);
            return hn_failed("hs_cuda_create", status, code);
        }
    }
    return hn_wrong("the bundle holds no such sort");
}

extern "C" const char *hn_buffer(int slot, uint64_t bytes)
{
    if (!hn_state.open || slot < 0 || slot >= HN_SLOTS) return hn_wrong("no device is open, or no such buffer");
    return hn_allocate(&hn_state.buffers[slot], &hn_state.sizes[slot], bytes);
}

static bool hn_fits(int slot, uint64_t offset, uint64_t bytes)
{
    return slot >= 0 && slot < HN_SLOTS && hn_state.buffers[slot] && offset <= hn_state.sizes[slot] &&
           bytes <= hn_state.sizes[slot] - offset;
}

extern "C" const char *hn_write(int slot, uint64_t offset, const void *data, uint64_t bytes)
{
    if (!hn_fits(slot, offset, bytes)) return hn_wrong("writing beyond a buffer");
    unsigned char *const to = hn_state.buffers[slot] + offset;
    /* the copy is on the sort's stream: a plain cudaMemcpy may return before the data arrive, and the sort's stream
     * would not wait for it */
    cudaError_t code = cudaMemcpyAsync(to, data, bytes, cudaMemcpyHostToDevice, hn_state.stream);
    if (code == cudaSuccess) code = cudaStreamSynchronize(hn_state.stream);
    return hn_said("writing a buffer", code);
}

static const char *hn_check_guard(void)
{
    static unsigned char guard[HN_GUARD];
    if (!hn_state.unchecked) return NULL;
    hn_state.unchecked = false;
    const unsigned char *const from = hn_state.scratch + hn_state.scratch_size - HN_GUARD;
    const cudaError_t code = cudaMemcpy(guard, from, sizeof guard, cudaMemcpyDeviceToHost);
    if (code != cudaSuccess) return hn_said("reading the guard of scratch", code);
    return hn_whole(guard) ? NULL : hn_wrong(HN_OVERWRITTEN);
}

extern "C" const char *hn_redone(uint32_t *redone)
{
    uint32_t words[256];
    uint64_t offset = 0, bytes = 0;
    if (!hn_made) return hn_wrong("no sort is ready");
    if (const char *wrong = hn_check_guard()) return wrong;
    const hs_sort *const sort = hs_cuda_sort_of(hn_made);
    hs_status status = hs_device_status_at(sort, hn_state.sorted, &offset, &bytes);
    if (bytes > sizeof words) return hn_wrong("more words of an outcome than there is room for");
    if (status == HS_OK && bytes) {
        const cudaError_t code = cudaMemcpy(words, hn_state.scratch + offset, bytes, cudaMemcpyDeviceToHost);
        if (code != cudaSuccess) return hn_said("reading the outcome", code);
    }
    if (status == HS_OK) status = hs_device_status(sort, words, bytes, redone);
    return status == HS_ERROR_SEGMENTS ? NULL : hn_failed("hs_device_status", status, cudaSuccess);
}

/* Scratch of exactly `bytes` bytes, followed by a guard. */
static const char *hn_prepare(uint64_t bytes)
{
    const bool fresh = !hn_state.scratch || hn_state.scratch_size != bytes + HN_GUARD;
    if (fresh)
        if (const char *wrong = hn_check_guard()) return wrong;
    if (const char *wrong = hn_allocate(&hn_state.scratch, &hn_state.scratch_size, bytes + HN_GUARD)) return wrong;
    cudaError_t code = cudaSuccess;
    if (fresh) code = cudaMemsetAsync(hn_state.scratch + bytes, HN_GUARD_BYTE, HN_GUARD, hn_state.stream);
    if (code == cudaSuccess && (fresh || hn_state.poison))
        code = cudaMemsetAsync(hn_state.scratch, HN_POISON_BYTE, bytes, hn_state.stream);
    if (code == cudaSuccess) code = cudaStreamSynchronize(hn_state.stream);
    hn_state.unchecked = true;
    return hn_said("filling scratch", code);
}

extern "C" const char *hn_read(int slot, uint64_t offset, void *data, uint64_t bytes)
{
    if (const char *wrong = hn_check_guard()) return wrong;
    if (!hn_fits(slot, offset, bytes)) return hn_wrong("reading beyond a buffer");
    const unsigned char *const from = hn_state.buffers[slot] + offset;
    return hn_said("reading a buffer", cudaMemcpy(data, from, bytes, cudaMemcpyDeviceToHost));
}

/* Enqueue a call on the stream, between the events of the clock. */
static const char *hn_enqueue(const hn_call *call, size_t scratch)
{
    cudaError_t code = cudaEventRecord(hn_state.start, hn_state.stream);
    if (code != cudaSuccess) return hn_said("starting the clock", code);
    const hs_status status = hn_run(call, scratch, &code);
    static const char *const names[] = HN_NAMES("cuda", "");
    if (status != HS_OK) return hn_failed(names[hs_cuda_sort_of(hn_made)->kind], status, code);
    return hn_said("stopping the clock", cudaEventRecord(hn_state.stop, hn_state.stream));
}

/* Capture a call into a graph, and launch the graph.  The strictest capture mode fails at any call that would wait or
 * allocate. */
static const char *hn_replay(const hn_call *call, size_t scratch)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    cudaError_t said = cudaSuccess;
    cudaError_t code = cudaStreamBeginCapture(hn_state.stream, cudaStreamCaptureModeGlobal);
    if (code != cudaSuccess) return hn_said("beginning a capture", code);
    const hs_status status = hn_run(call, scratch, &said);
    code = cudaStreamEndCapture(hn_state.stream, &graph);
    if (status == HS_OK) {
        if (code == cudaSuccess) code = cudaGraphInstantiateWithFlags(&ready, graph, 0);
        if (code == cudaSuccess) code = hn_upload(ready);
        if (code == cudaSuccess) code = cudaEventRecord(hn_state.start, hn_state.stream);
        if (code == cudaSuccess) code = cudaGraphLaunch(ready, hn_state.stream);
        if (code == cudaSuccess) code = cudaEventRecord(hn_state.stop, hn_state.stream);
        if (code == cudaSuccess) code = cudaStreamSynchronize(hn_state.stream); /* the graph is destroyed next */
    }
    if (ready) (void)cudaGraphExecDestroy(ready);
    if (graph) (void)cudaGraphDestroy(graph);
    static const char *const names[] = HN_NAMES("cuda", " in a capture");
    if (status != HS_OK) return hn_failed(names[hs_cuda_sort_of(hn_made)->kind], status, said);
    return hn_said("replaying a graph", code);
}

extern "C" const char *hn_sort(const hn_call *call, double *device_seconds)
{
    const hs_options options = hn_options_of(call);
    uint64_t scratch = 0;
    *device_seconds = -1;
    if (!hn_made) return hn_wrong("no sort is ready");
    for (int role = 0; role < HN_ROLES; role++)
        if (hn_plays(call, role) && !hn_fits(call->slots[role], call->offsets[role], 0))
            return hn_wrong("no such place in a buffer");
    const hs_status status = hs_scratch_with(hs_cuda_sort_of(hn_made), call->n, &options, &scratch);
    if (status != HS_OK) return hn_failed("hs_scratch_with", status, cudaSuccess);
    if (scratch)
        if (const char *wrong = hn_prepare(scratch)) return wrong;
    hn_state.sorted = call->n;
    if (const char *wrong = hn_state.graph ? hn_replay(call, scratch) : hn_enqueue(call, scratch)) return wrong;
    return hn_time(device_seconds);
}

extern "C" const char *hn_copy(uint64_t bytes, double *device_seconds)
{
    *device_seconds = -1;
    if (!hn_fits(0, 0, bytes) || !hn_fits(1, 0, bytes)) return hn_wrong("copying beyond a buffer");
    cudaError_t code = cudaEventRecord(hn_state.start, hn_state.stream);
    if (code == cudaSuccess)
        code = cudaMemcpyAsync(hn_state.buffers[1], hn_state.buffers[0], bytes, cudaMemcpyDeviceToDevice,
                               hn_state.stream);
    if (code == cudaSuccess) code = cudaEventRecord(hn_state.stop, hn_state.stream);
    return code != cudaSuccess ? hn_said("copying", code) : hn_time(device_seconds);
}

extern "C" const char *hn_clock(int on)
{
    (void)on; /* events are always recorded */
    return NULL;
}

extern "C" const char *hn_room(uint64_t *total, uint64_t *largest)
{
    size_t free_bytes = 0, all = 0;
    const cudaError_t code = cudaMemGetInfo(&free_bytes, &all);
    *total = *largest = free_bytes;
    return hn_said("asking for memory", code);
}

extern "C" const char *hn_messages(void) { return ""; }
