// The kernels of src/cuda/loops.h on the CPU, their threads in random orders, against the loops for
// the CPU.
#include "cuda/loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "kernels/loops/attention.h"
#include "kernels/loops/cells.h"
#include "tests/cuda/kernel_test.h"

namespace regard::loops_test {
namespace {

using cuda::CellPart;
using kernels::ScoreForm;
using kernels::Strided;

class Loops : public KernelTest {
 protected:
  // Returns rows of `width` numbers with those of x [n, of_x] at `first`, and NaN elsewhere.
  static Floats widened(const Floats& x, std::int64_t of_x, std::int64_t width,
                        std::int64_t first = 0) {
    const auto n = static_cast<std::int64_t>(x.size()) / of_x;
    auto wide = empty(n * width);
    for (std::int64_t i = 0; i < n; ++i) {
      std::copy_n(x.begin() + i * of_x, of_x, wide.begin() + i * width + first);
    }
    return wide;
  }
  // Returns columns first … first + count − 1 of rows of `width` numbers.
  static Floats part(const Floats& wide, std::int64_t width, std::int64_t first,
                     std::int64_t count) {
    Floats columns;
    for (std::int64_t at = first; at < static_cast<std::int64_t>(wide.size()); at += width) {
      columns.insert(columns.end(), wide.begin() + at, wide.begin() + at + count);
    }
    return columns;
  }
  static Floats sum(Floats a, const Floats& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  }
};

TEST_F(Loops, AGruWithTheResetGateAfterTheProductEqualsTheLoops) {
  for_each_shape([&](auto n, auto D) {
    const auto x = random(n * 3 * D), u = random(n * 3 * D), b = random(D), s = random(n * D);
    auto wanted_gates = x, wanted_next = empty(n * D);
    const Strided<const float> rows_of_u = {u.data(), 3 * D};
    kernels::gru_after<float>(n, D, x.data(), rows_of_u, b.data(), s.data(), wanted_gates.data(),
                              wanted_next.data());
    const auto wide = widened(u, 3 * D, 3 * D + 5);
    auto gates = x, next = empty(n * D), product = next;
    run(n,
        cuda::CellForward{.part = CellPart::gru_after,
                          .D = D,
                          .rows_of_cell = n,
                          .u_width = 3 * D + 5,
                          .x = gates.data(),
                          .u = wide.data(),
                          .b_U = b.data(),
                          .s = s.data(),
                          .product = product.data(),
                          .next = next.data()},
        {&gates, &next, &product});
    expect_near(gates, wanted_gates);
    expect_near(next, wanted_next);

    const auto d_next = random(n * D), d_s_before = random(n * D);
    auto d_x = empty(n * 3 * D), d_u = d_x, wanted_d_s = empty(n * D);
    kernels::gru_after_backward<float>(n, D, d_next.data(), wanted_gates.data(), rows_of_u,
                                       b.data(), s.data(), d_x.data(), {d_u.data(), 3 * D},
                                       wanted_d_s.data());
    auto rows = empty(n * (4 * D + 2)), d_s = d_s_before;
    run(n,
        cuda::CellBackward{.part = CellPart::gru_after,
                           .D = D,
                           .width = 4 * D + 2,
                           .d = d_next.data(),
                           .gates = gates.data(),
                           .s = s.data(),
                           .product = product.data(),
                           .next = next.data(),
                           .d_x = rows.data(),
                           .d_s = d_s.data()},
        {&rows, &d_s});
    expect_near(part(rows, 4 * D + 2, 0, D), part(d_u, 3 * D, 2 * D, D));
    expect_near(part(rows, 4 * D + 2, D, 3 * D), d_x);
    expect_near(d_s, sum(d_s_before, wanted_d_s));
  });
}

TEST_F(Loops, AGruWithTheResetGateBeforeTheProductEqualsTheLoops) {
  for_each_shape([&](auto n, auto D) {
    const auto x = random(n * 3 * D), u = random(n * 2 * D), v = random(n * D), s = random(n * D);
    auto wanted_gates = x, wanted_reset = empty(n * D), wanted_next = wanted_reset;
    kernels::gru_before_reset<float>(n, D, x.data(), {u.data(), 2 * D}, s.data(),
                                     wanted_gates.data(), wanted_reset.data());
    kernels::gru_before_candidate<float>(n, D, x.data(), v.data(), s.data(), wanted_gates.data(),
                                         wanted_next.data());
    auto gates = x, product = empty(n * D), next = product;
    cuda::CellForward kernel = {.part = CellPart::gru_before_reset,
                                .D = D,
                                .rows_of_cell = n,
                                .u_width = 2 * D,
                                .x = gates.data(),
                                .u = u.data(),
                                .s = s.data(),
                                .product = product.data(),
                                .next = next.data()};
    run(n, kernel, {&gates, &product});
    kernel.part = CellPart::gru_before_candidate;
    kernel.u = v.data();
    kernel.u_width = D;
    run(n, kernel, {&gates, &next});
    expect_near(gates, wanted_gates);
    expect_near(product, wanted_reset);
    expect_near(next, wanted_next);

    const auto d_next = random(n * D), d_reset = random(n * D), d_s_before = random(n * D);
    auto d_x = empty(n * 3 * D), d_u = empty(n * 2 * D), d_v = empty(n * D), wanted_d_s = d_v;
    kernels::gru_before_candidate_backward<float>(n, D, d_next.data(), wanted_gates.data(),
                                                  s.data(), d_x.data(), d_v.data(),
                                                  wanted_d_s.data());
    kernels::gru_before_reset_backward<float>(n, D, d_reset.data(), wanted_gates.data(), s.data(),
                                              d_x.data(), {d_u.data(), 2 * D}, wanted_d_s.data());
    auto rows = empty(n * 3 * D), d_s = d_s_before;
    cuda::CellBackward gradient = {.part = CellPart::gru_before_candidate,
                                   .D = D,
                                   .width = 3 * D,
                                   .d = d_next.data(),
                                   .gates = gates.data(),
                                   .s = s.data(),
                                   .product = product.data(),
                                   .next = next.data(),
                                   .d_x = rows.data(),
                                   .d_s = d_s.data()};
    run(n, gradient, {&rows, &d_s});
    gradient.part = CellPart::gru_before_reset;
    gradient.d = d_reset.data();
    run(n, gradient, {&rows, &d_s});
    expect_near(rows, d_x);
    expect_near(d_s, sum(d_s_before, wanted_d_s));
  });
}

TEST_F(Loops, AnLstmEqualsTheLoops) {
  for_each_shape([&](auto n, auto D) {
    const auto x = random(n * 4 * D), u = random(n * 4 * D), c = random(n * D);
    auto wanted_gates = x, wanted_c = empty(n * D), wanted_next = wanted_c;
    kernels::lstm<float>(n, D, x.data(), {u.data(), 4 * D}, c.data(), wanted_gates.data(),
                         wanted_c.data(), wanted_next.data());
    auto gates = x, next_c = empty(n * D), next = next_c;
    run(n,
        cuda::CellForward{.part = CellPart::lstm,
                          .D = D,
                          .rows_of_cell = n,
                          .u_width = 4 * D,
                          .x = gates.data(),
                          .u = u.data(),
                          .c = c.data(),
                          .next_c = next_c.data(),
                          .next = next.data()},
        {&gates, &next_c, &next});
    expect_near(gates, wanted_gates);
    expect_near(next_c, wanted_c);
    expect_near(next, wanted_next);

    const auto d_next = random(n * D), d_next_c = random(n * D);
    auto d_x = empty(n * 4 * D), d_u = d_x, wanted_d_c = d_next_c;
    kernels::lstm_backward<float>(n, D, d_next.data(), wanted_gates.data(), c.data(),
                                  wanted_c.data(), d_x.data(), {d_u.data(), 4 * D},
                                  wanted_d_c.data());
    auto rows = empty(n * 4 * D), d_c = d_next_c;
    run(n,
        cuda::CellBackward{.part = CellPart::lstm,
                           .D = D,
                           .width = 4 * D,
                           .d = d_next.data(),
                           .gates = gates.data(),
                           .c = c.data(),
                           .next_c = next_c.data(),
                           .next = next.data(),
                           .d_x = rows.data(),
                           .d_c = d_c.data()},
        {&rows, &d_c});
    expect_near(rows, d_x);
    expect_near(d_c, wanted_d_c);
  });
}

TEST_F(Loops, ASimpleCellEqualsTheLoops) {
  for_each_shape([&](auto n, auto D) {
    const auto x = random(n * D), u = random(n * D), d_next = random(n * D);
    auto wanted_next = empty(n * D), next = wanted_next, kept = x;
    kernels::tanh_cell<float>(n, D, x.data(), {u.data(), D}, wanted_next.data());
    cuda::CellForward kernel = {};
    kernel.part = CellPart::tanh;
    kernel.D = kernel.rows_of_cell = kernel.u_width = D;
    kernel.x = kept.data();
    kernel.u = u.data();
    kernel.next = next.data();
    run(n, kernel, {&next});
    expect_near(next, wanted_next);

    auto d_x = empty(n * D), d_u = d_x, rows = d_x;
    kernels::tanh_cell_backward<float>(n, D, d_next.data(), wanted_next.data(), d_x.data(),
                                       {d_u.data(), D});
    cuda::CellBackward gradient = {};
    gradient.part = CellPart::tanh;
    gradient.D = gradient.width = D;
    gradient.d = d_next.data();
    gradient.gates = kept.data();
    gradient.next = next.data();
    gradient.d_x = rows.data();
    run(n, gradient, {&rows});
    expect_near(rows, d_x);
  });
}

TEST_F(Loops, EachOfSeveralCellsHasItsOwnBias) {
  const std::int64_t D = 5, B = 3, G = 2;
  const auto b = random(G * D), s = random(G * B * D), u = random(G * B * 3 * D);
  auto gates = random(G * B * 3 * D), product = empty(G * B * D), next = product;
  cuda::CellForward kernel = {};
  kernel.part = CellPart::gru_after;
  kernel.D = D;
  kernel.rows_of_cell = B;
  kernel.u_width = 3 * D;
  kernel.x = gates.data();
  kernel.u = u.data();
  kernel.b_U = b.data();
  kernel.s = s.data();
  kernel.product = product.data();
  kernel.next = next.data();
  run(G * B, kernel, {&gates, &product, &next});
  for (std::int64_t i = 0; i < G * B * D; ++i) {
    const auto row = i / D, d = i % D;
    EXPECT_EQ(product[i], u[row * 3 * D + 2 * D + d] + b[row / B * D + d]) << i;
  }
}

struct Shape {
  std::int64_t B, S, A, M;
};

class Attention : public Loops, public testing::WithParamInterface<ScoreForm> {
 protected:
  // The arguments of both sides, whose arrays live in this object.
  struct Given {
    Shape shape;
    Floats q, wide_q, keys, v, mixed, x;
    std::vector<std::int64_t> lengths;
    std::unique_ptr<bool[]> padding;
    kernels::AttentionBuffers<float> buffers;
    cuda::AttentionInputs inputs;
  };

  std::unique_ptr<Given> make(const Shape& shape) {
    const auto form = GetParam();
    auto [B, S, A, M] = shape;
    if (form == ScoreForm::position) A = S;
    auto given = std::make_unique<Given>();
    given->shape = {B, S, A, M};
    given->q = random(B * A);
    given->keys = random(B * S * A);
    given->v = random(A);
    given->mixed = random(B * S * M);
    given->x = random(B * M);
    given->padding = std::make_unique<bool[]>(static_cast<std::size_t>(B * S));
    for (std::int64_t b = 0; b < B; ++b) {
      given->lengths.push_back(b % 3 == 0 ? S : 1 + b % S);
      for (std::int64_t s = 0; s < S; ++s) given->padding[b * S + s] = s >= given->lengths[b];
    }
    given->wide_q = widened(given->q, A, A + 3);
    given->buffers = {.form = form,
                      .scale = 0.25F,
                      .B = B,
                      .S = S,
                      .A = A,
                      .M = M,
                      .keys = given->keys.data(),
                      .v = given->v.data(),
                      .mixed = given->mixed.data(),
                      .lengths = given->lengths.data()};
    given->inputs = {.form = form,
                     .scale = 0.25F,
                     .S = S,
                     .A = A,
                     .M = M,
                     .q_width = A + 3,
                     .q = given->wide_q.data(),
                     .keys = given->keys.data(),
                     .v = given->v.data(),
                     .mixed = given->mixed.data()};
    return given;
  }

  static std::vector<Shape> shapes() {
    return {{1, 1, 1, 1}, {2, 3, 5, 7}, {5, 8, 32, 96}, {4, 9, 33, 40}, {7, 40, 300, 768}};
  }
};

TEST_P(Attention, EqualsTheLoops) {
  for (const auto& shape : shapes()) {
    SCOPED_TRACE(shape.S);
    const auto given = make(shape);
    const auto [B, S, A, M] = given->shape;
    auto wanted_weights = empty(B * S), wanted_x = empty(B * M);
    kernels::attend<float>(given->buffers, {given->q.data(), A}, given->x.data(),
                           wanted_weights.data(), wanted_x.data());
    auto weights = empty(B * S), x = given->x;
    run(B, cuda::Attend{given->inputs, given->padding.get(), x.data(), weights.data()},
        {&weights, &x});
    expect_near(weights, wanted_weights, 10);
    expect_near(x, wanted_x, 10);
  }
}

TEST_P(Attention, HasTheGradientsOfTheLoops) {
  for (const auto& shape : shapes()) {
    SCOPED_TRACE(shape.S);
    const auto given = make(shape);
    const auto [B, S, A, M] = given->shape;
    auto weights = empty(B * S), x = empty(B * M);
    kernels::attend<float>(given->buffers, {given->q.data(), A}, given->x.data(), weights.data(),
                           x.data());
    const auto d_out = random(B * M), d_weights = random(B * S);
    const auto d_keys_before = random(B * S * A), d_v_before = random(B * A);
    const auto wide_d_out = widened(d_out, M, M + 2);
    for (const bool has_d_weights : {false, true}) {
      const auto* d_alpha = has_d_weights ? d_weights.data() : nullptr;
      auto wanted_d_q = empty(B * A), wanted_d_keys = d_keys_before, wanted_d_v = d_v_before;
      kernels::attend_backward<float>(
          given->buffers, {given->q.data(), A}, weights.data(), d_alpha, d_out.data(),
          {wanted_d_q.data(), A}, wanted_d_keys.data(),
          GetParam() == ScoreForm::additive ? wanted_d_v.data() : nullptr);
      for (const bool adds : {false, true}) {
        auto d_keys = d_keys_before, d_v = d_v_before, d_e = empty(B * S);
        const auto d_q_before = random(B * A);
        auto d_q = widened(d_q_before, A, A + 1);
        run(B,
            cuda::AttendBackward{.in = given->inputs,
                                 .weights = weights.data(),
                                 .d_weights = d_alpha,
                                 .d_mixture = wide_d_out.data(),
                                 .d_mixture_width = M + 2,
                                 .d_q_width = A + 1,
                                 .adds_d_q = adds,
                                 .d_e = d_e.data(),
                                 .d_q = d_q.data(),
                                 .d_keys = d_keys.data(),
                                 .d_v = d_v.data()},
            {&d_keys, &d_v, &d_e, &d_q});
        expect_near(part(d_q, A + 1, 0, A), adds ? sum(wanted_d_q, d_q_before) : wanted_d_q, 100);
        if (GetParam() == ScoreForm::dot) {  // the caller computes it from d_e
          for (std::int64_t i = 0; i < B * S * A; ++i) {
            d_keys[i] += 0.25F * d_e[i / A] * given->q[i / (S * A) * A + i % A];
          }
        }
        expect_near(d_keys, wanted_d_keys, 100);
        expect_near(d_v, wanted_d_v, 100);
      }
    }
  }
}

TEST_P(Attention, AQueryOfZerosIsFinite) {
  const auto given = make({2, 3, 5, 7});
  const auto [B, S, A, M] = given->shape;
  std::fill(given->wide_q.begin(), given->wide_q.end(), 0.0F);
  auto weights = empty(B * S), x = given->x;
  run(B, cuda::Attend{given->inputs, given->padding.get(), x.data(), weights.data()},
      {&weights, &x});
  auto d_keys = Floats(B * S * A), d_v = Floats(B * A), d_e = empty(B * S), d_q = empty(B * A);
  run(B,
      cuda::AttendBackward{given->inputs, weights.data(), nullptr, x.data(), M, A, false,
                           d_e.data(), d_q.data(), d_keys.data(), d_v.data()},
      {&d_keys, &d_v, &d_e, &d_q});
  for (const auto& numbers : {weights, x, d_e, d_q, d_keys, d_v}) {
    EXPECT_TRUE(
        std::all_of(numbers.begin(), numbers.end(), [](float f) { return std::isfinite(f); }));
  }
}

std::string form_name(const testing::TestParamInfo<ScoreForm>& given) {
  const char* names[] = {"additive", "dot", "cosine", "position"};
  return names[static_cast<std::size_t>(given.param)];
}

INSTANTIATE_TEST_SUITE_P(Forms, Attention,
                         testing::Values(ScoreForm::additive, ScoreForm::dot, ScoreForm::cosine,
                                         ScoreForm::position),
                         form_name);

}  // namespace
}  // namespace regard::loops_test
