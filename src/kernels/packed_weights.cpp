#include "kernels/packed_weights.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/record_function.h>
#include <torch/autograd.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "kernels/mode.h"

namespace regard::kernels {
namespace {

// A lower precision costs more than it saves in a matrix with fewer rows or columns: its panels
// would be mostly padding.
constexpr std::int64_t min_size = 16;
// The largest K for int8: longer sums could overflow (loops/product_int8.cpp).
constexpr std::int64_t max_int8_length = 60'000;

Precision precision_for(std::int64_t K, std::int64_t N, torch::ScalarType type, Precision wanted) {
  if (type != torch::kFloat || K < min_size || N < min_size) return Precision::full;
  return wanted == Precision::int8 && K > max_int8_length ? Precision::full : wanted;
}

template <typename T>
MatrixView<const T> view(const torch::Tensor& matrix) {
  return {matrix.const_data_ptr<T>(), matrix.stride(0), matrix.stride(1)};
}

}  // namespace

PackedMatrix::PackedMatrix(const torch::Tensor& W, Precision precision)
    : K_(W.size(0)),
      N_(W.size(1)),
      precision_(precision_for(K_, N_, W.scalar_type(), precision)),
      type_(W.scalar_type()) {
  AT_DISPATCH_FLOATING_TYPES(type_, "pack", [&] {
    packed_ = torch::empty({fastest_product_loops<scalar_t>(precision_).packed_bytes(K_, N_)},
                           torch::kByte);
  });
  repack(W);
}

void PackedMatrix::repack(const torch::Tensor& W) {
  TORCH_CHECK(W.size(0) == K_ && W.size(1) == N_ && W.scalar_type() == type_,
              "another matrix than the packed one");
  AT_DISPATCH_FLOATING_TYPES(type_, "pack", [&] {
    fastest_product_loops<scalar_t>(precision_)
        .pack(K_, N_, view<scalar_t>(W), packed_.mutable_data_ptr());
  });
}

void PackedMatrix::multiply(const torch::Tensor& x, const torch::Tensor& y, bool add) const {
  multiply_add(x, add ? y : torch::Tensor(), y);
}

void PackedMatrix::multiply_with_bias(const torch::Tensor& x, const torch::Tensor& b,
                                      const torch::Tensor& y) const {
  TORCH_CHECK(!b.defined() || (b.dim() == 1 && b.size(0) == N_ && b.is_contiguous()),
              "the bias does not fit the packed matrix");
  multiply_add(x, b, y);
}

void PackedMatrix::multiply_add(const torch::Tensor& x, const torch::Tensor& addend,
                                const torch::Tensor& y) const {
  // For profilers and benchmarks: visible like an operation of LibTorch.
  RECORD_FUNCTION("regard::product", std::vector<c10::IValue>({x, y}));
  TORCH_CHECK(x.size(1) == K_ && y.size(0) == x.size(0) && y.size(1) == N_ &&
                  (x.stride(1) == 1 || x.stride(0) == 1) && y.stride(1) == 1,
              "the shapes or strides do not fit the packed matrix");
  AT_DISPATCH_FLOATING_TYPES(type_, "multiply", [&] {
    fastest_product_loops<scalar_t>(precision_)
        .multiply_add(x.size(0), K_, N_, view<scalar_t>(x), packed_.const_data_ptr(),
                      addend.defined() ? addend.const_data_ptr<scalar_t>() : nullptr,
                      addend.defined() && addend.dim() == 2 ? addend.stride(0) : 0,
                      y.mutable_data_ptr<scalar_t>(), y.stride(0));
  });
}

PackedWeights::PackedWeights(Precision precision, const torch::Tensor& flat)
    : precision_(precision), flat_(flat) {
  if (flat.defined() && !flat.is_cpu()) flat_in_bf16_ = torch::empty_like(flat, torch::kBFloat16);
}

const PackedMatrix& PackedWeights::get_or_pack(const torch::Tensor& W) {
  const Key key = {W.const_data_ptr(), W.size(0), W.size(1), W.stride(0), W.stride(1)};
  const std::scoped_lock lock(mutex_);
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    const auto weight = W.detach();
    found = entries_.emplace(key, Entry{weight, PackedMatrix(weight, precision_)}).first;
  }
  found->second.is_used = true;
  return found->second.packed;
}

bool PackedWeights::contains(const torch::Tensor& W) const {
  return flat_.defined() && W.is_alias_of(flat_);
}

torch::Tensor PackedWeights::as_bf16(const torch::Tensor& W) const {
  if (!flat_in_bf16_.defined() || !contains(W)) return W.to(torch::kBFloat16);
  return flat_in_bf16_.as_strided(W.sizes(), W.strides(), W.storage_offset());
}

const torch::Tensor& PackedWeights::get_or_convert(const torch::Tensor& W) {
  const Key key = {W.const_data_ptr(), W.numel(), W.size(-1), W.stride(-2), W.stride(-1)};
  const std::scoped_lock lock(mutex_);
  auto found = converted_.find(key);
  if (found == converted_.end()) {
    found = converted_.emplace(key, std::pair(W.detach(), W.detach().to(torch::kBFloat16))).first;
  }
  return found->second.second;
}

void PackedWeights::repack_all(ThreadPool& pool) {
  if (flat_in_bf16_.defined()) flat_in_bf16_.copy_(flat_);
  const auto is_used = [](const auto& entry) { return entry.second.is_used; };
  if (std::ranges::any_of(entries_, is_used)) std::erase_if(entries_, std::not_fn(is_used));
  std::vector<Entry*> entries;
  for (auto& [key, entry] : entries_) entries.push_back(&entry);
  // Largest first, so that all threads end at about the same time.
  std::ranges::sort(entries, std::greater(), [](const Entry* entry) { return entry->W.numel(); });
  parallel_for(pool, entries.size(), [&](std::size_t i) {
    entries[i]->packed.repack(entries[i]->W);
    entries[i]->is_used = false;
  });
}

torch::Tensor bf16_reference_product(const torch::Tensor& x, const torch::Tensor& W) {
  const auto a = x.to(torch::kBFloat16), b = W.to(torch::kBFloat16);
  const bool is_one = a.dim() == 2;
  if (!a.is_cpu()) return is_one ? at::mm(a, b, torch::kFloat) : at::bmm(a, b, torch::kFloat);
  // LibTorch has no product of bf16 into single precision on the CPU.
  return a.to(torch::kFloat).matmul(b.to(torch::kFloat));
}

namespace {

using torch::Tensor;

class Bf16Product : public torch::autograd::Function<Bf16Product> {
 public:
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x,
                        const Tensor& W) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const auto a = x.to(torch::kBFloat16);
    auto* weights = training_weights();
    const auto b =
        weights != nullptr ? weights->as_bf16(W) : device_search_weights()->get_or_convert(W);
    context->save_for_backward({a, b});
    return bf16_reference_product(a, b);
  }

  // The gradient of a transposed weight has the memory layout of the weight.
  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                               const torch::autograd::tensor_list& gradients) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    const auto saved = context->get_saved_variables();
    const auto &a = saved[0], &b = saved[1];
    const auto d_y = gradients[0].to(torch::kBFloat16);
    torch::autograd::tensor_list d(2);
    if (context->needs_input_grad(0)) d[0] = bf16_reference_product(d_y, b.transpose(-1, -2));
    if (context->needs_input_grad(1)) {
      d[1] = b.stride(-2) == 1 ? bf16_reference_product(d_y.transpose(-1, -2), a).transpose(-1, -2)
                               : bf16_reference_product(a.transpose(-1, -2), d_y);
    }
    return d;
  }
};

}  // namespace

torch::Tensor bf16_product(const torch::Tensor& x, const torch::Tensor& W) {
  if (W.dim() == 3) return Bf16Product::apply(x, W);
  auto shape = x.sizes().vec();
  shape.back() = W.size(1);
  return Bf16Product::apply(x.reshape({-1, x.size(-1)}), W).view(shape);
}

torch::Tensor matrix_product(const torch::Tensor& a, const torch::Tensor& b) {
  if (has_bf16_reference_products(a) || a.scalar_type() == torch::kBFloat16) {
    const auto* weights = training_weights();
    return bf16_reference_product(a, weights != nullptr ? weights->as_bf16(b) : b);
  }
  if (training_weights_for(a) == nullptr) return a.mm(b);
  auto y = torch::empty({a.size(0), b.size(1)}, a.options());
  matrix_product_into(y, a, b);
  return y;
}

void matrix_product_into(const torch::Tensor& y, const torch::Tensor& a, const torch::Tensor& b,
                         bool add) {
  if (const auto* weights = training_weights_for(a)) {
    PackedMatrix(b, weights->precision()).multiply(a, y, add);
  } else if (add) {
    y.addmm_(a, b);
  } else {
    auto result = y;
    torch::mm_out(result, a, b);
  }
}

void linear_into(const torch::Tensor& y, const torch::Tensor& x, const torch::Tensor& W,
                 const torch::Tensor& b) {
  auto* weights = training_weights_for(x);
  if (weights == nullptr) {
    auto result = y;
    if (b.defined()) {
      torch::addmm_out(result, b, x, W);
    } else {
      torch::mm_out(result, x, W);
    }
  } else if (weights->contains(W)) {
    weights->get_or_pack(W).multiply_with_bias(x, b, y);
  } else {
    PackedMatrix(W, weights->precision()).multiply_with_bias(x, b, y);
  }
}

}  // namespace regard::kernels
