#include "kernels/gradient_factors.h"

#include <torch/autograd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "kernels/mode.h"

namespace regard::kernels {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// Factors that are much larger than dW cost more to keep than dW costs to write and to add: with 4,
// multi30k_transformer_best.yaml was slower and used more memory than with 1 or 2.
constexpr std::int64_t largest_factors = 2;  // times dW

bool GradientFactors::contains(const Tensor& W) const {
  return W.dim() == 2 && W.is_cpu() && W.scalar_type() == torch::kFloat && W.is_alias_of(weights_);
}

bool GradientFactors::takes_product(const Tensor& W, std::int64_t M) const {
  return contains(W) && (W.stride(0) == 1 || W.stride(1) == 1) &&
         M * (W.size(0) + W.size(1)) <= largest_factors * W.numel();
}

GradientFactors::Place GradientFactors::place_of(const Tensor& W) const {
  return {.offset = W.storage_offset() - weights_.storage_offset(),
          .rows = W.size(0),
          .columns = W.size(1),
          .row_stride = W.stride(0)};
}

void GradientFactors::add_product(const Tensor& W, const Tensor& x, const Tensor& d_y) {
  // The product has contiguous rows, as the parameter of which W is a view or a transposed view.
  const bool is_transposed = W.stride(1) != 1;
  const auto& left = is_transposed ? d_y : x;
  const auto& right = is_transposed ? x : d_y;
  products_.push_back({.place = place_of(is_transposed ? W.t() : W),
                       .left = left.detach().t(),
                       .right = {},
                       .packed_right = {}});
  auto& product = products_.back();
  if (const auto* weights = training_weights_for(right)) {
    product.packed_right.emplace(right, weights->precision());
  } else {
    product.right = right.detach();
  }
}

bool GradientFactors::add_rows(const Tensor& W, const Tensor& rows, const Tensor& d_y) {
  if (!contains(W) || W.stride(1) != 1) return false;
  rows_.push_back({place_of(W), rows.contiguous(), d_y.contiguous()});
  return true;
}

// The sum of what all threads have noted.
class FactorSum {
 public:
  FactorSum(std::span<GradientFactors> of_shards, const Tensor& gradient,
            std::span<GradientPart> parts, ThreadPool& pool)
      : gradient_(gradient), parts_(parts), pool_(pool), shards_(std::ssize(of_shards)) {
    for (const auto& factors : of_shards) {
      for (const auto& product : factors.products_) {
        if (part_of(product.place).is_wanted) products_[product.place].push_back(&product);
      }
      for (const auto& rows : factors.rows_) {
        if (part_of(rows.place).is_wanted) rows_[rows.place].push_back(&rows);
      }
    }
  }

  void compute() {
    multiply();
    add_rows();
  }

 private:
  using Place = GradientFactors::Place;

  // Rows of a product that one thread computes.
  struct Block {
    const Place* place;
    const std::vector<const GradientFactors::Product*>* products;
    std::int64_t begin;
    std::int64_t count;
    bool adds;  // to what is there already
  };

  GradientPart& part_of(const Place& place) const {
    const auto after = std::ranges::upper_bound(parts_, place.offset, {}, &GradientPart::begin);
    return *std::prev(after);
  }

  float* data(const Place& place, std::int64_t row) const {
    return gradient_.mutable_data_ptr<float>() + place.offset + row * place.row_stride;
  }

  void multiply() {
    std::map<const GradientPart*, std::int64_t> places_of_part;
    for (const auto& [place, products] : products_) ++places_of_part[&part_of(place)];
    std::vector<Block> blocks;
    const auto compute_blocks = [&] {
      parallel_for(pool_, blocks.size(), [&](std::size_t i) { compute_block(blocks[i]); });
      blocks.clear();
    };
    for (const auto& entry : products_) {
      const auto& place = entry.first;
      const bool must_wait = std::ranges::any_of(
          blocks, [&](const Block& earlier) { return may_overlap(*earlier.place, place); });
      if (must_wait) compute_blocks();
      auto& part = part_of(place);
      const bool writes_all =
          places_of_part[&part] == 1 && place.rows * place.columns == part.size && !part.has_value;
      if (!writes_all) zero_unless_set(part);
      part.has_value = true;
      const auto size = block_rows(place.rows);
      for (std::int64_t begin = 0; begin < place.rows; begin += size) {
        blocks.push_back(
            {&place, &entry.second, begin, std::min(size, place.rows - begin), !writes_all});
      }
    }
    compute_blocks();
  }

  // True if two matrices in the buffer may share elements. a does not begin after b.
  static bool may_overlap(const Place& a, const Place& b) {
    const auto distance = b.offset - a.offset;
    if (distance >= (a.rows - 1) * a.row_stride + a.columns) return false;
    const auto column = distance % a.row_stride;  // of b, from the first one of a
    return a.row_stride != b.row_stride || column < a.columns || column + b.columns > a.row_stride;
  }

  // Returns the rows of a block: whole tiles of the loops, and few enough for several blocks in
  // each thread. Does not depend on the number of threads, because the bits of a product of
  // LibTorch may depend on its rows.
  std::int64_t block_rows(std::int64_t rows) const {
    constexpr std::int64_t tile = 64;
    constexpr std::int64_t blocks_of_shard = 4;
    const auto blocks = blocks_of_shard * shards_;
    return std::max(tile, (rows / blocks + tile - 1) / tile * tile);
  }

  void compute_block(const Block& block) const {
    const torch::NoGradGuard guard;
    const auto& place = *block.place;
    const auto y = gradient_.as_strided(
        {block.count, place.columns}, {place.row_stride, 1},
        gradient_.storage_offset() + place.offset + block.begin * place.row_stride);
    bool adds = block.adds;
    for (const auto* product : *block.products) {
      multiply(*product, product->left.narrow(0, block.begin, block.count), y, adds);
      adds = true;
    }
  }

  // x: rows of product.left.
  static void multiply(const GradientFactors::Product& product, const Tensor& x, Tensor y,
                       bool adds) {
    if (product.packed_right) {
      product.packed_right->multiply(x, y, adds);
    } else if (adds) {
      y.addmm_(x, product.right);
    } else {
      torch::mm_out(y, x, product.right);
    }
  }

  void zero_unless_set(GradientPart& part) const {
    if (std::exchange(part.has_value, true)) return;
    std::fill_n(gradient_.mutable_data_ptr<float>() + part.begin, part.size, 0.0F);
  }

  void add_rows() {
    for (const auto& [place, all] : rows_) {
      add_in_ranges(place, all, std::exchange(part_of(place).has_value, true));
    }
  }

  // Each thread adds to a range of the rows.
  void add_in_ranges(const Place& place, const std::vector<const GradientFactors::Rows*>& all,
                     bool is_set) const {
    const auto threads = static_cast<std::int64_t>(pool_.count());
    pool_.run([&](std::size_t thread) {
      const auto w = static_cast<std::int64_t>(thread);
      add_rows(place, all, w * place.rows / threads, (w + 1) * place.rows / threads, is_set);
    });
  }

  void add_rows(const Place& place, const std::vector<const GradientFactors::Rows*>& all,
                std::int64_t begin, std::int64_t end, bool is_set) const {
    if (!is_set) {
      for (auto row = begin; row < end; ++row) std::fill_n(data(place, row), place.columns, 0.0F);
    }
    for (const auto* rows : all) {
      const auto* id = rows->rows.const_data_ptr<std::int64_t>();
      const auto* d_y = rows->d_y.const_data_ptr<float>();
      for (std::int64_t i = 0; i < rows->rows.numel(); ++i, d_y += place.columns) {
        if (id[i] < begin || id[i] >= end) continue;
        auto* sum = data(place, id[i]);
        for (std::int64_t k = 0; k < place.columns; ++k) sum[k] += d_y[k];
      }
    }
  }

  Tensor gradient_;
  std::span<GradientPart> parts_;
  ThreadPool& pool_;
  std::int64_t shards_;
  std::map<Place, std::vector<const GradientFactors::Product*>> products_;
  std::map<Place, std::vector<const GradientFactors::Rows*>> rows_;
};

void add_up(std::span<GradientFactors> of_shards, const Tensor& gradient,
            std::span<GradientPart> parts, ThreadPool& pool) {
  FactorSum(of_shards, gradient, parts, pool).compute();
}

Tensor weight_gradient(const Tensor& W, const Tensor& x, const Tensor& d_y) {
  auto* factors = gradient_factors();
  if (factors != nullptr && factors->takes_product(W, x.size(0))) {
    factors->add_product(W, x, d_y);
    return {};
  }
  // W is often the transposed view of a parameter. dW has the memory layout of the parameter.
  return W.stride(0) == 1 ? matrix_product(d_y.t(), x).t() : matrix_product(x.t(), d_y);
}

namespace {

class Embedding : public torch::autograd::Function<Embedding> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& W, const Tensor& ids) {
    context->save_for_backward({W, ids});
    context->set_materialize_grads(false);
    return torch::embedding(W, ids);
  }

  static tensor_list backward(AutogradContext* context, const tensor_list& gradients) {
    if (!gradients[0].defined()) return {Tensor(), Tensor()};
    const auto saved = context->get_saved_variables();
    const auto& [W, ids] = std::tie(saved[0], saved[1]);
    auto* factors = gradient_factors();
    const auto d_y = gradients[0].reshape({ids.numel(), W.size(1)});
    if (factors != nullptr && factors->add_rows(W, ids.flatten(), d_y)) return {Tensor(), Tensor()};
    return {at::embedding_dense_backward(gradients[0], ids, W.size(0), /*padding_idx=*/-1,
                                         /*scale_grad_by_freq=*/false),
            Tensor()};
  }
};

}  // namespace

Tensor embedding(const Tensor& W, const Tensor& ids) {
  if (gradient_factors() == nullptr) return torch::embedding(W, ids);
  return Embedding::apply(W, ids);
}

}  // namespace regard::kernels
