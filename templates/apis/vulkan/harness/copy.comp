// Copies 16 bytes a lane, as the kernels of a sort would.  hsgen bench compares sorts with this copy.
// copy.h is this module's SPIR-V, made with: glslangValidator -V -Os -g0 --target-env vulkan1.1 -S comp copy.comp
#version 450
layout(local_size_x = 256) in;
layout(push_constant) uniform hs_constants { uvec2 source_at, destination_at; int n, argument; } hs_push;
layout(std430, set = 0, binding = 0) readonly buffer hs_source { uvec4 key[]; } source;
layout(std430, set = 0, binding = 1) buffer hs_destination { uvec4 key[]; } destination;

void main()
{
    uint i = gl_GlobalInvocationID.x + gl_GlobalInvocationID.y * (gl_NumWorkGroups.x * 256u);
    if (i < uint(hs_push.n)) destination.key[hs_push.destination_at.x + i] = source.key[hs_push.source_at.x + i];
}
