/* A knot made of points, and the shaders that project and draw them. */

/** Points around a trefoil knot: 8 floats each, a place and a colour. */
export function knot(n) {
  const out = new Float32Array(8 * n);
  const at = (t) => {
    const r = 0.62 + 0.26 * Math.cos(3 * t);
    return [r * Math.cos(2 * t), r * Math.sin(2 * t), 0.34 * Math.sin(3 * t)];
  };
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = (a) => a.map((x) => x / Math.hypot(...a));
  for (let i = 0; i < n; i++) {
    const t = (2 * Math.PI * (i * 0.6180339887498949)) % (2 * Math.PI), angle = 2 * Math.PI * Math.random();
    const here = at(t), next = at(t + 0.001);
    const along = unit(next.map((x, k) => x - here[k])), side = unit(cross(along, [0.3, 0.2, 1])), up = cross(along, side);
    const radius = 0.15 + 0.012 * Math.random();
    const normal = side.map((x, k) => Math.cos(angle) * x + Math.sin(angle) * up[k]);
    const light = 0.62 + 0.38 * (0.4 * normal[0] + 0.5 * normal[1] + 0.7 * normal[2]);
    const stripe = Math.floor((t / (2 * Math.PI)) * 36) % 2 ? 1 : 0.72;
    const tone = (shift) => light * stripe * (0.55 + 0.45 * Math.cos(t + shift));
    out.set([...here.map((x, k) => x + radius * normal[k]), 0, tone(0), tone(2.1), tone(4.2), 0.85], 8 * i);
  }
  return out;
}

const VIEW = `
struct View { turn: mat3x3<f32>, scale: vec2<f32>, radius: f32, cut: f32, n: u32, ordered: u32 }
struct Point { place: vec4<f32>, colour: vec4<f32> }
fn seen(view: View, place: vec3<f32>) -> vec3<f32> { return view.turn * place; }
`;

/** The depth of each point on the visible side of the cut, in any order, with its index; and how many there are. */
export const PROJECT = `${VIEW}
@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<storage, read> points: array<Point>;
@group(0) @binding(2) var<storage, read_write> depths: array<f32>;
@group(0) @binding(3) var<storage, read_write> indices: array<u32>;
@group(0) @binding(4) var<storage, read_write> count: atomic<u32>;
@compute @workgroup_size(64) fn project(@builtin(global_invocation_id) at: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = at.x + at.y * groups.x * 64u;
  if (i >= view.n || points[i].place.x > view.cut) { return; }
  let slot = atomicAdd(&count, 1u);
  depths[slot] = 3.0 - seen(view, points[i].place.xyz).z;
  indices[slot] = i;
}`;

export const DRAW = `${VIEW}
@group(0) @binding(0) var<uniform> view: View;
@group(0) @binding(1) var<storage, read> points: array<Point>;
@group(0) @binding(2) var<storage, read> sorted: array<u32>;
struct Out { @builtin(position) position: vec4<f32>, @location(0) at: vec2<f32>, @location(1) colour: vec4<f32> }
@vertex fn corner(@builtin(vertex_index) vertex: u32, @builtin(instance_index) instance: u32) -> Out {
  let point = points[sorted[instance]];
  let at = vec2<f32>(f32(vertex & 1u) * 2.0 - 1.0, f32(vertex >> 1u) * 2.0 - 1.0);
  let place = seen(view, point.place.xyz);
  let far = 3.0 - place.z;
  var out: Out;
  out.position = vec4<f32>((place.xy + at * view.radius) * view.scale * 3.0, 0.0, far);
  out.at = at;
  out.colour = vec4<f32>(point.colour.rgb * clamp(1.55 - 0.24 * far, 0.0, 1.0), point.colour.a);
  return out;
}
@fragment fn dot_of(in: Out) -> @location(0) vec4<f32> {
  let alpha = in.colour.a * clamp(1.4 * (1.0 - dot(in.at, in.at)), 0.0, 1.0);
  return vec4<f32>(in.colour.rgb * alpha, alpha);
}`;

/** The numbers of a view, as its bytes. */
export function view({ yaw, pitch, width, height, radius, cut, n, ordered }) {
  const data = new ArrayBuffer(80), floats = new Float32Array(data), words = new Uint32Array(data);
  const [cy, sy, cp, sp] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
  floats.set([cy, sp * sy, -cp * sy, 0, 0, cp, sp, 0, sy, -sp * cy, cp * cy, 0]); // columns
  const fit = 0.86;
  floats.set(width > height ? [(fit * height) / width, fit] : [fit, (fit * width) / height], 12);
  floats.set([radius, cut], 14);
  words.set([n, ordered ? 1 : 0], 16);
  return data;
}
