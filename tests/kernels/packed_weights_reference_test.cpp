#include "kernels/packed_weights.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <torch/utils.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "kernels/loops/products.h"
#include "tests/kernels/portable/portable_loops.h"

namespace regard::kernels::packed_weights_reference_test {
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
        const auto b = torch::randn({N}, torch::kDouble);
        packed.multiply_with_bias(x, b, y);
        EXPECT_TRUE(torch::allclose(y, x.mm(W) + b, 1e-12, 1e-12)) << M << " " << K << " " << N;
        packed.multiply_with_bias(x, {}, y);
        EXPECT_TRUE(torch::allclose(y, x.mm(W), 1e-12, 1e-12)) << M << " " << K << " " << N;
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

// Numbers that end where memory ends: reading or writing behind them ends the process.
class NumbersBeforeTheEnd {
 public:
  explicit NumbersBeforeTheEnd(std::int64_t count) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto bytes = static_cast<std::size_t>(count) * sizeof(float);
    const auto pages = (bytes + page - 1) / page * page;
    size_ = pages + page;
    begin_ = static_cast<char*>(
        ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::mprotect(begin_ + pages, page, PROT_NONE);
    numbers_ = reinterpret_cast<float*>(begin_ + pages - bytes);
    for (std::int64_t i = 0; i < count; ++i) numbers_[i] = static_cast<float>(i % 7) - 3;
  }
  ~NumbersBeforeTheEnd() { ::munmap(begin_, size_); }
  NumbersBeforeTheEnd(const NumbersBeforeTheEnd&) = delete;
  NumbersBeforeTheEnd& operator=(const NumbersBeforeTheEnd&) = delete;

  float* data() const { return numbers_; }

 private:
  char* begin_;
  std::size_t size_;
  float* numbers_;
};

TEST(PackedMatrixReference, NothingBehindTheMatricesIsRead) {
  std::vector<ProductLoops<float>> all;
  for (const auto precision : {Precision::full, Precision::bf16, Precision::int8}) {
    for (const auto& loops : runnable_product_loops<float>(precision)) all.push_back(loops);
  }
  for (const std::int64_t M : {1, 5, 17}) {
    for (const std::int64_t K : {1, 2, 31, 33}) {
      for (const std::int64_t N : {1, 8, 17, 33, 49, 63, 64, 65}) {
        const NumbersBeforeTheEnd x(M * K), W(K * N), y(M * N), b(N);
        for (const auto& loops : all) {
          const auto packed = torch::empty({loops.packed_bytes(K, N)}, torch::kByte);
          loops.pack(K, N, {W.data(), N, 1}, packed.data_ptr());
          loops.multiply(M, K, N, {x.data(), K, 1}, packed.data_ptr(), y.data(), N, false);
          loops.pack(K, N, {W.data(), 1, K}, packed.data_ptr());
          loops.multiply_add(M, K, N, {x.data(), 1, M}, packed.data_ptr(), b.data(), 0, y.data(),
                             N);
        }
      }
    }
  }
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
  EXPECT_ANY_THROW(
      packed.multiply_with_bias(torch::randn({2, 4}), torch::randn({4}), torch::empty({2, 5})));
}

// The loops for older processors than this one as well, and those for newer ones with portable
// instructions.
template <typename T>
void expect_every_generation_agrees(double tolerance) {
  auto all = runnable_product_loops<T>();
  all.push_back(portable_v3<T>());
  all.push_back(portable_v4<T>());
  const torch::ScalarType type = c10::CppTypeToScalarType<T>::value;
  for (const auto& [M, K, N] : shapes) {
    for (const bool transposed : {false, true}) {
      const torch::Tensor x = matrix(M, K, transposed, type);
      const torch::Tensor W = matrix(K, N, transposed, type);
      for (const auto& loops : all) {
        torch::Tensor packed = torch::empty({loops.packed_bytes(K, N)}, torch::kByte);
        const torch::Tensor y = torch::empty({M, N}, type);
        loops.pack(K, N, {W.data_ptr<T>(), W.stride(0), W.stride(1)}, packed.data_ptr());
        loops.multiply(M, K, N, {x.data_ptr<T>(), x.stride(0), x.stride(1)}, packed.data_ptr(),
                       y.data_ptr<T>(), N, false);
        EXPECT_TRUE(torch::allclose(y, x.mm(W), tolerance, tolerance))
            << M << " " << K << " " << N << " " << transposed;
      }
    }
  }
}

TEST(PackedMatrixReference, EveryGenerationOfProcessorsComputesTheSame) {
  expect_every_generation_agrees<double>(1e-12);
  expect_every_generation_agrees<float>(1e-3);
}

// The factors as Precision::bf16 and Precision::int8 define them, in double precision.
torch::Tensor rounded(const torch::Tensor& matrix, Precision precision, std::int64_t scaled_over) {
  if (precision == Precision::bf16) return matrix.to(torch::kBFloat16).to(torch::kDouble);
  const auto largest = matrix.abs().amax(scaled_over, /*keepdim=*/true);
  const auto factor = (127 / largest).nan_to_num(0, 0, 0);
  return (matrix * factor).round().to(torch::kDouble) * (largest / 127).to(torch::kDouble);
}

class ShortFactorLoops : public testing::TestWithParam<Precision> {};

class ShortFactors : public testing::TestWithParam<Precision> {
 protected:
  void SetUp() override {
    torch::manual_seed(2);
    if (!can_multiply(GetParam())) GTEST_SKIP() << "this processor has no such products";
  }
};

TEST_P(ShortFactors, ProductsEqualThoseOfRoundedFactorsInEveryLayout) {
  // Matrices below 16 rows or columns are packed in full.
  const std::vector<Shape> sizes = {{1, 16, 16},   {5, 33, 31},     {7, 64, 64},   {6, 512, 100},
                                    {13, 257, 65}, {200, 1100, 96}, {50, 90, 130}, {17, 2000, 18}};
  for (const auto& [M, K, N] : sizes) {
    for (const bool transposed_x : {false, true}) {
      for (const bool transposed_W : {false, true}) {
        const auto x = matrix(M, K, transposed_x, torch::kFloat);
        const auto W = matrix(K, N, transposed_W, torch::kFloat);
        const auto wide = torch::full({M, N + 5}, 7, torch::kFloat);
        const auto y = wide.narrow(1, 2, N);
        const PackedMatrix packed(W, GetParam());
        const auto expected = rounded(x, GetParam(), 1).mm(rounded(W, GetParam(), 0));
        const auto tolerance = 1e-5 * std::sqrt(static_cast<double>(K));
        packed.multiply(x, y);
        EXPECT_LT((y - expected).abs().max().item<double>(), tolerance)
            << M << " " << K << " " << N;
        packed.multiply(x, y, /*add=*/true);
        EXPECT_LT((y - 2 * expected).abs().max().item<double>(), 2 * tolerance)
            << M << " " << K << " " << N;
        const auto b = torch::randn({N});
        packed.multiply_with_bias(x, b, y);
        EXPECT_LT((y - (expected + b)).abs().max().item<double>(), tolerance)
            << M << " " << K << " " << N;
        EXPECT_TRUE(wide.narrow(1, 0, 2).eq(7).all().item<bool>());
        EXPECT_TRUE(wide.narrow(1, N + 2, 3).eq(7).all().item<bool>());
      }
    }
  }
}

TEST_P(ShortFactors, ARowsResultIsTheSameToTheBitWhateverTheOthersAre) {
  const auto x = matrix(205, 700, false, torch::kFloat);
  const PackedMatrix packed(matrix(700, 70, false, torch::kFloat), GetParam());
  const auto together = torch::empty({205, 70});
  packed.multiply(x, together);
  for (std::int64_t count = 1; count <= 205; count += 17) {
    const auto some = torch::empty({count, 70});
    packed.multiply(x.narrow(0, 205 - count, count), some);
    EXPECT_TRUE(torch::equal(some, together.narrow(0, 205 - count, count))) << count;
  }
}

TEST_P(ShortFactors, WhatIsNotFiniteStaysSoInItsRowAlone) {
  const PackedMatrix packed(matrix(40, 70, false, torch::kFloat), GetParam());
  for (const double number : {std::nan(""), 1.0 / 0.0}) {
    auto x = torch::randn({9, 40});
    x[4][17] = number;
    const auto y = torch::empty({9, 70});
    packed.multiply(x, y);
    EXPECT_FALSE(y[4].isfinite().any().item<bool>());
    EXPECT_EQ(y.isfinite().sum().item<int>(), 8 * 70);
  }
}

TEST_P(ShortFactors, AWeightThatIsNotFiniteMakesItsColumnSoAlone) {
  for (const double number : {std::nan(""), 1.0 / 0.0}) {
    auto W = matrix(40, 70, false, torch::kFloat).clone();
    W[17][4] = number;
    const auto y = torch::empty({9, 70});
    PackedMatrix(W, GetParam()).multiply(torch::randn({9, 40}), y);
    EXPECT_FALSE(y.select(1, 4).isfinite().any().item<bool>());
    EXPECT_EQ(y.isfinite().sum().item<int>(), 9 * 69);
  }
}

TEST_P(ShortFactors, TinyFactorsGiveTinyProducts) {
  const auto x = torch::randn({3, 30}), W = torch::randn({30, 20});
  for (const double tiny : {1e-36, 1e-38, 1e-42}) {
    const auto y = torch::full({3, 20}, 5, torch::kFloat);
    PackedMatrix(W * tiny, GetParam()).multiply(x, y);
    EXPECT_LT(y.abs().max().item<double>(), 1e-33);
    PackedMatrix(W, GetParam()).multiply(x * tiny, y);
    EXPECT_LT(y.abs().max().item<double>(), 1e-33);
  }
}

TEST_P(ShortFactors, ZerosGiveZeros) {
  const auto y = torch::full({3, 20}, 5, torch::kFloat);
  PackedMatrix(torch::zeros({30, 20}), GetParam()).multiply(torch::randn({3, 30}), y);
  EXPECT_EQ(y.count_nonzero().item<int>(), 0);
  PackedMatrix(torch::randn({30, 20}), GetParam()).multiply(torch::zeros({3, 30}), y);
  EXPECT_EQ(y.count_nonzero().item<int>(), 0);
}

// The loops for processors without AMX as well, and all loops with portable instructions, also on
// processors that have none of these.
TEST_P(ShortFactorLoops, OfEveryGenerationOfProcessorsComputeTheSame) {
  torch::manual_seed(2);
  auto all = can_multiply(GetParam()) ? runnable_product_loops<float>(GetParam())
                                      : std::vector<ProductLoops<float>>();
  const bool is_bf16 = GetParam() == Precision::bf16;
  all.push_back(is_bf16 ? portable_bf16() : portable_int8());
  all.push_back(is_bf16 ? portable_bf16_amx() : portable_int8_amx());
  const std::vector<Shape> sizes = {{1, 16, 16},   {5, 33, 31},    {16, 64, 64},    {17, 512, 100},
                                    {49, 257, 65}, {33, 1100, 48}, {200, 700, 129}, {18, 9000, 40}};
  for (std::size_t i = 0; i < 2 * sizes.size(); ++i) {
    const auto M = sizes[i / 2].M, K = sizes[i / 2].K, N = sizes[i / 2].N;
    const bool transposed = i % 2 == 1;
    const auto x = matrix(M, K, transposed, torch::kFloat);
    const auto W = matrix(K, N, transposed, torch::kFloat);
    const auto b = torch::randn({N});
    const auto expected =
        rounded(x, GetParam(), 1).mm(rounded(W, GetParam(), 0)) + b.to(torch::kDouble);
    for (const auto& loops : all) {
      const auto packed = torch::empty({loops.packed_bytes(K, N)}, torch::kByte);
      loops.pack(K, N, {W.const_data_ptr<float>(), W.stride(0), W.stride(1)},
                 packed.mutable_data_ptr());
      const auto product = [&](std::int64_t first, std::int64_t rows) {
        auto y = torch::empty({rows, N});
        const auto* from = x.const_data_ptr<float>() + first * x.stride(0);
        loops.multiply_add(rows, K, N, {from, x.stride(0), x.stride(1)}, packed.const_data_ptr(),
                           b.const_data_ptr<float>(), 0, y.mutable_data_ptr<float>(), N);
        return y;
      };
      const auto y = product(0, M);
      EXPECT_LT((y - expected).abs().max().item<double>(), 2e-5 * std::sqrt(double(K)))
          << M << " " << K << " " << N;
      EXPECT_TRUE(torch::equal(product(M / 2, M - M / 2), y.narrow(0, M / 2, M - M / 2)))
          << M << " " << K << " " << N;
    }
  }
}

std::string name_of(const testing::TestParamInfo<Precision>& test) {
  return test.param == Precision::bf16 ? "bf16" : "int8";
}
INSTANTIATE_TEST_SUITE_P(Reference, ShortFactors, testing::Values(Precision::bf16, Precision::int8),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Reference, ShortFactorLoops,
                         testing::Values(Precision::bf16, Precision::int8), name_of);

TEST(PackedWeightsReference, WeightsThatHaveChangedArePackedAgain) {
  ThreadPool pool(2);
  PackedWeights weights;
  std::vector<torch::Tensor> all;
  all.reserve(5);
  for (int i = 0; i < 5; ++i) all.push_back(torch::randn({20, 30 + i}));
  const auto expect_products = [&] {
    for (const auto& W : all) {
      const auto x = torch::randn({4, 20});
      const auto y = torch::empty({4, W.size(1)});
      weights.get_or_pack(W).multiply(x, y);
      EXPECT_TRUE(torch::allclose(y, x.mm(W), 1e-4, 1e-5));
    }
  };
  expect_products();
  for (const auto& W : all) W.add_(1);
  weights.repack_all(pool);
  expect_products();
}

TEST(PackedWeightsReference, WeightsThatAStepDidNotUseAreForgotten) {
  ThreadPool pool(2);
  PackedWeights weights;
  const auto W = torch::randn({20, 30}), unused = torch::randn({20, 30});
  for (const auto& weight : {W, unused}) weights.get_or_pack(weight);
  const auto owners = [](const torch::Tensor& weight) { return weight.storage().use_count(); };
  for (int step = 0; step < 2; ++step) {
    weights.repack_all(pool);
    EXPECT_EQ(owners(W), 2);
    EXPECT_EQ(owners(unused), step == 0 ? 2 : 1);
    weights.get_or_pack(W);
  }
  for (int unfinished = 0; unfinished < 2; ++unfinished) weights.repack_all(pool);
  EXPECT_EQ(owners(W), 2) << "a step that used none says nothing";
}

}  // namespace
}  // namespace regard::kernels::packed_weights_reference_test
