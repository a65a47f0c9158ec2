#include "hs/hs_webgpu.h"
