// Precompiled: <torch/torch.h> alone costs 18 s a file. Files include what they use all the same.
#include <torch/torch.h>
