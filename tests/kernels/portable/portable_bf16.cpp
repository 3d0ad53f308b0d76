// The products in bf16 for AVX512-BF16 and AMX, by the portable instructions of this folder.
#define product_bf16 portable_bf16
#define product_bf16_amx portable_bf16_amx
#include "src/kernels/loops/product_bf16.cpp"  // NOLINT(bugprone-suspicious-include)
