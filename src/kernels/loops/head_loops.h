// The loops of HeadLoops (loops/heads.h), for vectors of `bytes` bytes and tiles of rows_at_once
// rows of sums: with two vectors of sums for each row, a tile fits the vector registers. Included
// only by one source for each generation of processors. Must not call any function with external
// linkage, not even std::min: the linker would share its code between generations.
//
// Queries are processed a block of `lanes` at a time, one query in each lane of a vector. The
// weights of a block are stored as [S, lanes], α_ts in row s. So the maximum and the sums of a
// softmax need no operation across lanes, a causal mask is a mask of lanes, and all products are
// sums of rows times numbers (tile()). The weights of a block fit the first-level cache up to some
// hundred positions.
#pragma once

#include <math.h>  // the functions of <cmath> are inline

#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/loops/heads.h"
#include "kernels/loops/vector_math.h"

namespace regard::kernels {
namespace {

template <typename T, int bytes, int rows_at_once>
struct VectorHeadLoops {
  static constexpr std::int64_t lanes = bytes / static_cast<std::int64_t>(sizeof(T));
  static constexpr T infinity = std::numeric_limits<T>::infinity();

  using Integer = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  typedef T Vector __attribute__((vector_size(bytes)));
  typedef T Unaligned __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
  typedef Integer Integers __attribute__((vector_size(bytes)));

  // Rows of numbers in memory, `row` elements apart.
  template <typename Number>
  struct Rows {
    Number* data;
    std::int64_t row;
  };

  static std::int64_t rounded(std::int64_t n) { return (n + lanes - 1) / lanes * lanes; }
  static std::int64_t length_of(const HeadSizes& sizes, std::int64_t b) {
    return sizes.lengths == nullptr ? sizes.S : sizes.lengths[b];
  }
  static std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
  static Vector all(T x) { return x - Vector{}; }
  static Vector load(const T* x) { return *reinterpret_cast<const Unaligned*>(x); }
  static void store(Vector x, T* to) { *reinterpret_cast<Unaligned*>(to) = x; }

  // The first `count` elements only.
  static Vector load_some(const T* x, std::int64_t count) {
    Vector vector = {};
    for (std::int64_t i = 0; i < count; ++i) vector[i] = x[i];
    return vector;
  }
  static void store_some(Vector x, T* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = x[i];
  }

  // exp(x) for x ≤ 0, like vector_exp(), but 0 below −87.
  static Vector exp_of(Vector x) {
    if constexpr (sizeof(T) == 4) {
      constexpr float round = 12582912.0f;
      const Vector n = (x * 1.44269504f + round) - round;
      const Vector r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
      Vector p = r * 1.9875691500e-4f + 1.3981999507e-3f;
      p = p * r + 8.3334519073e-3f;
      p = p * r + 4.1665795894e-2f;
      p = p * r + 1.6666665459e-1f;
      p = p * r + 5.0000001201e-1f;
      p = p * r * r + r + 1.0f;
      const Integers power = (__builtin_convertvector(n, Integers) + 127) << 23;
      p *= reinterpret_cast<Vector>(power);
      return x < all(-87.0f) ? Vector{} : p;
    } else {
      for (std::int64_t i = 0; i < lanes; ++i) x[i] = ::exp(x[i]);
      return x;
    }
  }

  // Transposes up to `lanes` rows of x: to[i · lanes + t] = scale · x_t[i] for i < width; 0 for
  // missing rows. Writes rounded(width) rows.
  static void transpose_rows(std::int64_t rows, std::int64_t width, T scale, Rows<const T> x,
                             T* to) {
    for (std::int64_t i = 0; i < width; i += lanes, to += lanes * lanes) {
      Vector square[lanes];
      const std::int64_t columns = smaller(lanes, width - i);
#pragma GCC unroll 16
      for (std::int64_t t = 0; t < lanes; ++t) {
        square[t] = Vector{};
        if (t >= rows) continue;
        const T* from = x.data + t * x.row + i;
        square[t] = scale * (columns == lanes ? load(from) : load_some(from, columns));
      }
      transpose(square);
#pragma GCC unroll 16
      for (std::int64_t t = 0; t < lanes; ++t) store(square[t], to + t * lanes);
    }
  }

  // Computes R rows and C vectors of out_r = Σ_n a[r · a_row + n · a_step] x_n, n < N, or adds
  // them. The last vector of a row has `last` elements in memory.
  template <int R, int C>
  REGARD_INLINE static void tile(std::int64_t N, const T* a, std::int64_t a_row,
                                 std::int64_t a_step, Rows<const T> x, Rows<T> out,
                                 std::int64_t last, bool add) {
    Vector sums[R][C];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
      for (int c = 0; c < C; ++c) sums[r][c] = Vector{};
    }
    const T* from = x.data;
    for (std::int64_t n = 0; n < N; ++n, from += x.row, a += a_step) {
      Vector values[C];
#pragma GCC unroll 2
      for (int c = 0; c < C; ++c) values[c] = load(from + c * lanes);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
        for (int c = 0; c < C; ++c) sums[r][c] += a[r * a_row] * values[c];
      }
    }
    T* to = out.data;
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r, to += out.row) {
#pragma GCC unroll 2
      for (int c = 0; c < C; ++c) {
        T* here = to + c * lanes;
        if (c + 1 == C && last < lanes) {
          store_some(add ? load_some(here, last) + sums[r][c] : sums[r][c], here, last);
        } else {
          store(add ? load(here) + sums[r][c] : sums[r][c], here);
        }
      }
    }
  }

  // Forms of a: weights [S, lanes] as factors of rows x_s, or, transposed, of rows x_t; or any
  // rows.
  enum class Form { by_position, by_query, rows };

  // tile() for a number of rows from 1 to R known at run time, all columns.
  template <Form form, int R>
  static void row_tile(std::int64_t rows, std::int64_t N, std::int64_t columns, Rows<const T> a,
                       Rows<const T> x, Rows<T> out, bool add) {
    if constexpr (R > 1) {
      if (rows < R) return row_tile<form, R - 1>(rows, N, columns, a, x, out, add);
    }
    const std::int64_t a_row = form == Form::by_position ? 1
                               : form == Form::by_query  ? lanes
                                                         : a.row;
    const std::int64_t a_step = form == Form::by_position ? lanes : 1;
    while (columns > lanes) {
      const std::int64_t last = columns < 2 * lanes ? columns - lanes : lanes;
      tile<R, 2>(N, a.data, a_row, a_step, x, out, last, add);
      columns -= 2 * lanes;
      x.data += 2 * lanes;
      out.data += 2 * lanes;
    }
    if (columns > 0) tile<R, 1>(N, a.data, a_row, a_step, x, out, columns, add);
  }

  // The energies of a block of queries: out[s · lanes + t] = rows_s · query_t for s < S, queries
  // transposed.
  static void products_with_queries(std::int64_t S, std::int64_t width, Rows<const T> rows,
                                    const T* queries, T* out) {
    for (std::int64_t s = 0; s < S; s += rows_at_once) {
      row_tile<Form::rows, rows_at_once>(S - s, width, lanes, {rows.data + s * rows.row, rows.row},
                                         {queries, lanes}, {out + s * lanes, lanes}, false);
    }
  }

  // The state of one block of queries: the first query, the number of queries, and the end of the
  // positions that some query sees.
  struct Block {
    std::int64_t first, queries, end;
    bool causal;
    // The end of the positions that the queries from first + t on for rows_at_once rows see.
    std::int64_t end_for(std::int64_t t) const {
      return causal ? smaller(end, first + t + rows_at_once) : end;
    }
    // The first query of the block that sees position s.
    std::int64_t first_seeing(std::int64_t s) const { return causal && s > first ? s - first : 0; }
  };
  static Block block_at(const HeadSizes& sizes, std::int64_t b, std::int64_t first) {
    const std::int64_t queries = smaller(lanes, sizes.T - first);
    const std::int64_t length = length_of(sizes, b);
    return {first, queries, sizes.causal ? smaller(length, first + queries) : length, sizes.causal};
  }

  // −∞ in the lanes of queries that do not see position s, and e elsewhere.
  static Vector masked(const Block& block, std::int64_t s, Vector e) {
    if (!block.causal || s <= block.first) return e;
    Integers query = {};
    for (std::int64_t t = 0; t < lanes; ++t) query[t] = static_cast<Integer>(t);
    const Integers first = static_cast<Integer>(s - block.first) - Integers{};
    return query < first ? all(-infinity) : e;
  }

  // Replaces energies by weights. Returns log Σ_s exp(e_s) of each query, if wanted.
  static void softmax(const Block& block, T* e, T* log_sum) {
    Vector largest = all(-infinity);
    for (std::int64_t s = 0; s < block.end; ++s) {
      const Vector x = masked(block, s, load(e + s * lanes));
      store(x, e + s * lanes);
      largest = x > largest ? x : largest;
    }
    Vector sum = {};
    for (std::int64_t s = 0; s < block.end; ++s) {
      const Vector x = exp_of(load(e + s * lanes) - largest);
      store(x, e + s * lanes);
      sum += x;
    }
    const Vector inverse = 1 / sum;
    for (std::int64_t s = 0; s < block.end; ++s) {
      store(load(e + s * lanes) * inverse, e + s * lanes);
    }
    if (log_sum == nullptr) return;
    for (std::int64_t t = 0; t < lanes; ++t) {
      log_sum[t] = largest[t] + static_cast<T>(::log(static_cast<double>(sum[t])));
    }
  }

  // Computes the same weights from energies and log Σ_s exp(e_s).
  static void softmax_again(const Block& block, T* e, const T* log_sum) {
    const Vector sum = load(log_sum);
    for (std::int64_t s = 0; s < block.end; ++s) {
      const Vector x = masked(block, s, load(e + s * lanes)) - sum;
      store(exp_of(x), e + s * lanes);
    }
  }

  // dE = scale · α ∘ (dα − Σ_s α_s dα_s), in place of dα.
  static void softmax_backward(const Block& block, T scale, const T* alpha, T* d_alpha) {
    Vector mean = {};
    for (std::int64_t s = 0; s < block.end; ++s) {
      mean += load(alpha + s * lanes) * load(d_alpha + s * lanes);
    }
    for (std::int64_t s = 0; s < block.end; ++s) {
      T* d = d_alpha + s * lanes;
      store(scale * load(alpha + s * lanes) * (load(d) - mean), d);
    }
  }

  // out_t = Σ_s weights_ts rows_s for the queries of a block.
  static void mix(const Block& block, std::int64_t width, const T* weights, Rows<const T> rows,
                  Rows<T> out) {
    for (std::int64_t t = 0; t < block.queries; t += rows_at_once) {
      row_tile<Form::by_position, rows_at_once>(block.queries - t, block.end_for(t), width,
                                                {weights + t, 0}, rows,
                                                {out.data + t * out.row, out.row}, false);
    }
  }

  // out_s = Σ_t weights_ts rows_t over the queries of a block, or adds it.
  static void mix_queries(const Block& block, std::int64_t width, const T* weights,
                          Rows<const T> rows, Rows<T> out, bool add) {
    for (std::int64_t s = 0; s < block.end; s += rows_at_once) {
      const std::int64_t t = block.first_seeing(s);
      row_tile<Form::by_query, rows_at_once>(
          block.end - s, block.queries - t, width, {weights + s * lanes + t, 0},
          {rows.data + t * rows.row, rows.row}, {out.data + s * out.row, out.row}, add);
    }
  }

  // Returns rows that may be read as whole vectors: x itself, or a copy with zeros behind each row.
  // Many rows are copied too, because rows far apart fall on few sets of the cache.
  static Rows<const T> whole(std::int64_t rows, std::int64_t width, Rows<const T> x, T*& scratch) {
    constexpr std::int64_t few = 48;
    if (width % lanes == 0 && rows <= few) return x;
    const std::int64_t row = rounded(width);
    T* copy = scratch;
    scratch += rows * row;
    for (std::int64_t i = 0; i < rows; ++i) {
      const T* from = x.data + i * x.row;
      T* to = copy + i * row;
      std::int64_t c = 0;
      for (; c + lanes <= width; c += lanes) store(load(from + c), to + c);
      if (c < width) store(load_some(from + c, width - c), to + c);
    }
    return {copy, row};
  }

  static void clear(std::int64_t rows, std::int64_t width, Rows<T> x) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t c = 0; c < width; ++c) x.data[i * x.row + c] = 0;
    }
  }

  template <typename Number>
  static Rows<Number> rows_of(const Heads<Number>& x, std::int64_t b, std::int64_t t,
                              std::int64_t h) {
    return {x.data + b * x.sentence + t * x.row + h * x.head, x.row};
  }

  static std::int64_t blocks(const HeadSizes& sizes) {
    return (sizes.T + lanes - 1) / lanes;
  }
  static std::int64_t alpha_size(const HeadSizes& sizes) {
    return sizes.B * sizes.H * blocks(sizes) * sizes.S * lanes;
  }
  static std::int64_t log_sums_size(const HeadSizes& sizes) {
    return sizes.B * sizes.H * blocks(sizes) * lanes;
  }
  // Copies of k and v, and of the queries and d_y of a block; both transposed; weights and dα.
  static std::int64_t scratch_size(const HeadSizes& sizes) {
    return 2 * sizes.S * rounded(sizes.width) + 4 * lanes * rounded(sizes.width) +
           2 * sizes.S * lanes;
  }

  static void forward(const HeadSizes& sizes, T scale, Heads<const T> q, Heads<const T> k,
                      Heads<const T> v, T* scratch, T* alpha, T* log_sum, Heads<T> y) {
    T* queries = scratch;
    T* weights = queries + lanes * rounded(sizes.width);
    T* copies = weights + sizes.S * lanes;
    for (std::int64_t b = 0; b < sizes.B; ++b) {
      const std::int64_t length = length_of(sizes, b);
      for (std::int64_t h = 0; h < sizes.H; ++h) {
        T* free = copies;
        const auto keys = whole(length, sizes.width, rows_of(k, b, 0, h), free);
        const auto values = whole(length, sizes.width, rows_of(v, b, 0, h), free);
        for (std::int64_t first = 0; first < sizes.T; first += lanes) {
          const Block block = block_at(sizes, b, first);
          T* e = alpha == nullptr ? weights : alpha;
          transpose_rows(block.queries, sizes.width, scale, rows_of(q, b, first, h), queries);
          products_with_queries(block.end, sizes.width, keys, queries, e);
          softmax(block, e, log_sum);
          mix(block, sizes.width, e, values, rows_of(y, b, first, h));
          if (alpha != nullptr) alpha += sizes.S * lanes;
          if (log_sum != nullptr) log_sum += lanes;
        }
      }
    }
  }

  // Blocks are processed from the last to the first, because the last one sees all positions that
  // any query sees: it writes d_k and d_v, and the others add to them.
  static void backward(const HeadSizes& sizes, T scale, Heads<const T> q, Heads<const T> k,
                       Heads<const T> v, const T* alpha, const T* log_sum, Heads<const T> d_y,
                       T* scratch, Heads<T> d_q, Heads<T> d_k, Heads<T> d_v) {
    T* transposed = scratch;
    T* d_alpha = transposed + lanes * rounded(sizes.width);
    T* weights = d_alpha + sizes.S * lanes;
    T* copies = weights + sizes.S * lanes;
    const std::int64_t count = blocks(sizes);
    std::int64_t head = 0;
    for (std::int64_t b = 0; b < sizes.B; ++b) {
      const std::int64_t length = length_of(sizes, b);
      for (std::int64_t h = 0; h < sizes.H; ++h, head += count) {
        T* after_keys = copies;
        const auto keys = whole(length, sizes.width, rows_of(k, b, 0, h), after_keys);
        const auto values = whole(length, sizes.width, rows_of(v, b, 0, h), after_keys);
        std::int64_t end = 0;  // of the positions with a gradient
        for (std::int64_t i = count; i-- > 0;) {
          const std::int64_t first = i * lanes;
          const Block block = block_at(sizes, b, first);
          const bool add = i + 1 < count;
          if (!add) end = block.end;
          T* free = after_keys;
          const auto queries = whole(block.queries, sizes.width, rows_of(q, b, first, h), free);
          const auto d_out = whole(block.queries, sizes.width, rows_of(d_y, b, first, h), free);
          const T* a = alpha == nullptr ? weights : alpha + (head + i) * sizes.S * lanes;
          if (alpha == nullptr) {
            transpose_rows(block.queries, sizes.width, scale, queries, transposed);
            products_with_queries(block.end, sizes.width, keys, transposed, weights);
            softmax_again(block, weights, log_sum + (head + i) * lanes);
          }
          transpose_rows(block.queries, sizes.width, T(1), d_out, transposed);
          products_with_queries(block.end, sizes.width, values, transposed, d_alpha);
          mix_queries(block, sizes.width, a, d_out, rows_of(d_v, b, 0, h), add);
          softmax_backward(block, scale, a, d_alpha);
          mix_queries(block, sizes.width, d_alpha, queries, rows_of(d_k, b, 0, h), add);
          mix(block, sizes.width, d_alpha, keys, rows_of(d_q, b, first, h));
        }
        clear(sizes.S - end, sizes.width, rows_of(d_k, b, end, h));
        clear(sizes.S - end, sizes.width, rows_of(d_v, b, end, h));
      }
    }
  }

  static constexpr HeadLoops<T> loops = {alpha_size, log_sums_size, scratch_size, forward,
                                         backward};
};

}  // namespace
}  // namespace regard::kernels
