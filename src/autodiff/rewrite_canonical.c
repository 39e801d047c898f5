#include "config.h"
#include "autodiff/rewrite_impl.h"
const ad_rule ad_rules_canonical[] = {
    {NULL, NULL, NULL, AD_PHASE_CANONICAL, NULL}};
