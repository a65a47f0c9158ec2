/* Sort random numbers with Direct3D 12: all that a program does, from the device to the sorted array.
 *
 * Its argument is a folder with the kernels of the bundle's first sort of u32 keys.  This command compiles a kernel:
 *     dxc -T cs_6_0 -E KERNEL -D HS_KERNEL_KERNEL -Fo KERNEL.dxil targets/TARGET/kernels/hlsl/SORT.hlsl
 * The exit code is 0 if the numbers came back sorted. */
#include "hs/hs_targets_hlsl.h"

#include <d3d12.h>
#include <wrl/client.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

using Microsoft::WRL::ComPtr;

static void check(HRESULT result)
{
    if (FAILED(result)) throw std::runtime_error("Direct3D: " + std::to_string(result));
}

/* The pipelines of a sort. */
class Sorter {
public:
    Sorter(ID3D12Device *device, const hs_sort &sort, const std::function<std::vector<char>(const char *)> &kernel)
        : sort_(sort)
    {
        std::vector<D3D12_ROOT_PARAMETER> parameters(1 + HS_BINDINGS);
        parameters[0].ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
        parameters[0].Constants.Num32BitValues = HS_HLSL_CONSTANTS;
        for (UINT i = 0; i < HS_BINDINGS; i++) {
            parameters[1 + i].ParameterType = D3D12_ROOT_PARAMETER_TYPE_UAV;
            parameters[1 + i].Descriptor.ShaderRegister = i;
        }
        D3D12_ROOT_SIGNATURE_DESC root = {};
        ComPtr<ID3DBlob> blob;
        root.NumParameters = UINT(parameters.size());
        root.pParameters = parameters.data();
        check(D3D12SerializeRootSignature(&root, D3D_ROOT_SIGNATURE_VERSION_1, &blob, nullptr));
        check(device->CreateRootSignature(0, blob->GetBufferPointer(), blob->GetBufferSize(), IID_PPV_ARGS(&root_)));
        for (uint32_t k = 0; k < sort.kernel_count; k++) {
            D3D12_COMPUTE_PIPELINE_STATE_DESC pipeline = {};
            const std::vector<char> code = sort.kernels[k].index64 ? std::vector<char>() : kernel(sort.kernels[k].name);
            pipelines_.emplace_back();
            pipeline.pRootSignature = root_.Get();
            pipeline.CS = {code.data(), code.size()};
            if (code.size()) check(device->CreateComputePipelineState(&pipeline, IID_PPV_ARGS(&pipelines_.back())));
        }
    }

    /* Record a sort of n keys in place.  The buffers are in the state UNORDERED_ACCESS. */
    hs_status record(ID3D12GraphicsCommandList *list, uint64_t n, ID3D12Resource *keys, ID3D12Resource *scratch) const
    {
        ID3D12Resource *given[HS_ROLES] = {};
        hs_options options = {};
        hs_span spans[HS_ROLES] = {};
        hs_call call = {};
        given[HS_SOURCE] = keys;
        given[HS_SCRATCH] = scratch;
        call.n = n;
        call.options = &options;
        for (int i = 0; i < HS_ROLES; i++) {
            if (!given[i]) continue;
            spans[i].where = given[i]->GetGPUVirtualAddress();
            spans[i].room = given[i]->GetDesc().Width;
        }
        const hs_status status = hs_survey(&sort_, &call, spans);
        if (status != HS_OK || n == 0) return status;
        list->SetComputeRootSignature(root_.Get());
        for (uint32_t i = 0; i < sort_.step_count; i++) {
            hs_hlsl_launch launch;
            const int runs = hs_hlsl_step(&sort_, i, &call, spans, &launch);
            if (runs < 0) return HS_ERROR_DEVICE;
            if (runs == 0) continue;
            D3D12_RESOURCE_BARRIER barrier = {}; /* without a resource, it is a barrier for all of them */
            barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
            list->ResourceBarrier(1, &barrier);
            list->SetPipelineState(pipelines_[launch.kernel].Get());
            list->SetComputeRoot32BitConstants(0, launch.constant_count, launch.constants, 0);
            for (uint32_t k = 0; k < launch.bindings; k++)
                list->SetComputeRootUnorderedAccessView(1 + k, given[launch.roles[k]]->GetGPUVirtualAddress());
            list->Dispatch(launch.grid[0], launch.grid[1], 1);
        }
        return HS_OK;
    }

private:
    const hs_sort &sort_;
    ComPtr<ID3D12RootSignature> root_;
    std::vector<ComPtr<ID3D12PipelineState>> pipelines_;
};

static ComPtr<ID3D12Resource> buffer(ID3D12Device *device, D3D12_HEAP_TYPE type, uint64_t bytes)
{
    const bool own = type == D3D12_HEAP_TYPE_DEFAULT;
    D3D12_HEAP_PROPERTIES heap = {};
    D3D12_RESOURCE_DESC desc = {};
    ComPtr<ID3D12Resource> made;
    heap.Type = type;
    desc.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
    desc.Width = bytes;
    desc.Height = desc.DepthOrArraySize = desc.MipLevels = 1;
    desc.SampleDesc.Count = 1;
    desc.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR;
    desc.Flags = own ? D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS : D3D12_RESOURCE_FLAG_NONE;
    const D3D12_RESOURCE_STATES state = own                              ? D3D12_RESOURCE_STATE_COMMON
                                        : type == D3D12_HEAP_TYPE_UPLOAD ? D3D12_RESOURCE_STATE_GENERIC_READ
                                                                         : D3D12_RESOURCE_STATE_COPY_DEST;
    check(device->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc, state, nullptr, IID_PPV_ARGS(&made)));
    return made;
}

static void become(ID3D12GraphicsCommandList *list, ID3D12Resource *one, D3D12_RESOURCE_STATES from,
                   D3D12_RESOURCE_STATES to)
{
    D3D12_RESOURCE_BARRIER barrier = {};
    barrier.Transition = {one, D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES, from, to};
    list->ResourceBarrier(1, &barrier);
}

/* Sort the numbers in `keys`. */
static hs_status sort(ID3D12Device *device, const hs_sort &how, const std::string &folder, std::vector<uint32_t> &keys)
{
    const uint64_t bytes = keys.size() * sizeof keys[0];
    uint64_t scratch_bytes = 0;
    void *mapped = nullptr;
    hs_status status = hs_scratch(&how, keys.size(), &scratch_bytes);
    if (status != HS_OK) return status;
    const Sorter sorter(device, how, [&folder](const char *name) {
        std::ifstream file(folder + "/" + name + ".dxil", std::ios::binary);
        if (!file) throw std::runtime_error(std::string("no ") + name + ".dxil");
        return std::vector<char>(std::istreambuf_iterator<char>(file), {});
    });
    const ComPtr<ID3D12Resource> there = buffer(device, D3D12_HEAP_TYPE_DEFAULT, bytes),
                                 scratch = buffer(device, D3D12_HEAP_TYPE_DEFAULT, std::max<uint64_t>(scratch_bytes, 4)),
                                 up = buffer(device, D3D12_HEAP_TYPE_UPLOAD, bytes),
                                 back = buffer(device, D3D12_HEAP_TYPE_READBACK, bytes);
    D3D12_COMMAND_QUEUE_DESC desc = {};
    ComPtr<ID3D12CommandQueue> queue;
    ComPtr<ID3D12CommandAllocator> allocator;
    ComPtr<ID3D12GraphicsCommandList> list;
    ComPtr<ID3D12Fence> fence;
    desc.Type = D3D12_COMMAND_LIST_TYPE_COMPUTE;
    check(device->CreateCommandQueue(&desc, IID_PPV_ARGS(&queue)));
    check(device->CreateCommandAllocator(desc.Type, IID_PPV_ARGS(&allocator)));
    check(device->CreateCommandList(0, desc.Type, allocator.Get(), nullptr, IID_PPV_ARGS(&list)));
    check(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)));
    check(up->Map(0, nullptr, &mapped));
    std::copy(keys.begin(), keys.end(), static_cast<uint32_t *>(mapped));
    up->Unmap(0, nullptr);
    become(list.Get(), there.Get(), D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_COPY_DEST);
    list->CopyBufferRegion(there.Get(), 0, up.Get(), 0, bytes);
    become(list.Get(), there.Get(), D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
    become(list.Get(), scratch.Get(), D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
    status = sorter.record(list.Get(), keys.size(), there.Get(), scratch.Get());
    if (status != HS_OK) return status;
    become(list.Get(), there.Get(), D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COPY_SOURCE);
    list->CopyBufferRegion(back.Get(), 0, there.Get(), 0, bytes);
    check(list->Close());
    ID3D12CommandList *const lists[] = {list.Get()};
    queue->ExecuteCommandLists(1, lists);
    check(queue->Signal(fence.Get(), 1));
    check(fence->SetEventOnCompletion(1, nullptr)); /* without an event, the call itself waits */
    check(back->Map(0, nullptr, &mapped));
    std::copy_n(static_cast<uint32_t *>(mapped), keys.size(), keys.begin());
    back->Unmap(0, nullptr);
    return HS_OK;
}

int main(int argc, char **argv)
{
    std::vector<uint32_t> keys(1000003);
    uint32_t x = 2463534242u;
    for (uint32_t &key : keys) key = x = x * 1664525u + 1013904223u;
    try {
        ComPtr<ID3D12Device> device;
        D3D12_FEATURE_DATA_D3D12_OPTIONS1 waves = {};
        if (argc != 2) throw std::runtime_error("give the folder of the compiled kernels");
        check(D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_12_0, IID_PPV_ARGS(&device)));
        check(device->CheckFeatureSupport(D3D12_FEATURE_D3D12_OPTIONS1, &waves, sizeof waves));
        const hs_device about = {HS_GPU, 0, 0, nullptr, "Direct3D 12"};
        const hs_hlsl_kernels *found =
            hs_hlsl_match(hs_hlsl_targets, hs_hlsl_targets_count, "u32", nullptr, &about, waves.WaveLaneCountMin);
        if (!found) throw std::runtime_error("no sort of this bundle suits the device");
        const hs_status status = sort(device.Get(), *found->sort, argv[1], keys);
        if (status != HS_OK) throw std::runtime_error(hs_status_text(status));
    } catch (const std::exception &problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        return 1;
    }
    if (!std::is_sorted(keys.begin(), keys.end())) return 1;
    std::printf("%u keys sorted\n", unsigned(keys.size()));
    return 0;
}
