/* What a match that finds nothing says of a device that no target is for, of keys that no target sorts, of values, and of
 * kernels that are too large; and the end of a text that does not fit.  Runs on fake_opencl.c. */
#include "fake_opencl.h"
#include "hs/hs_opencl.h"
#include "hs/hs_targets.h"

#include <stdio.h>
#include <string.h>

int main(void)
{
    static const char *const names[] = {"No such GPU"};
    char text[600], few[12];
    const hs_match devices = {0, 0, 1, 0, NULL, names, NULL, 0, 0, 9}, cpus = {HS_OTHER, 0, 0, 0, NULL, NULL, NULL, 0, 0, 9};
    hs_target other = *hs_targets[0], typed = other;
    const hs_target *const targets[] = {&other, &typed};
    const hs_sort *sort = NULL;
    other.match = &devices;
    other.name = "named";
    typed.match = &cpus;
    fake.width = 16;
    fake.lanes = 1024;
    if (hs_opencl_match(targets, 2, "u32", NULL, fake_device(), &sort) != HS_OK || sort) return 1;
    if (hs_opencl_explain(targets, 2, HS_SORT, "u32", NULL, fake_device(), text, sizeof text) != HS_OK) return 2;
    fputs(text, stdout);
    if (hs_opencl_explain(hs_targets, 1, HS_SORT, "f16", "v8", fake_device(), text, sizeof text) != HS_OK) return 3;
    fputs(text, stdout);
    fake.lanes = 1;
    if (hs_opencl_explain(hs_targets, 1, HS_SORT, "u32", NULL, fake_device(), text, sizeof text) != HS_OK) return 4;
    fputs(text, stdout);
    if (hs_opencl_explain(targets, 2, HS_SORT, "u32", NULL, fake_device(), few, sizeof few) != HS_OK) return 5;
    printf("%s\n", few);
    if (hs_opencl_explain(targets, 2, HS_SORT, NULL, NULL, fake_device(), few, sizeof few) != HS_ERROR_ARGUMENT) return 6;
    return 0;
}
