// A GPU for machines that have none. Loaded before the program, it gives LibTorch one device,
// cuda:0, that is as strict as a real one: its memory cannot be touched by the program, but only
// copied from and to, and its operations refuse tensors that lie elsewhere. What they compute is
// the CPU's, on copies.
//
// It captures graphs, which repeat operations with the same memory, shapes and numbers. As on a
// GPU, a captured operation computes nothing, and one that waits or copies from the CPU cannot be
// captured.
//
// As on a GPU, products are in TF32 where LibTorch allows it, and sums at equal indices have no
// order.
//
// With REGARD_GPU_NO_GRAPH_MEMORY in its environment, it has no memory for graphs, with
// REGARD_GPU_BEFORE_AMPERE a compute capability below 8.
//
// It counts operations, which a GPU would launch, and synchronisations, at which a program would
// wait for the GPU. At its end, a process adds its counts to the file that REGARD_GPU_COUNTS names:
// one line for each kind, with name and number.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#if __has_include(<ATen/core/GraphImplInterface.h>)
#include <ATen/core/GraphImplInterface.h>
#endif
#include <ATen/EmptyTensor.h>
#include <ATen/SDPBackend.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/RNN.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <sys/mman.h>
#include <torch/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/loop_kernels.h"
#include "kernels/row_kernels.h"
#include "tests/cuda/run_on_cpu.h"

namespace {

const c10::Device gpu(c10::kCUDA, 0);

// Counts

// Lives while an operation computes. The operations that it is made of do not count.
class Inside {
 public:
  Inside() { ++depth_; }
  ~Inside() { --depth_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  static bool is_outermost() { return depth_ == 1; }

 private:
  static thread_local int depth_;
};
thread_local int Inside::depth_ = 0;

// The operations of the graph that is captured now, or null. All threads capture the same graph.
std::vector<std::function<void()>>* captured = nullptr;

// Refuses what cannot be captured, unless it is a part of an operation.
void refuse_capture(const std::string& name) {
  TORCH_CHECK(captured == nullptr || !Inside::is_outermost(),
              "operation not permitted when stream is capturing: ", name);
}

// Captures an operation that was just computed, to find the shape of its results.
void capture(std::function<void()> again) {
  if (captured != nullptr && Inside::is_outermost()) captured->push_back(std::move(again));
}

class Counts {
 public:
  ~Counts() {
    const char* path = std::getenv("REGARD_GPU_COUNTS");
    std::FILE* file = path != nullptr ? std::fopen(path, "a") : nullptr;
    if (file == nullptr) return;
    for (const auto& [name, number] : numbers_)
      std::fprintf(file, "%s %ld\n", name.c_str(), number);
    std::fclose(file);
  }

  void add_operation(const std::string& name) { add("operation " + name); }
  void add_synchronisation(const std::string& name) {
    refuse_capture(name);
    add("synchronisation " + name);
  }

 private:
  void add(const std::string& name) {
    if (!Inside::is_outermost() || captured != nullptr) return;
    const std::lock_guard lock(mutex_);
    ++numbers_[name];
  }

  std::mutex mutex_;
  std::map<std::string, long> numbers_;
};

Counts counts;

// Operations whose result has a size that the program must wait for.
const std::set<std::string> waiting = {
    "aten::_local_scalar_dense", "aten::nonzero",  "aten::masked_select", "aten::_unique2",
    "aten::repeat_interleave",   "aten::bincount", "aten::equal"};

// Memory

struct Block {
  void* begin;
  std::size_t size;
};

std::mutex blocks_mutex;
std::set<Block*> blocks;  // all that are allocated

void release(void* block) {
  auto* given = static_cast<Block*>(block);
  {
    const std::lock_guard lock(blocks_mutex);
    blocks.erase(given);
  }
  munmap(given->begin, given->size);
  delete given;
}

class Memory : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t size) override {
    if (size == 0) return {nullptr, nullptr, &release_nothing, gpu};
    TORCH_CHECK_WITH(OutOfMemoryError,
                     captured == nullptr || std::getenv("REGARD_GPU_NO_GRAPH_MEMORY") == nullptr,
                     "CUDA out of memory. Tried to allocate memory for a graph");
    auto* begin = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED) throw std::bad_alloc();
    auto* block = new Block{begin, size};
    const std::lock_guard lock(blocks_mutex);
    blocks.insert(block);
    return {begin, block, &release, gpu};
  }
  void copy_data(void*, const void*, std::size_t) const override { throw std::bad_alloc(); }

 private:
  static void release_nothing(void*) {}
};

Memory encoded;

// A tensor as the CPU sees it, while this lives: the same elements, not a copy.
class Opened {
 public:
  explicit Opened(const at::Tensor& tensor) : seen_(tensor) {
    if (tensor.is_cpu()) return;
    if (const auto& bytes = tensor.storage(); bytes.nbytes() > 0) {
      block_ = {bytes.mutable_data(), bytes.nbytes()};
      mprotect(block_.begin, block_.size, PROT_READ | PROT_WRITE);
    }
    seen_ = at::from_blob(tensor.mutable_data_ptr(), tensor.sizes(), tensor.strides(),
                          tensor.options().device(c10::kCPU));
    seen_._set_conj(tensor.is_conj());
  }
  ~Opened() {
    if (block_.size > 0) mprotect(block_.begin, block_.size, PROT_NONE);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  at::Tensor& seen() { return seen_; }

 private:
  at::Tensor seen_;
  Block block_ = {nullptr, 0};
};

std::mutex one_at_a_time;  // a block that two copies have opened must not be closed by one

// Returns a copy, which does not count as one.
at::Tensor copy_on_cpu(const at::Tensor& tensor) {
  const std::lock_guard lock(one_at_a_time);
  return Opened(tensor).seen().clone();
}

// Memory of the CPU that copies to the GPU may read while the program goes on.
std::mutex pinned_mutex;
std::map<const void*, std::size_t> pinned;

bool is_pinned(const void* data) {
  const std::lock_guard lock(pinned_mutex);
  auto block = pinned.upper_bound(data);
  if (block == pinned.begin()) return false;
  --block;
  return static_cast<const char*>(data) <=
         static_cast<const char*>(block->first) + std::max<std::size_t>(block->second, 1) - 1;
}

class PinnedMemory : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t size) override {
    void* begin = std::malloc(std::max<std::size_t>(size, 1));
    if (begin == nullptr) throw std::bad_alloc();
    const std::lock_guard lock(pinned_mutex);
    pinned[begin] = size;
    return {begin, begin, &free_pinned, c10::kCPU};
  }
  void copy_data(void* to, const void* from, std::size_t size) const override {
    default_copy_data(to, from, size);
  }

 private:
  static void free_pinned(void* begin) {
    {
      const std::lock_guard lock(pinned_mutex);
      pinned.erase(begin);
    }
    std::free(begin);
  }
};

PinnedMemory pinned_memory;

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> type,
                 std::optional<at::Layout>, std::optional<at::Device>, std::optional<bool>,
                 std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(size, &encoded, c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                   c10::dtype_or_default(type), format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride,
                         std::optional<at::ScalarType> type, std::optional<at::Layout>,
                         std::optional<at::Device>, std::optional<bool>) {
  return at::detail::empty_strided_generic(size, stride, &encoded,
                                           c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                           c10::dtype_or_default(type));
}

at::Tensor& copy(at::Tensor& to, const at::Tensor& from, bool non_blocking) {
  const Inside inside;
  counts.add_operation("aten::copy_");
  const auto& on_cpu = to.is_cpu() ? to : from;
  if (on_cpu.is_cpu()) refuse_capture("a copy of the CPU's memory");
  if (on_cpu.is_cpu() && !(non_blocking && is_pinned(on_cpu.storage().data()))) {
    counts.add_synchronisation("aten::copy_");
  }
  const auto run = [to, from] {
    Opened target(to);
    Opened source(from);
    target.seen().copy_(source.seen());
  };
  run();
  capture(run);
  return to;
}

const at::Tensor& resize(const at::Tensor& tensor, at::IntArrayRef size,
                         std::optional<at::MemoryFormat>) {
  auto& storage = const_cast<c10::Storage&>(tensor.storage());
  const auto bytes = static_cast<std::size_t>(c10::multiply_integers(size)) * tensor.itemsize();
  if (bytes > storage.nbytes()) {
    storage.set_data_ptr_noswap(encoded.allocate(bytes));
    storage.set_nbytes(bytes);
  }
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous(size);
  return tensor;
}

at::Tensor copy_from_and_resize(const at::Tensor& from, const at::Tensor& to) {
  if (to.sizes() != from.sizes()) to.resize_(from.sizes());
  return to.copy_(from);
}

// Operations

// CUDA takes numbers without dimensions from anywhere, and indices (in lists) from the CPU.
void reject_other_devices(const c10::OperatorHandle& operation, const torch::jit::Stack& stack) {
  const auto& arguments = operation.schema().arguments();
  const auto reject = [&](const at::Tensor& tensor, const std::string& name) {
    TORCH_CHECK(!tensor.defined() || tensor.device() == gpu || tensor.dim() == 0,
                "Expected all tensors to be on the same device: ", operation.schema().name(),
                " got ", name, " on ", tensor.device());
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& value = stack[stack.size() - arguments.size() + i];
    if (value.isTensor()) reject(value.toTensor(), arguments[i].name());
    if (!value.isTensorList()) continue;
    for (const auto& tensor : value.toTensorVector()) reject(tensor, arguments[i].name());
  }
}

// Counts an operation. An index by a mask waits for the number of elements that are true.
void count(const c10::OperatorHandle& operation, const torch::jit::Stack& stack) {
  const auto& name = operation.schema().name();
  if (name != "aten::_local_scalar_dense") counts.add_operation(name);
  bool waits = waiting.contains(name);
  if (name == "aten::index" || name == "aten::index_put_" || name == "aten::_index_put_impl_") {
    const auto& arguments = operation.schema().arguments();
    for (const auto& index : stack[stack.size() - arguments.size() + 1].toListRef()) {
      waits = waits || (index.isTensor() && index.toTensor().defined() &&
                        index.toTensor().scalar_type() == at::kBool);
    }
  }
  if (waits) counts.add_synchronisation(name);
}

// Copies the results of an operation that was repeated to where those of the first time are.
void put(const c10::IValue& first, const c10::IValue& again) {
  if (first.isTensor()) {
    const auto &to = first.toTensor(), &from = again.toTensor();
    if (to.defined() && !to.is_same(from)) to.copy_(from);
  } else if (first.isTensorList()) {
    for (std::size_t i = 0; i < first.toTensorVector().size(); ++i) {
      put(first.toTensorVector()[i], again.toTensorVector()[i]);
    }
  }
}

void compute_and_move(const c10::OperatorHandle& operation, torch::jit::Stack* stack);

void compute(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  const Inside inside;
  count(operation, *stack);
  reject_other_devices(operation, *stack);
  if (captured == nullptr) return compute_and_move(operation, stack);
  const auto arguments = torch::jit::last(*stack, operation.schema().arguments().size()).vec();
  compute_and_move(operation, stack);
  const auto results = torch::jit::last(*stack, operation.schema().returns().size()).vec();
  capture([operation, arguments, results] {
    auto again = arguments;
    compute_and_move(operation, &again);
    for (std::size_t i = 0; i < results.size(); ++i) put(results[i], again[i]);
  });
}

// Rounds factors to the 10 bits of TF32 where LibTorch allows it.
at::Tensor as_tf32(const at::Tensor& factor) {
  if (factor.scalar_type() != at::kFloat || !at::globalContext().allowTF32CuBLAS()) return factor;
  const auto rounded = copy_on_cpu(factor).contiguous().clone();
  auto bits = rounded.view(at::kInt);
  bits.add_(0x1000).bitwise_and_(~0x1FFF);
  return rounded.to(gpu);
}

// The numbers of the arguments of an operation that are factors of a product of cuBLAS.
std::pair<std::size_t, std::size_t> factors_of(const std::string& name) {
  if (name == "aten::mm" || name == "aten::bmm") return {0, 1};
  if (name == "aten::addmm" || name == "aten::baddbmm") return {1, 2};
  return {0, 0};
}

// Changes arguments such that the operation of the CPU computes like a GPU: products in TF32, and
// sums at equal indices in an order that nobody knows, another one each time.
void be_like_a_gpu(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  const auto& name = operation.schema().name();
  const auto argument = [&](std::size_t i) -> c10::IValue& {
    return (*stack)[stack->size() - operation.schema().arguments().size() + i];
  };
  if (const auto [a, b] = factors_of(name); a != b) {
    for (const auto i : {a, b}) argument(i) = as_tf32(argument(i).toTensor());
  }
  const std::string plain = name.ends_with('_') ? name.substr(0, name.size() - 1) : name;
  if (plain != "aten::scatter_add" && plain != "aten::index_add") return;
  const auto dim = argument(1).toInt();
  const auto index = copy_on_cpu(argument(2).toTensor());
  const auto along = index.dim() == 1 && plain == "aten::index_add" ? 0 : dim;
  std::vector<std::int64_t> order(static_cast<std::size_t>(index.size(along)));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(std::random_device()()));
  const auto shuffled = at::tensor(order);
  argument(2) = index.index_select(along, shuffled).to(gpu);
  argument(3) = copy_on_cpu(argument(3).toTensor()).index_select(dim, shuffled).to(gpu);
}

void compute_and_move(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  be_like_a_gpu(operation, stack);
  at::native::cpu_fallback(operation, stack);
  // The fallback puts results where the first tensor was, which may be a number of the CPU's.
  const auto results = operation.schema().returns().size();
  for (auto i = stack->size() - results; i < stack->size(); ++i) {
    auto& value = (*stack)[i];
    if (value.isTensor() && value.toTensor().defined() && value.toTensor().is_cpu()) {
      value = value.toTensor().to(gpu);
    }
  }
}

// Operations of lists, which are loops over other operations on the CPU.

void foreach_copy(at::TensorList to, at::TensorList from, bool) {
  const Inside inside;
  counts.add_operation("aten::_foreach_copy_");
  for (std::size_t i = 0; i < to.size(); ++i) to[i].copy_(from[i]);
  capture([to = to.vec(), from = from.vec()] { foreach_copy(to, from, false); });
}

void foreach_add(at::TensorList to, at::TensorList from, const at::Scalar& factor) {
  const Inside inside;
  counts.add_operation("aten::_foreach_add_");
  for (std::size_t i = 0; i < to.size(); ++i) to[i].add_(from[i], factor);
  capture([to = to.vec(), from = from.vec(), factor] { foreach_add(to, from, factor); });
}

void foreach_multiply(at::TensorList to, const at::Tensor& factor) {
  const Inside inside;
  counts.add_operation("aten::_foreach_mul_");
  for (const auto& tensor : to) tensor.mul_(factor);
  capture([to = to.vec(), factor] { foreach_multiply(to, factor); });
}

// In place, which is a copy more with the default for devices without an operation of their own.
at::Tensor& add_products(at::Tensor& sum, const at::Tensor& a, const at::Tensor& b,
                         const at::Scalar& beta, const at::Scalar& alpha) {
  const Inside inside;
  counts.add_operation("aten::baddbmm_");
  const auto run = [sum, a, b, beta, alpha] {
    const std::lock_guard lock(one_at_a_time);
    Opened to(sum), left(a), right(b);
    to.seen().baddbmm_(left.seen(), right.seen(), beta, alpha);
  };
  run();
  capture(run);
  return sum;
}

// Products of factors in bf16 with a result in single precision, which the CPU does not have.
at::Tensor wide_product(const at::Tensor& a, const at::Tensor& b, at::ScalarType type) {
  const Inside inside;
  counts.add_operation("aten::mm.dtype");
  const auto compute = [a, b, type] {
    return copy_on_cpu(a).to(type).matmul(copy_on_cpu(b).to(type));
  };
  const auto result = compute().to(gpu);
  capture([compute, result] { result.copy_(compute()); });
  return result;
}

// The recurrent networks of cuDNN: one operation forward, one backward, which computes anew.

// Runs gru or lstm on the CPU: inputs x, h, (c,) weights … -> output.
at::Tensor run_recurrent(bool is_lstm, const std::vector<at::Tensor>& inputs) {
  const auto states = is_lstm ? 2 : 1;
  const std::vector<at::Tensor> first(inputs.begin() + 1, inputs.begin() + 1 + states);
  const std::vector<at::Tensor> weights(inputs.begin() + 1 + states, inputs.end());
  if (is_lstm) {
    return std::get<0>(at::lstm(inputs[0], first, weights, true, 1, 0, true, false, false));
  }
  return std::get<0>(at::gru(inputs[0], first[0], weights, true, 1, 0, true, false, false));
}

class RecurrentFunction : public torch::autograd::Function<RecurrentFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, at::TensorList inputs,
                            bool is_lstm) {
    const Inside inside;
    counts.add_operation("aten::_cudnn_rnn");
    context->save_for_backward(inputs.vec());
    context->saved_data["is_lstm"] = is_lstm;
    const auto output = run_recurrent(is_lstm, on_cpu(inputs)).to(gpu);
    capture([inputs = inputs.vec(), is_lstm, output] {
      const at::NoGradGuard guard;
      output.copy_(run_recurrent(is_lstm, on_cpu(inputs)));
    });
    return output;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const Inside inside;
    counts.add_operation("aten::_cudnn_rnn_backward");
    const auto compute = [inputs = context->get_saved_variables(), d_output = gradients[0],
                          is_lstm = context->saved_data["is_lstm"].toBool()] {
      auto copies = on_cpu(inputs);
      for (auto& input : copies) input = input.detach().requires_grad_();
      at::Tensor output;
      {
        const at::AutoGradMode enabled(true);
        output = run_recurrent(is_lstm, copies);
      }
      auto all = torch::autograd::grad({output}, copies, {copy_on_cpu(d_output)});
      for (auto& gradient : all) gradient = gradient.to(gpu);
      return all;
    };
    auto all = compute();
    capture([compute, results = all] {
      const auto again = compute();
      for (std::size_t i = 0; i < results.size(); ++i) results[i].copy_(again[i]);
    });
    all.emplace_back();  // of is_lstm
    return all;
  }

 private:
  static std::vector<at::Tensor> on_cpu(at::TensorList tensors) {
    std::vector<at::Tensor> copies;
    for (const auto& tensor : tensors) copies.push_back(copy_on_cpu(tensor));
    return copies;
  }
};

at::Tensor run_cudnn(bool is_lstm, const at::Tensor& input, at::TensorList first,
                     at::TensorList weights, std::int64_t layers, bool bidirectional) {
  TORCH_CHECK(layers == 1 && !bidirectional, "the stand-in runs one layer and one direction");
  const auto* block = weights[0].storage().unsafeGetStorageImpl();
  for (const auto& weight : weights) {
    TORCH_CHECK(weight.storage().unsafeGetStorageImpl() == block, "weights in several pieces");
  }
  std::vector<at::Tensor> inputs = {input};
  inputs.insert(inputs.end(), first.begin(), first.end());
  inputs.insert(inputs.end(), weights.begin(), weights.end());
  return RecurrentFunction::apply(at::TensorList(inputs), is_lstm);
}

void run_gru(at::Tensor& output, at::Tensor&, const at::Tensor& input, const at::Tensor& first,
             at::TensorList weights, bool, std::int64_t layers, double, bool, bool bidirectional,
             bool) {
  output = run_cudnn(false, input, {first}, weights, layers, bidirectional);
}

void run_lstm(at::Tensor& output, at::Tensor&, at::Tensor&, const at::Tensor& input,
              at::TensorList first, at::TensorList weights, bool, std::int64_t layers, double, bool,
              bool bidirectional, bool) {
  output = run_cudnn(true, input, first, weights, layers, bidirectional);
}

const bool has_cudnn = [] {
  at::native::gru_cudnn_stub.set_cuda_dispatch_ptr(&run_gru);
  at::native::lstm_cudnn_stub.set_cuda_dispatch_ptr(&run_lstm);
  return true;
}();

// The attention that LibTorch has for single precision ("memory-efficient"): one operation forward,
// one backward, which computes the weights anew.

std::int64_t attention_kernel(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                              const std::optional<at::Tensor>&, double, bool, std::optional<double>,
                              bool) {
  return static_cast<std::int64_t>(at::SDPBackend::efficient_attention);
}

const bool has_attention = [] {
  at::native::_fused_sdp_choice_stub.set_cuda_dispatch_ptr(&attention_kernel);
  return true;
}();

// The arguments of the attention on the CPU, and its weights.
struct AttentionOnCpu {
  at::Tensor q, k, v, scores, weights;
  double scale;

  AttentionOnCpu(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                 const std::optional<at::Tensor>& bias, bool is_causal)
      : q(copy_on_cpu(query)),
        k(copy_on_cpu(key)),
        v(copy_on_cpu(value)),
        scale(1 / std::sqrt(static_cast<double>(q.size(3)))) {
    scores = q.matmul(k.transpose(2, 3)).mul_(scale);  // [B, H, T, S]
    if (bias && bias->defined()) scores.add_(copy_on_cpu(*bias));
    const auto later = at::ones({q.size(2), k.size(2)}, at::kBool).triu(1);
    if (is_causal) scores.masked_fill_(later, -std::numeric_limits<double>::infinity());
    weights = scores.softmax(-1);
  }
};

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> attend(
    const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const std::optional<at::Tensor>& bias, bool, double, bool is_causal, std::optional<double>) {
  const Inside inside;
  counts.add_operation("aten::_scaled_dot_product_efficient_attention");
  TORCH_CHECK(!bias || !bias->defined() || bias->stride(-2) % 8 == 0, "the bias is not aligned");
  const auto compute = [q, k, v, bias, is_causal] {
    const AttentionOnCpu of(q, k, v, bias, is_causal);
    return std::pair(of.weights.matmul(of.v).transpose(1, 2).contiguous(), of.scores.logsumexp(-1));
  };
  const auto [y, sums] = compute();
  const auto result = y.to(gpu), log_sums = sums.to(gpu);
  capture([compute, result, log_sums] {
    const auto [again, sums_again] = compute();
    result.copy_(again);
    log_sums.copy_(sums_again);
  });
  const auto none = at::empty({}, at::kLong);
  return {result.transpose(1, 2), log_sums, none, none};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> attend_backward(
    const at::Tensor& d_y, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
    const at::Tensor& bias, const at::Tensor&, const at::Tensor&, const at::Tensor&,
    const at::Tensor&, double, std::array<bool, 4>, bool is_causal, std::optional<double>) {
  const Inside inside;
  counts.add_operation("aten::_scaled_dot_product_efficient_attention_backward");
  const auto compute = [d_y, q, k, v, bias, is_causal] {
    const AttentionOnCpu of(q, k, v, bias, is_causal);
    const auto d = copy_on_cpu(d_y);
    const auto d_weights = d.matmul(of.v.transpose(2, 3));
    const auto mean = (d_weights * of.weights).sum(-1, /*keepdim=*/true);
    const auto d_scores = of.weights * (d_weights - mean) * of.scale;
    return std::array{d_scores.matmul(of.k), d_scores.transpose(2, 3).matmul(of.q),
                      of.weights.transpose(2, 3).matmul(d)};
  };
  auto results = compute();
  for (auto& gradient : results) gradient = gradient.to(gpu);
  capture([compute, results] {
    const auto again = compute();
    for (std::size_t i = 0; i < results.size(); ++i) results[i].copy_(again[i]);
  });
  return {results[0], results[1], results[2], at::Tensor()};
}

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("empty.memory_format", &empty);
  library.impl("empty_strided", &empty_strided);
  library.impl("copy_", &copy);
  library.impl("resize_", &resize);
  library.impl("_copy_from_and_resize", &copy_from_and_resize);
  library.impl("as_strided", &at::native::as_strided_tensorimpl);
  library.impl("view", &at::native::view);
  library.impl("view_as_complex", &at::native::view_as_complex);
  library.impl("_reshape_alias", &at::native::_reshape_alias);
  library.impl("unfold", &at::native::unfold);
  library.impl("_scaled_dot_product_efficient_attention", &attend);
  library.impl("_scaled_dot_product_efficient_attention_backward", &attend_backward);
  // Without these, LibTorch makes them of other operations, as on devices that lack them.
  for (const char* name : {"native_layer_norm", "native_layer_norm_backward"}) {
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&compute>());
  }
  library.impl("baddbmm_", &add_products);
  library.impl("mm.dtype", &wide_product);
  library.impl("bmm.dtype", &wide_product);
  library.impl("_foreach_copy_", &foreach_copy);
  library.impl("_foreach_add_.List", &foreach_add);
  library.impl("_foreach_mul_.Tensor", &foreach_multiply);
}

// The kernels of regard run on copies on the CPU, each phase with its threads in order.
struct OnCopies {
  template <typename Kernel>
  static void run(const at::Tensor&, std::int64_t blocks, const Kernel& kernel) {
    std::vector<int> order(Kernel::threads);
    std::iota(order.begin(), order.end(), 0);
    regard::cuda::run_on_cpu(blocks, kernel, order);
  }
};

TORCH_LIBRARY_IMPL(regard, CPU, library) {
  regard::kernels::LoopOperators<OnCopies>::register_in(library);
  regard::kernels::RowOperators<OnCopies>::register_in(library);
}

TORCH_LIBRARY_IMPL(_, CUDA, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&compute>());
}

// Graphs

#if __has_include(<ATen/core/GraphImplInterface.h>)
at::Generator random_numbers() {
  return at::detail::getDefaultCPUGenerator();  // operations take those of the CPU
}

class Graph : public at::GraphImplInterface {
 public:
  explicit Graph(const at::GraphImplArgs&) {}

  void capture_begin(c10::MempoolId_t, at::GraphCaptureMode) override {
    {
      const std::lock_guard lock(blocks_mutex);
      for (auto* block : blocks) before_[block] = contents(*block);
    }
    random_before_ = random_numbers().get_state();
    captured = &operations_;
  }
  // Restores the memory that the capture changed, and fills the memory that it allocated with NaN.
  void capture_end() override {
    captured = nullptr;
    random_numbers().set_state(random_before_);
    const std::lock_guard lock(blocks_mutex);
    for (auto* block : blocks) {
      const auto before = before_.find(block);
      mprotect(block->begin, block->size, PROT_READ | PROT_WRITE);
      if (before == before_.end()) {
        std::memset(block->begin, 0xff, block->size);  // NaN
      } else {
        std::memcpy(block->begin, before->second.data(), block->size);
      }
      mprotect(block->begin, block->size, PROT_NONE);
    }
    before_.clear();
  }
  void instantiate() override {}
  void replay() override {
    const Inside inside;
    counts.add_operation("graph");
    const at::NoGradGuard guard;
    for (const auto& operation : operations_) operation();
  }
  void reset() override { operations_.clear(); }
  c10::MempoolId_t pool() const override { return {0, 1}; }
  void enable_debug_mode() override {}
  void debug_dump(const std::string&) override {}

 private:
  static std::vector<char> contents(const Block& block) {
    mprotect(block.begin, block.size, PROT_READ);
    const auto* begin = static_cast<const char*>(block.begin);
    std::vector<char> copy(begin, begin + block.size);
    mprotect(block.begin, block.size, PROT_NONE);
    return copy;
  }

  std::vector<std::function<void()>> operations_;
  std::map<Block*, std::vector<char>> before_;
  at::Tensor random_before_;
};
#endif

// The device

struct Guard : c10::impl::NoOpDeviceGuardImpl<c10::kCUDA> {
  c10::Device exchangeDevice(c10::Device) const override { return gpu; }
  c10::Device getDevice() const override { return gpu; }
  c10::Stream getStream(c10::Device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, gpu);
  }
  c10::Stream getNewStream(c10::Device, int) const override { return getStream(gpu); }
  void synchronizeDevice(c10::DeviceIndex) const override {}
  c10::Stream exchangeStream(c10::Stream) const noexcept override { return getStream(gpu); }
  void record(void**, const c10::Stream&, c10::DeviceIndex, c10::EventFlag) const override {}
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
};

C10_REGISTER_GUARD_IMPL(CUDA, Guard);

struct CUDAHooks : at::CUDAHooksInterface {
  explicit CUDAHooks(at::CUDAHooksArgs) {}
  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasCUDA() const override { return true; }
  bool hasPrimaryContext(at::DeviceIndex) const override { return true; }
  bool compiledWithCuDNN() const override { return has_cudnn; }
  bool supportsBFloat16ConvolutionWithCuDNNv8() const override {
    return std::getenv("REGARD_GPU_BEFORE_AMPERE") == nullptr;
  }
  int getNumGPUs() const override { return 1; }
  at::DeviceIndex deviceCount() const override { return 1; }
  at::DeviceIndex current_device() const override { return 0; }
  at::DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(at::DeviceIndex) const override {}
  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
  at::Allocator* getPinnedMemoryAllocator() const override { return &pinned_memory; }
  const at::Generator& getDefaultGenerator(at::DeviceIndex) const override {
    static const auto generator = at::detail::createCPUGenerator();
    return generator;
  }
};

}  // namespace

namespace at {
REGISTER_CUDA_HOOKS(CUDAHooks)
#if __has_include(<ATen/core/GraphImplInterface.h>)
REGISTER_GRAPH_IMPL(CUDA, Graph)
#endif
}  // namespace at
