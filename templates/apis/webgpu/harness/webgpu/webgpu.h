/* The header of the Python package wgpu, by the path that programs include it by. */
#include <webgpu.h>
