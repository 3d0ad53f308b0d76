// The products in int8 for AVX512-VNNI and AMX, by the portable instructions of this folder.
#define product_int8 portable_int8
#define product_int8_amx portable_int8_amx
#include "src/kernels/loops/product_int8.cpp"  // NOLINT(bugprone-suspicious-include)
