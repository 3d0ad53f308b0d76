#include "kernels/packed_weights.h"

#include <gtest/gtest.h>
#include <torch/utils.h>

#include "kernels/product_rows.h"

namespace regard::kernels {
namespace {

struct Shape {
  std::int64_t M, K, N;
};

// Around the sizes of tiles, panels and runs, and beyond them.
const std::vector<Shape> shapes = {{1, 1, 1},     {1, 7, 33},    {5, 16, 31},   {12, 256, 32},
                                   {13, 257, 65}, {40, 300, 96}, {390, 20, 40}, {25, 520, 7}};

// A matrix whose rows, or else columns, lie side by side, in a wider one.
torch::Tensor matrix(std::int64_t rows, std::int64_t columns, bool transposed,
                     torch::ScalarType type = torch::kDouble) {
  if (transposed) return torch::randn({columns, rows + 3}, type).narrow(1, 1, rows).t();
  return torch::randn({rows, columns + 3}, type).narrow(1, 2, columns);
}

TEST(PackedMatrixReference, ProductsEqualLibTorchsInEveryLayout) {
  torch::manual_seed(1);
  for (const auto& [M, K, N] : shapes) {
    for (const bool transposed_x : {false, true}) {
      for (const bool transposed_W : {false, true}) {
        const auto x = matrix(M, K, transposed_x);
        const auto W = matrix(K, N, transposed_W);
        const auto y = matrix(M, N, false);
        const auto before = y.clone();
        const PackedMatrix packed(W);
        packed.multiply(x, y);
        EXPECT_TRUE(torch::allclose(y, x.mm(W), 1e-12, 1e-12)) << M << " " << K << " " << N;
        y.copy_(before);
        packed.multiply(x, y, /*add=*/true);
        EXPECT_TRUE(torch::allclose(y, before + x.mm(W), 1e-12, 1e-12))
            << M << " " << K << " " << N;
      }
    }
  }
}

TEST(PackedMatrixReference, NothingBesideTheResultIsWritten) {
  const auto wide = torch::zeros({5, 40}, torch::kDouble);
  PackedMatrix(matrix(9, 33, false)).multiply(matrix(5, 9, false), wide.narrow(1, 3, 33));
  EXPECT_EQ(wide.narrow(1, 0, 3).count_nonzero().item<int>(), 0);
  EXPECT_EQ(wide.narrow(1, 36, 4).count_nonzero().item<int>(), 0);
}

TEST(PackedMatrixReference, ARowsResultIsTheSameToTheBitWhateverTheOthersAre) {
  const auto x = matrix(45, 700, false, torch::kFloat);
  const PackedMatrix packed(matrix(700, 70, false, torch::kFloat));
  const auto together = torch::empty({45, 70});
  packed.multiply(x, together);
  for (std::int64_t count = 1; count <= 45; count += 4) {
    const auto some = torch::empty({count, 70});
    packed.multiply(x.narrow(0, 45 - count, count), some);
    EXPECT_TRUE(torch::equal(some, together.narrow(0, 45 - count, count))) << count;
  }
}

TEST(PackedMatrixReference, SinglePrecisionStaysWithinRounding) {
  const auto x = matrix(30, 512, false, torch::kFloat);
  const auto W = matrix(512, 100, true, torch::kFloat);
  const auto y = torch::empty({30, 100});
  PackedMatrix(W).multiply(x, y);
  const auto exact = x.to(torch::kDouble).mm(W.to(torch::kDouble));
  EXPECT_LT((y - exact).abs().max().item<double>(), 1e-4);
}

TEST(PackedMatrixReference, ShapesThatDoNotFitAreRefused) {
  const PackedMatrix packed(torch::randn({4, 5}));
  EXPECT_ANY_THROW(packed.multiply(torch::randn({2, 3}), torch::empty({2, 5})));
  EXPECT_ANY_THROW(packed.multiply(torch::randn({2, 4}), torch::empty({2, 6})));
  EXPECT_ANY_THROW(packed.multiply(torch::randn({2, 8}).slice(1, 0, 8, 2), torch::empty({2, 5})));
}

// The loops for older processors than this one as well.
template <typename T>
void expect_every_generation_agrees(double tolerance) {
  const torch::ScalarType type = c10::CppTypeToScalarType<T>::value;
  for (const auto& [M, K, N] : shapes) {
    const torch::Tensor x = torch::randn({M, K}, type);
    const torch::Tensor W = torch::randn({K, N}, type);
    for (const auto& loops : runnable_product_loops<T>()) {
      const auto panels = (N + loops.panel - 1) / loops.panel;
      torch::Tensor packed = torch::empty({K * panels * loops.panel}, type);
      const torch::Tensor y = torch::empty({M, N}, type);
      loops.pack(K, N, {W.data_ptr<T>(), N, 1}, packed.data_ptr<T>());
      loops.multiply(M, K, N, {x.data_ptr<T>(), K, 1}, packed.data_ptr<T>(), y.data_ptr<T>(), N,
                     false);
      EXPECT_TRUE(torch::allclose(y, x.mm(W), tolerance, tolerance))
          << M << " " << K << " " << N << ", panels of " << loops.panel;
    }
  }
}

TEST(PackedMatrixReference, EveryGenerationOfProcessorsComputesTheSame) {
  expect_every_generation_agrees<double>(1e-12);
  expect_every_generation_agrees<float>(1e-3);
}

}  // namespace
}  // namespace regard::kernels
