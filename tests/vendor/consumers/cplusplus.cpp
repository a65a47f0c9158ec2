// A C++ program around the C functions: owners that release, exceptions for statuses.
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include "hs/hs_opencl.h"
#include "hs/hs_targets.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {

template <auto release> struct Released {
    template <class T> void operator()(T *handle) const { release(handle); }
};
template <class T, auto release> using Owned = std::unique_ptr<std::remove_pointer_t<T>, Released<release>>;

void good(hs_status status)
{
    if (status != HS_OK) throw std::runtime_error(hs_status_text(status));
}

void good(cl_int code)
{
    if (code != CL_SUCCESS) throw std::runtime_error("OpenCL code " + std::to_string(code));
}

} // namespace

int main()
try {
    cl_platform_id platform;
    cl_device_id device;
    good(clGetPlatformIDs(1, &platform, nullptr));
    good(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr));
    const hs_sort *sort;
    good(hs_opencl_match(hs_targets, hs_targets_count, "u32", NULL, device, &sort));
    if (!sort) throw std::runtime_error("no target suits the device");

    cl_int code;
    Owned<cl_context, clReleaseContext> context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
    good(code);
    Owned<cl_command_queue, clReleaseCommandQueue> queue(clCreateCommandQueue(context.get(), device, 0, &code));
    good(code);
    hs_opencl *made;
    hs_opencl_error error;
    good(hs_opencl_create(sort, context.get(), device, &made, &error));
    Owned<hs_opencl *, hs_opencl_release> sorter(made);

    std::vector<uint32_t> keys(100003);
    std::generate(keys.begin(), keys.end(), std::mt19937(1));
    const size_t bytes = keys.size() * sizeof keys[0];
    Owned<cl_mem, clReleaseMemObject> from(
        clCreateBuffer(context.get(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, keys.data(), &code));
    good(code);
    Owned<cl_mem, clReleaseMemObject> to(clCreateBuffer(context.get(), CL_MEM_READ_WRITE, bytes, nullptr, &code));
    good(code);
    hs_opencl_sort_args args{};
    args.n = keys.size();
    args.source = from.get();
    args.destination = to.get();
    good(hs_opencl_sort(sorter.get(), queue.get(), &args, &error));

    std::vector<uint32_t> sorted(keys.size());
    good(clEnqueueReadBuffer(queue.get(), to.get(), CL_TRUE, 0, bytes, sorted.data(), 0, nullptr, nullptr));
    std::sort(keys.begin(), keys.end());
    if (sorted != keys) throw std::runtime_error("wrong order");
    hs_info info;
    good(hs_describe(hs_opencl_sort_of(sorter.get()), &info));
    std::cout << "sorted " << keys.size() << " keys on a device with target " << info.target << '\n';
} catch (const std::exception &e) {
    std::cerr << e.what() << '\n';
    return 1;
}
