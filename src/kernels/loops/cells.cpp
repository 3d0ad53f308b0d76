#include "kernels/loops/cells.h"

#include "kernels/loops/vector_math.h"

namespace regard::kernels {

template <typename T>
REGARD_FOR_EACH_CPU void gru_after(std::int64_t B, std::int64_t D, const T* x,
                                   Strided<const T> u_rows, const T* b_U, const T* s, T* gates,
                                   T* next) {
  for (std::int64_t b = 0; b < B; ++b, x += 3 * D, s += D, gates += 3 * D, next += D) {
    const T* u = u_rows.row(b);
#pragma omp simd
    for (std::int64_t i = 0; i < D; ++i) {
      const T r = vector_sigmoid(x[i] + u[i]);
      const T z = vector_sigmoid(x[D + i] + u[D + i]);
      const T c = vector_tanh(x[2 * D + i] + r * (u[2 * D + i] + b_U[i]));
      gates[i] = r;
      gates[D + i] = z;
      gates[2 * D + i] = c;
      next[i] = c + z * (s[i] - c);
    }
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void gru_after_backward(std::int64_t B, std::int64_t D, const T* d_next,
                                            const T* gates, Strided<const T> u_rows, const T* b_U,
                                            const T* s, T* d_x, Strided<T> d_u_rows, T* d_s) {
  for (std::int64_t b = 0; b < B;
       ++b, d_next += D, gates += 3 * D, s += D, d_x += 3 * D, d_s += D) {
    const T* u = u_rows.row(b);
    T* d_u = d_u_rows.row(b);
#pragma omp simd
    for (std::int64_t i = 0; i < D; ++i) {
      const T r = gates[i];
      const T z = gates[D + i];
      const T c = gates[2 * D + i];
      const T d_z = d_next[i] * (s[i] - c) * z * (1 - z);
      const T d_c = d_next[i] * (1 - z) * (1 - c * c);
      const T d_r = d_c * (u[2 * D + i] + b_U[i]) * r * (1 - r);
      d_x[i] = d_u[i] = d_r;
      d_x[D + i] = d_u[D + i] = d_z;
      d_x[2 * D + i] = d_c;
      d_u[2 * D + i] = d_c * r;
      d_s[i] = d_next[i] * z;
    }
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void gru_before_reset(std::int64_t B, std::int64_t D, const T* x,
                                          Strided<const T> u_rows, const T* s, T* gates, T* reset) {
  for (std::int64_t b = 0; b < B; ++b, x += 3 * D, s += D, gates += 3 * D, reset += D) {
    const T* u = u_rows.row(b);
#pragma omp simd
    for (std::int64_t i = 0; i < D; ++i) {
      const T r = vector_sigmoid(x[i] + u[i]);
      gates[i] = r;
      gates[D + i] = vector_sigmoid(x[D + i] + u[D + i]);
      reset[i] = r * s[i];
    }
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void gru_before_candidate(std::int64_t B, std::int64_t D, const T* x,
                                              const T* v, const T* s, T* gates, T* next) {
  for (std::int64_t b = 0; b < B; ++b, x += 3 * D, v += D, s += D, gates += 3 * D, next += D) {
#pragma omp simd
    for (std::int64_t i = 0; i < D; ++i) {
      const T c = vector_tanh(x[2 * D + i] + v[i]);
      gates[2 * D + i] = c;
      next[i] = c + gates[D + i] * (s[i] - c);
    }
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void gru_before_candidate_backward(std::int64_t B, std::int64_t D,
                                                       const T* d_next, const T* gates, const T* s,
                                                       T* d_x, T* d_v, T* d_s) {
  for (std::int64_t b = 0; b < B;
       ++b, d_next += D, gates += 3 * D, s += D, d_x += 3 * D, d_v += D, d_s += D) {
#pragma omp simd
    for (std::int64_t i = 0; i < D; ++i) {
      const T z = gates[D + i];
      const T c = gates[2 * D + i];
      d_x[D + i] = d_next[i] * (s[i] - c) * z * (1 - z);
      d_x[2 * D + i] = d_v[i] = d_next[i] * (1 - z) * (1 - c * c);
      d_s[i] = d_next[i] * z;
    }
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void gru_before_reset_backward(std::int64_t B, std::int64_t D, const T* d_reset,
                                                   const T* gates, const T* s, T* d_x,
                                                   Strided<T> d_u_rows, T* d_s) {
  for (std::int64_t b = 0; b < B;
       ++b, d_reset += D, gates += 3 * D, s += D, d_x += 3 * D, d_s += D) {
    T* d_u = d_u_rows.row(b);
#pragma omp simd
    for (std::int64_t i = 0; i < D; ++i) {
      const T r = gates[i];
      d_x[i] = d_u[i] = d_reset[i] * s[i] * r * (1 - r);
      d_u[D + i] = d_x[D + i];
      d_s[i] += d_reset[i] * r;
    }
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void lstm(std::int64_t B, std::int64_t D, const T* x, Strided<const T> u_rows,
                              const T* c, T* gates, T* next_c, T* next_h) {
  for (std::int64_t b = 0; b < B;
       ++b, x += 4 * D, c += D, gates += 4 * D, next_c += D, next_h += D) {
    const T* u = u_rows.row(b);
#pragma omp simd
    for (std::int64_t d = 0; d < D; ++d) {
      const T i = vector_sigmoid(x[d] + u[d]);
      const T f = vector_sigmoid(x[D + d] + u[D + d]);
      const T o = vector_sigmoid(x[2 * D + d] + u[2 * D + d]);
      const T candidate = vector_tanh(x[3 * D + d] + u[3 * D + d]);
      gates[d] = i;
      gates[D + d] = f;
      gates[2 * D + d] = o;
      gates[3 * D + d] = candidate;
      next_c[d] = f * c[d] + i * candidate;
      next_h[d] = o * vector_tanh(next_c[d]);
    }
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void lstm_backward(std::int64_t B, std::int64_t D, const T* d_next_h,
                                       const T* gates, const T* c, const T* next_c, T* d_x,
                                       Strided<T> d_u_rows, T* d_c) {
  for (std::int64_t b = 0; b < B;
       ++b, d_next_h += D, gates += 4 * D, c += D, next_c += D, d_x += 4 * D, d_c += D) {
    T* d_u = d_u_rows.row(b);
#pragma omp simd
    for (std::int64_t d = 0; d < D; ++d) {
      const T i = gates[d];
      const T f = gates[D + d];
      const T o = gates[2 * D + d];
      const T candidate = gates[3 * D + d];
      const T squashed = vector_tanh(next_c[d]);
      const T d_next_c = d_c[d] + d_next_h[d] * o * (1 - squashed * squashed);
      d_x[d] = d_u[d] = d_next_c * candidate * i * (1 - i);
      d_x[D + d] = d_u[D + d] = d_next_c * c[d] * f * (1 - f);
      d_x[2 * D + d] = d_u[2 * D + d] = d_next_h[d] * squashed * o * (1 - o);
      d_x[3 * D + d] = d_u[3 * D + d] = d_next_c * i * (1 - candidate * candidate);
      d_c[d] = d_next_c * f;
    }
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void tanh_cell(std::int64_t B, std::int64_t D, const T* x,
                                   Strided<const T> u_rows, T* next) {
  for (std::int64_t b = 0; b < B; ++b, x += D, next += D) {
    const T* u = u_rows.row(b);
#pragma omp simd
    for (std::int64_t d = 0; d < D; ++d) next[d] = vector_tanh(x[d] + u[d]);
  }
}

template <typename T>
REGARD_FOR_EACH_CPU void tanh_cell_backward(std::int64_t B, std::int64_t D, const T* d_next,
                                            const T* next, T* d_x, Strided<T> d_u_rows) {
  for (std::int64_t b = 0; b < B; ++b, d_next += D, next += D, d_x += D) {
    T* d_u = d_u_rows.row(b);
#pragma omp simd
    for (std::int64_t d = 0; d < D; ++d) d_x[d] = d_u[d] = d_next[d] * (1 - next[d] * next[d]);
  }
}

#define REGARD_INSTANTIATE(T)                                                                      \
  template void gru_after(std::int64_t, std::int64_t, const T*, Strided<const T>, const T*,        \
                          const T*, T*, T*);                                                       \
  template void gru_after_backward(std::int64_t, std::int64_t, const T*, const T*,                 \
                                   Strided<const T>, const T*, const T*, T*, Strided<T>, T*);      \
  template void gru_before_reset(std::int64_t, std::int64_t, const T*, Strided<const T>, const T*, \
                                 T*, T*);                                                          \
  template void gru_before_candidate(std::int64_t, std::int64_t, const T*, const T*, const T*, T*, \
                                     T*);                                                          \
  template void gru_before_candidate_backward(std::int64_t, std::int64_t, const T*, const T*,      \
                                              const T*, T*, T*, T*);                               \
  template void gru_before_reset_backward(std::int64_t, std::int64_t, const T*, const T*,          \
                                          const T*, T*, Strided<T>, T*);                           \
  template void lstm(std::int64_t, std::int64_t, const T*, Strided<const T>, const T*, T*, T*,     \
                     T*);                                                                          \
  template void lstm_backward(std::int64_t, std::int64_t, const T*, const T*, const T*, const T*,  \
                              T*, Strided<T>, T*);                                                 \
  template void tanh_cell(std::int64_t, std::int64_t, const T*, Strided<const T>, T*);             \
  template void tanh_cell_backward(std::int64_t, std::int64_t, const T*, const T*, T*, Strided<T>);
REGARD_INSTANTIATE(float)
REGARD_INSTANTIATE(double)

}  // namespace regard::kernels
