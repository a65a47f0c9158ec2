// A program with the owners of docs/packaging/cplusplus: it sorts, moves a sorter, and gets an exception for a wrong call.
#define CL_TARGET_OPENCL_VERSION 120
#include "hs_opencl.hpp"

#include <algorithm>
#include <iostream>
#include <random>
#include <utility>
#include <vector>

int main()
try {
    cl_platform_id platform;
    cl_device_id device;
    if (clGetPlatformIDs(1, &platform, nullptr) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr))
        throw std::runtime_error("no device");
    cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, nullptr);
    std::vector<uint32_t> keys(100003);
    std::generate(keys.begin(), keys.end(), std::mt19937(1));
    const size_t bytes = keys.size() * sizeof keys[0];
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, keys.data(), nullptr);

    hs::opencl_sorter first(context, device, "u32"), sorter = std::move(first);
    if (first.get() || !sorter.get()) throw std::runtime_error("a sorter that was moved has two owners");
    hs_opencl_sort_args args{};
    args.n = keys.size();
    args.source = buffer;
    sorter.sort(queue, args);
    std::vector<uint32_t> sorted(keys.size());
    clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, sorted.data(), 0, nullptr, nullptr);
    std::sort(keys.begin(), keys.end());
    if (sorted != keys) throw std::runtime_error("wrong order");

    std::string said;
    args.source = nullptr;
    try {
        sorter.sort(queue, args);
    } catch (const hs::failure &error) {
        said = error.what();
        if (error.status == HS_OK) said.clear();
    }
    if (said.empty()) throw std::runtime_error("a wrong call did not throw");
    try {
        hs::opencl_sorter none(context, device, "u64");
        throw std::logic_error("a missing sort did not throw");
    } catch (const std::runtime_error &error) {
        std::cout << error.what() << '\n';
    }
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    std::cout << "sorted " << keys.size() << " keys; " << said << '\n';
} catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
