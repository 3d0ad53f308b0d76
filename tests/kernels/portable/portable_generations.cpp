// The loops for AVX2 and AVX-512, compiled for the processors that every build supports.
#define product_v3 portable_v3
#define product_v4 portable_v4
#define heads_v3 portable_heads_v3
#define heads_v4 portable_heads_v4
#include "src/kernels/loops/v3.cpp"  // NOLINT(bugprone-suspicious-include)
#include "src/kernels/loops/v4.cpp"  // NOLINT(bugprone-suspicious-include)
