// The kernels of src/cuda/rows.h on the CPU, their threads in random orders, against the loops for
// the CPU.
#include "cuda/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/loops/functions.h"
#include "kernels/loops/layer_norm.h"
#include "kernels/loops/losses.h"
#include "tests/cuda/kernel_test.h"

namespace regard::rows_test {
namespace {

class Rows : public KernelTest {};

const kernels::KeyedDropout no_dropout = {};
const kernels::KeyedDropout some_dropout = {.p = 0.3, .key = 77};

TEST_F(Rows, AddAndNormEqualsTheLoops) {
  for_each_shape([&](auto n, auto D) {
    const auto x = random(n * D), z = random(n * D), g = random(D), b = random(D);
    for (const bool has_z : {false, true}) {
      for (const auto& dropout : {no_dropout, some_dropout}) {
        auto sum = empty(n * D), y = sum, stats = empty(2 * n);
        auto wanted_sum = sum, wanted_y = y, wanted_stats = stats;
        const auto* added = has_z ? z.data() : nullptr;
        // The key is read from memory.
        const cuda::Mask mask = {dropout.p, 0, &dropout.key};
        const cuda::AddAndNorm kernel = {D,
                                         x.data(),
                                         added,
                                         g.data(),
                                         b.data(),
                                         mask,
                                         static_cast<float>(kernels::norm_epsilon),
                                         sum.data(),
                                         y.data(),
                                         stats.data()};
        run(n, kernel, {&sum, &y, &stats});
        kernels::add_and_norm_rows(n, D, x.data(), added, dropout, g.data(), b.data(),
                                   wanted_sum.data(), wanted_y.data(), wanted_stats.data());
        if (has_z) {
          EXPECT_EQ(sum, wanted_sum) << "the mask";
        }
        if (D < 3) continue;  // the normal of one number is a rounding error
        expect_near(y, wanted_y);
        expect_near(stats, wanted_stats);
      }
    }
  });
}

TEST_F(Rows, TheGradientOfAddAndNormEqualsTheLoops) {
  for_each_shape([&](auto n, auto D) {
    const auto d_sum = random(n * D), d_y = random(n * D), sum = random(n * D), g = random(D);
    Floats stats;
    for (std::int64_t row = 0; row < n; ++row) stats.insert(stats.end(), {0.1F, 0.9F});
    for (const auto* d_of_sum : {d_sum.data(), static_cast<const float*>(nullptr)}) {
      auto d_x = empty(n * D), d_z = d_x, d_g = Floats(static_cast<std::size_t>(D)), d_b = d_g;
      auto wanted_x = d_x, wanted_z = d_z, wanted_g = d_g, wanted_b = d_b;
      const cuda::AddAndNormBackward rows = {D,
                                             d_of_sum,
                                             d_y.data(),
                                             sum.data(),
                                             stats.data(),
                                             g.data(),
                                             {some_dropout.p, some_dropout.key, nullptr},
                                             d_x.data(),
                                             d_z.data()};
      run(n, rows, {&d_x, &d_z});
      const cuda::ColumnSums columns = {n,          D,         d_y.data(), sum.data(), stats.data(),
                                        d_g.data(), d_b.data()};
      run((D + columns.columns - 1) / columns.columns, columns, {&d_g, &d_b});
      kernels::add_and_norm_rows_backward(n, D, d_of_sum, d_y.data(), sum.data(), stats.data(),
                                          g.data(), some_dropout, wanted_x.data(), wanted_z.data(),
                                          wanted_g.data(), wanted_b.data());
      expect_near(d_x, wanted_x);
      expect_near(d_z, wanted_z);
      expect_near(d_g, wanted_g, n);
      expect_near(d_b, wanted_b, n);
    }
  });
}

TEST_F(Rows, DropoutAndReluEqualTheLoops) {
  for_each_shape([&](auto n, auto D) {
    const auto x = random(n * D), d_y = random(n * D);
    const auto blocks = (n * D + cuda::elements_in_block - 1) / cuda::elements_in_block;
    for (const auto& dropout : {no_dropout, some_dropout}) {
      for (const bool is_relu : {false, true}) {
        auto y = empty(n * D), wanted = x, d_x = y, wanted_d_x = y, d_b = empty(D);
        const cuda::Mask mask = {dropout.p, dropout.key, nullptr};
        run(blocks, cuda::Dropout{n * D, x.data(), is_relu, mask, y.data()}, {&y});
        if (is_relu) {
          kernels::relu_dropout_rows(n, D, dropout, wanted.data());
        } else {
          kernels::dropout_rows(n * D, x.data(), dropout, wanted.data());
        }
        EXPECT_EQ(y, wanted);
        if (!is_relu) continue;
        run(blocks,
            cuda::ReluDropoutBackward{n * D, y.data(), d_y.data(), mask.factor(), d_x.data()},
            {&d_x});
        kernels::relu_dropout_rows_backward(n, D, dropout, y.data(), d_y.data(), wanted_d_x.data(),
                                            d_b.data());
        EXPECT_EQ(d_x, wanted_d_x);
      }
    }
  });
}

TEST_F(Rows, CrossEntropyEqualsTheLoops) {
  for_each_shape([&](auto n, auto V) {
    const auto rows = static_cast<std::size_t>(n);
    const auto bias = random(V);
    std::vector<std::int64_t> targets(rows);
    for (auto& y : targets) y = static_cast<std::int64_t>(generator_()) % V;
    const bool ignored[] = {false, true};  // of the first two rows
    for (const double smoothing : {0.0, 0.1}) {
      for (const bool ignores : {false, true}) {
        const auto count = ignores ? std::min<std::int64_t>(n, 2) : n;
        const auto logits = random(count * V, 3);
        auto found = logits, wanted = logits;
        std::vector<double> nll(rows), loss(rows), wanted_nll(rows);
        const cuda::CrossEntropy kernel = {V,
                                           found.data(),
                                           bias.data(),
                                           targets.data(),
                                           ignores ? ignored : nullptr,
                                           smoothing,
                                           /*with_gradient=*/true,
                                           nll.data(),
                                           loss.data()};
        run(count, kernel, {&found});
        Floats d_bias(static_cast<std::size_t>(V));
        const auto real = ignores ? 1 : n;
        const auto wanted_loss =
            kernels::cross_entropy_rows(real, V, wanted.data(), bias.data(), targets.data(),
                                        smoothing, d_bias.data(), wanted_nll.data());
        std::fill(wanted.begin() + real * V, wanted.end(), 0.0F);  // of ignored rows
        expect_near(found, wanted);
        expect_near(nll, wanted_nll);
        const auto sum = std::accumulate(loss.begin(), loss.end(), 0.0);
        EXPECT_NEAR(sum, wanted_loss, 1e-6 * std::max(1.0, wanted_loss));
        auto kept = logits;
        auto without = kernel;
        without.logits = kept.data();
        without.with_gradient = false;
        run(count, without, {&kept});
        EXPECT_EQ(kept, logits) << "without a gradient";
      }
    }
  });
}

TEST_F(Rows, CrossEntropyOfNanIsNan) {
  Floats logits = {0, std::nanf(""), 1};
  const Floats bias(3);
  const std::int64_t target = 0;
  double nll = 0, loss = 0;
  run(1, cuda::CrossEntropy{3, logits.data(), bias.data(), &target, nullptr, 0, true, &nll, &loss},
      {});
  EXPECT_TRUE(std::isnan(loss));
}

}  // namespace
}  // namespace regard::rows_test
