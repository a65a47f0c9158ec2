#!/usr/bin/env bash
# What only an NVIDIA GPU can show; runs unattended on a bare machine with CUDA, without network:
#   bash tests/device/nvidia.sh check [FOLDER]   validate CUDA, Vulkan and OpenCL; compute-sanitizer's four tools
#   bash tests/device/nvidia.sh forms [FOLDER]   validate sorts of every form: types, values, ranges, counts on the device
#   bash tests/device/nvidia.sh bench [FOLDER]   throughput of 2^10 to 2^28 keys beside CUB, CUDA and Vulkan
#   bash tests/device/nvidia.sh pairs [FOLDER]   the same of keys with values, and of argsorts
#   bash tests/device/nvidia.sh arrays [FOLDER]  sorts of PyTorch's and CuPy's arrays, and their speed; part of check, bench
#   bash tests/device/nvidia.sh parted [FOLDER]  segmented sorts and merges beside CUB, sorts that tell of changes
#   bash tests/device/nvidia.sh ways [FOLDER]    groupings in every way, other operations, sorts and selections at every plan;
#                                                under racecheck, initcheck and synccheck, or the tools in TOOLS; part of check
#   bash tests/device/nvidia.sh stress [FOLDER]  all operations in random order for STRESS_SECONDS, 480 by default; part of check
# BUNDLE, of generated or another, is where Vulkan's SPIR-V comes from; of forms that it does not hold there is none.
# Needs nvcc, a C compiler and a python3 with jinja2, click and numpy (.venv's if there is one).  What else is missing
# (pyopencl, Vulkan's loader or headers, compute-sanitizer, the packages of hsgen[cuda], PyTorch) is named and left out;
# HSGEN_REQUIRE=1 makes that a failure.
# JOBS=4 runs up to four steps of check, ways or forms at once; a step that is timed has the GPU alone.
# ONLY='sorts-racecheck|selections' runs the steps alone whose names match.  LIMIT=580 ends after so many seconds: what ran
# until then is stopped, and what had not begun is listed; RESUME=1 leaves out the steps that were ok in FOLDER before.
# Logs and JSON go to FOLDER (.cache/device).  Exit code 0 only if no step failed, and none was stopped or had not begun.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
what=${1:-check}
out=${2:-.cache/device}
case "$what" in
  check | forms | bench | pairs | parted | arrays | ways | stress) ;;
  *) echo "usage: bash tests/device/nvidia.sh check|forms|bench|pairs|parted|arrays|ways|stress [FOLDER]" >&2; exit 2 ;;
esac
bundle=${BUNDLE:-generated}
mkdir -p "$out"
python=python3
[ -x .venv/bin/python ] && python=.venv/bin/python
export PYTHONPATH=$PWD${PYTHONPATH:+:$PYTHONPATH} PYTHONUNBUFFERED=1 HSGEN_BACKGROUND=0
target=${HSGEN_TARGET:-nvidia-sm90}
[ -n "${HSGEN_TARGET:-}" ] || ! nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | grep -qx 9.0 || target=nvidia-hopper
others=$target # for APIs that nvidia-hopper does not serve
[ "$target" != nvidia-hopper ] && [ "$target" != nvidia-sm90 ] || others=nvidia-vulkan
failed=0
left=0
begun=()
hsgen=("$python" -m hsgen)

step() { # name, command...
  local name=$1 begin=$SECONDS time=$((${LIMIT:-999999} - SECONDS)) code
  shift
  [[ $name =~ ${ONLY:-.} ]] || return 0
  [ "${RESUME:-0}" != 1 ] || [ ! -e "$out/$name.ok" ] || return 0
  if [ "$time" -lt 5 ]; then
    printf '%-28s not begun: no time is left\n' "$name"
    failed=1
    return 1
  fi
  rm -f "$out/$name.ok"
  timeout --kill-after=3 "$time" "$@" >"$out/$name.log" 2>"$out/$name.err"
  code=$?
  printf '%-28s %-8s %4d s  %s\n' "$name" "$([ $code -eq 0 ] && echo ok || echo "exit $code")" $((SECONDS - begin)) \
    "$(tail -n 1 "$out/$name.log" | cut -c 1-150)"
  if [ $code -eq 0 ]; then
    touch "$out/$name.ok"
    return 0
  fi
  failed=1
  tail -n 12 "$out/$name.err" | cut -c 1-300
  return 1
}

# A step that may run beside others; `joined` waits for all of them.
beside() { # name, command...
  while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-1}" ]; do sleep 0.1; done
  step "$@" &
  begun+=($!)
}

joined() {
  local process
  for process in "${begun[@]}"; do wait "$process" || failed=1; done
  begun=()
}

leave() { # name, why
  printf '%-28s left out: %s\n' "$1" "$2"
  left=1
}

has_vulkan() {
  echo '#include <vulkan/vulkan_core.h>' | cc -E -x c - >/dev/null 2>&1 && ldconfig -p | grep libvulkan.so.1 >/dev/null
}

check() {
  local scan kind key value order
  step doctor "${hsgen[@]}" doctor
  beside cuda "${hsgen[@]}" validate --api cuda -t "$target" --full --device 'NVIDIA#1'
  beside cuda-radix "${hsgen[@]}" validate --api cuda -t "$target" --algorithm radix --full --option poison=1 --device 'NVIDIA#1'
  for scan in scan-x1 scan-x2 scan-x3 scan-x4 scan-x1ex scan-x4ex; do
    beside "cuda-$scan" "${hsgen[@]}" validate --api cuda -t "$target" --algorithm $scan --device 'NVIDIA#1'
  done
  for kind in segmented_sort merge_path digest radix_select reduce_by_key; do
    beside cuda-$kind "${hsgen[@]}" validate --api cuda -t "$target" --algorithm $kind --device 'NVIDIA#1'
    order=(--order both)
    [ $kind != reduce_by_key ] || order=() # has no order of keys
    beside cuda-$kind-v4 "${hsgen[@]}" validate --api cuda -t "$target" --algorithm $kind --value v4 "${order[@]}" --device 'NVIDIA#1'
  done
  for key in u32 u64; do beside cuda-pack-$key "${hsgen[@]}" validate --api cuda -t "$target" --algorithm pack --key $key --device 'NVIDIA#1'; done
  for value in v4 v8 v16; do beside cuda-gather-$value "${hsgen[@]}" validate --api cuda -t "$target" --algorithm gather --key u32 --value $value --device 'NVIDIA#1'; done
  beside cuda-changes "${hsgen[@]}" validate --api cuda -t "$target" --feature run-boundaries --device 'NVIDIA#1'
  step cuda-large "$python" tests/device/large.py "$target" 2^29+1 2^30-1 2^30 2^32+12345
  beside cuda-graph "${hsgen[@]}" validate --api cuda -t "$target" --option graph=1 --device 'NVIDIA#1'
  beside cuda-generic "${hsgen[@]}" validate --api cuda -t generic --device 'NVIDIA#1'
  joined
  sanitize
  check_arrays
  ways
  stress
  if has_vulkan; then
    beside vulkan "${hsgen[@]}" validate --api vulkan -t "$others" --full --bundle "$bundle" --device 'NVIDIA#1'
    beside vulkan-addresses "${hsgen[@]}" validate --api vulkan -t "$others" --option binding_limit=4096 --bundle "$bundle" --device 'NVIDIA#1'
    if ls /usr/share/vulkan/explicit_layer.d/*alidation*.json >/dev/null 2>&1; then
      beside vulkan-validation "${hsgen[@]}" validate --api vulkan -t "$others" --option validation=1 --bundle "$bundle" --device 'NVIDIA#1'
    else
      leave vulkan-validation "the validation layers are not installed"
    fi
    beside vulkan-generic "${hsgen[@]}" validate --api vulkan -t generic --bundle "$bundle" --device 'NVIDIA#1'
  else
    leave vulkan "no loader libvulkan.so.1, or no header vulkan/vulkan_core.h"
  fi
  if "$python" -c 'import pyopencl' 2>/dev/null; then
    beside opencl "${hsgen[@]}" validate -t generic --full --device 'NVIDIA#1'
    beside opencl-radix "${hsgen[@]}" validate -t generic --algorithm radix --device 'NVIDIA#1'
  else
    leave opencl "pyopencl is not installed"
  fi
  if echo '#include <CL/cl.h>' | cc -E -x c - >/dev/null 2>&1; then
    beside opencl-c "${hsgen[@]}" validate -t generic --runtime c --device 'NVIDIA#1'
  else
    leave opencl-c "no header CL/cl.h"
  fi
  joined
}

# At least 20 000 cases through PyTorch's and CuPy's arrays; a sanitizer sees a part of them.
check_arrays() {
  if ! "$python" -c 'import cuda.bindings, cuda.core' 2>/dev/null; then
    leave arrays "the packages of hsgen[cuda] are not installed"
    return
  fi
  local part parts
  if [[ arrays =~ ${ONLY:-.} ]]; then
    parts=$(nproc)
    for ((part = 0; part < parts; part++)); do "$python" tests/device/cuda_arrays.py warm $part "$parts" & done >"$out/arrays-warm.log" 2>&1
    wait
  fi
  step arrays "$python" tests/device/cuda_arrays.py 22000
  if "$python" -c 'import torch, cupy' 2>/dev/null; then
    step tables "$python" tests/device/cuda_tables.py 4000
  else
    leave tables "PyTorch or CuPy is not installed"
  fi
  if command -v compute-sanitizer >/dev/null; then
    step arrays-memcheck compute-sanitizer --tool memcheck --report-api-errors no --error-exitcode 9 "$python" tests/device/cuda_arrays.py 200
  else
    leave arrays-memcheck "compute-sanitizer is not installed"
  fi
}

has_cupy() { # what for
  "$python" -c 'import cuda.bindings, cuda.core, cupy' 2>/dev/null && return
  leave "$1" "CuPy or the packages of hsgen[cuda] are not installed"
  return 1
}

# The first two steps need most of the memory of a GPU of 80 GB, so they run alone.
# Warnings of racecheck are shown by kernel and fail nothing: lanes that store the same word are reported so.
ways() {
  has_cupy ways || return
  local tool part
  step ways "$python" tests/device/grouping_ways.py --large
  step sorts "$python" tests/device/every_sort.py
  beside ways-others "$python" tests/device/grouping_ways.py --others
  beside sorts-shrunk "$python" tests/device/every_sort.py --shrunk
  beside merges-shrunk "$python" tests/device/every_sort.py --shrunk --merges
  beside selections "$python" tests/device/every_selection.py
  beside rows "$python" tests/device/every_row.py
  beside splitters "$python" tests/device/splitters.py 420
  if ! command -v compute-sanitizer >/dev/null; then
    leave ways-sanitizers "compute-sanitizer is not installed"
    joined
    return
  fi
  local key value form program
  for key in u32 u64; do
    for value in 0 4 8; do
      beside "sorts-racecheck-$key-$value-5m" "$python" tests/device/sanitized.py racecheck "$python" tests/device/every_sort.py \
        --most 5000000 --key $key --value $value
    done
  done
  # --shrunk: kernels for large counts, with few keys
  for tool in ${TOOLS:-racecheck initcheck synccheck}; do
    program=("$python" tests/device/sanitized.py "$tool" "$python")
    beside "splitters-$tool" "${program[@]}" tests/device/splitters.py
    beside "rows-$tool" "${program[@]}" tests/device/every_row.py --few
    for key in u32 u64; do
      for value in 0 4 8; do
        beside "sorts-$tool-$key-$value" "${program[@]}" tests/device/every_sort.py --shrunk --key $key --value $value
      done
      beside "merges-$tool-$key" "${program[@]}" tests/device/every_sort.py --shrunk --merges --key $key
    done
    for key in u16 u32 u64; do
      for ((form = 0; form < 10; form++)); do # one a process: with JOBS=15, all take 200 seconds, not 600
        beside "selections-$tool-$key-$form" "${program[@]}" tests/device/every_selection.py --few --shrunk --most 140000 \
          --key $key --form $form
      done
    done
  done
  for tool in ${TOOLS:-racecheck initcheck}; do
    for part in "" --others; do
      # shellcheck disable=SC2086  # no word for groupings
      beside "ways-$tool$part" "$python" tests/device/sanitized.py "$tool" "$python" tests/device/grouping_ways.py $part
    done
  done
  joined
  for tool in "$out"/ways-*check*.log; do
    [ ! -e "$tool" ] || sed -n 's/^\(warning\|error\): /    &/p' "$tool" | cut -c 1-300
  done
}

# The time to compile kernels counts, too.
stress() {
  has_cupy stress || return
  local begin=$SECONDS runs=4 seconds streams delay
  for delay in "" --delay; do
    for streams in 1 4; do
      seconds=$(((${STRESS_SECONDS:-480} - (SECONDS - begin)) / runs - 10)) # that a start takes
      runs=$((runs - 1))
      # shellcheck disable=SC2086  # no word without delays
      step "stress-$streams$delay" "$python" tests/device/stress.py --seconds $((seconds > 5 ? seconds : 5)) --streams $streams $delay
      sed -n '/^WRONG/p' "$out/stress-$streams$delay.log" | cut -c 1-300 | head -n 20
    done
  done
}

bench_arrays() {
  if "$python" -c 'import cuda.bindings, cuda.core, torch' 2>/dev/null; then
    step bench-arrays "$python" tests/device/cuda_speed.py 600 "$out/bench-arrays.json"
    step bench-tables "$python" tests/device/cuda_tables.py speed
  else
    leave bench-arrays "PyTorch or the packages of hsgen[cuda] are not installed"
  fi
}

arrays() {
  check_arrays
  awake
  bench_arrays
}

sanitize() {
  if ! command -v compute-sanitizer >/dev/null; then
    leave sanitizers "compute-sanitizer is not installed"
    return
  fi
  local name=${1:-many} built="$out/bundle-${1:-many}" arch
  arch=sm_$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1 | tr -d .)
  # buckets from counts on that a sanitizer can bear
  sed -e '0,/^name = .*/s//name = "small"/' -e 's/^partition = { above = [0-9]*/partition = { above = 20000/' "targets/$target.toml" >"$out/small.toml"
  step "$name-generate" "${hsgen[@]}" generate -t "$out/small.toml" -t generic --api cuda --algorithm auto --algorithm radix "${@:2}" -o "$built"
  step "$name-build" nvcc -std=c++17 -O2 --threads 0 -lineinfo -arch="$arch" -I"$built/include" tests/device/sort_many.cu \
    "$built"/src/*.c "$built"/src/*.cu "$built"/targets/*/*.c "$built"/targets/*/*.cu -o "$out/sort-$name"
  step "$name-run" "$out/sort-$name"
  for tool in memcheck racecheck synccheck initcheck; do
    step "$name-$tool" compute-sanitizer --tool $tool --error-exitcode 9 "$out/sort-$name"
  done
}

# Without a CUDA context some GPUs idle at a fraction of their clock, and stay there for short work through other APIs.
awake() {
  "$python" -c 'import ctypes, time
cuda, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
cuda.cuInit(0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
time.sleep(3600)' &
  trap "kill $!" EXIT
}

bench() {
  local sizes=2^10..2^28
  awake
  step bench-cuda "${hsgen[@]}" bench --api cuda -t "$target" --sizes $sizes --against cub --json --device 'NVIDIA#1'
  step bench-radix "${hsgen[@]}" bench --api cuda -t "$target" --algorithm radix --sizes $sizes --against cub --json --device 'NVIDIA#1'
  bench_parted
  bench_arrays
  if has_vulkan; then
    step bench-vulkan "${hsgen[@]}" bench --api vulkan -t "$others" --sizes $sizes --against "" --bundle "$bundle" --json --device 'NVIDIA#1'
  else
    leave bench-vulkan "no loader libvulkan.so.1, or no header vulkan/vulkan_core.h"
  fi
}

# Segments, merges, and what it costs to tell where keys change; `parted` measures these alone.
bench_parted() {
  local value size
  for value in none v4; do
    for size in 22 26; do
      step "bench-segments-$value-$size" "${hsgen[@]}" bench --api cuda -t "$target" --key u32 --value $value --algorithm segmented_sort \
        --sizes 2^$size --segments 2^10,2^14,2^18,2^20 --against cub,cub-radix,hsgen:plain --json --device 'NVIDIA#1'
    done
    step "bench-rows-$value" "${hsgen[@]}" bench --api cuda -t "$target" --key u32 --value $value --algorithm segmented_sort --rows \
      --sizes 2^22,2^26 --segments 2^10,2^14,2^18,2^20 --against cub,cub-radix --json --device 'NVIDIA#1'
    step "bench-merge-$value" "${hsgen[@]}" bench --api cuda -t "$target" --key u32 --value $value --algorithm merge_path \
      --sizes 2^21..2^28 --against cub --json --device 'NVIDIA#1'
    step "bench-changes-$value" "${hsgen[@]}" bench --api cuda -t "$target" --key u32 --value $value --feature run-boundaries \
      --sizes 2^16..2^28 --against hsgen:plain --json --device 'NVIDIA#1'
  done
}

parted() {
  awake
  bench_parted
}

# Compilers take most of the time, so JOBS=6 is faster.
forms() {
  local all="--order both --feature bit-range --feature device-count"
  form() { beside "form-$1" "${hsgen[@]}" validate --api "${@:2}" --device 'NVIDIA#1'; }
  local jobs=()
  for value in none v4 v8 v16 index index64; do
    for key in u8 u16 u32 u64; do jobs+=("cuda-$key-$value cuda -t $target --key $key --value $value $all"); done
    jobs+=("generic-u32-$value cuda -t generic --key u32 --value $value $all")
  done
  jobs+=("cuda-packed cuda -t $target --key f32 --value packed $all")
  jobs+=("graph cuda -t $target --key u32 --value v4 $all --option graph=1")
  jobs+=("graph-segments cuda -t $target --key u32 --value v4 --algorithm segmented_sort --option graph=1")
  for feature in bit-range segment-ends segment-count; do
    jobs+=("segments-$feature cuda -t $target --key u32 --value v4 --algorithm segmented_sort --feature $feature --option graph=1")
  done
  if has_vulkan; then
    for job in ${FORMS_VULKAN:-u8-v4 u16-none u32-none u32-v4 u32-index u64-v8}; do
      jobs+=("vulkan-$job vulkan -t $others --key ${job%-*} --value ${job#*-} $all --bundle $bundle")
    done
    jobs+=("vulkan-addresses vulkan -t $others --key u32 --value v4 $all --bundle $bundle --option binding_limit=4096")
  else
    leave vulkan "no loader libvulkan.so.1, or no header vulkan/vulkan_core.h"
  fi
  local job
  # shellcheck disable=SC2086  # words of a command
  for job in "${jobs[@]}"; do form $job; done
  joined
  sanitize forms --key u16 --key u32 --value v4 --value index --feature device-count
}

pairs() {
  for value in v4 v8 index; do
    for key in u32 u64; do
      against=cub
      [ $value = index ] && against=
      step "bench-$key-$value" "${hsgen[@]}" bench --api cuda -t "$target" --key $key --value $value --sizes 2^12..2^27 \
        --against "$against" --json --device 'NVIDIA#1'
    done
  done
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || { echo "no NVIDIA GPU here" >&2; exit 3; }
$what
[ $left -eq 1 ] && [ "${HSGEN_REQUIRE:-0}" = 1 ] && failed=1
echo "logs are in $out"
exit $failed
