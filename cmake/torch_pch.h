// Precompiled: these alone cost 8 s a file (<torch/torch.h> 17 s, and each file that knows all of it
// pays half of that again in templates: hence the parts). Files include what they use all the same.
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/utils.h>
