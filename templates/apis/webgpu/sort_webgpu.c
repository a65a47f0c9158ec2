#include "hs/hs_webgpu.h"
int main(void) { return 0; }
