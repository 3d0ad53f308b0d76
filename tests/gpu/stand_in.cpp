// A GPU for machines that have none. Loaded before the program, it gives LibTorch one device,
// cuda:0, that is as strict as a real one: its memory cannot be touched by the program, but only
// copied from and to, and its operations refuse tensors that lie elsewhere. What they compute is
// the CPU's, on copies.
//
// It counts operations, which a GPU would launch, and synchronisations, at which a program would
// wait for the GPU. At its end, a process adds its counts to the file that REGARD_GPU_COUNTS names:
// one line for each kind, with name and number.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/native/RNN.h>
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
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <string>

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
  void add_synchronisation(const std::string& name) { add("synchronisation " + name); }

 private:
  void add(const std::string& name) {
    if (!Inside::is_outermost()) return;
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

void release(void* block) {
  const auto* given = static_cast<Block*>(block);
  munmap(given->begin, given->size);
  delete given;
}

class Memory : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t size) override {
    if (size == 0) return {nullptr, nullptr, &release_nothing, gpu};
    auto* begin = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED) throw std::bad_alloc();
    return {begin, new Block{begin, size}, &release, gpu};
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
  if (on_cpu.is_cpu() && !(non_blocking && is_pinned(on_cpu.storage().data()))) {
    counts.add_synchronisation("aten::copy_");
  }
  static std::mutex one_at_a_time;  // a block that two copies have opened must not be closed by one
  const std::lock_guard lock(one_at_a_time);
  Opened target(to);
  Opened source(from);
  target.seen().copy_(source.seen());
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

void compute(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  const Inside inside;
  count(operation, *stack);
  reject_other_devices(operation, *stack);
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
}

void foreach_add(at::TensorList to, at::TensorList from, const at::Scalar& factor) {
  const Inside inside;
  counts.add_operation("aten::_foreach_add_");
  for (std::size_t i = 0; i < to.size(); ++i) to[i].add_(from[i], factor);
}

void foreach_multiply(at::TensorList to, const at::Tensor& factor) {
  const Inside inside;
  counts.add_operation("aten::_foreach_mul_");
  for (const auto& tensor : to) tensor.mul_(factor);
}

// In place, which is a copy more with the default for devices without an operation of their own.
at::Tensor& add_products(at::Tensor& sum, const at::Tensor& a, const at::Tensor& b,
                         const at::Scalar& beta, const at::Scalar& alpha) {
  const Inside inside;
  counts.add_operation("aten::baddbmm_");
  const auto result = at::baddbmm(sum.cpu(), a.cpu(), b.cpu(), beta, alpha);
  return sum.copy_(result);
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
    return run_recurrent(is_lstm, on_cpu(inputs)).to(gpu);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const Inside inside;
    counts.add_operation("aten::_cudnn_rnn_backward");
    auto inputs = on_cpu(context->get_saved_variables());
    for (auto& input : inputs) input = input.detach().requires_grad_();
    at::Tensor output;
    {
      const at::AutoGradMode enabled(true);
      output = run_recurrent(context->saved_data["is_lstm"].toBool(), inputs);
    }
    auto all = torch::autograd::grad({output}, inputs, {gradients[0].cpu()});
    for (auto& gradient : all) gradient = gradient.to(gpu);
    all.emplace_back();  // of is_lstm
    return all;
  }

 private:
  static std::vector<at::Tensor> on_cpu(at::TensorList tensors) {
    std::vector<at::Tensor> copies;
    for (const auto& tensor : tensors) copies.push_back(tensor.cpu());
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

std::int64_t plain_attention(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                             const std::optional<at::Tensor>&, double, bool, std::optional<double>,
                             bool) {
  return 0;  // of LibTorch's kernels, the one that is made of others
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
  library.impl("_fused_sdp_choice", &plain_attention);
  library.impl("baddbmm_", &add_products);
  library.impl("_foreach_copy_", &foreach_copy);
  library.impl("_foreach_add_.List", &foreach_add);
  library.impl("_foreach_mul_.Tensor", &foreach_multiply);
}

TORCH_LIBRARY_IMPL(_, CUDA, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&compute>());
}

// The device

struct Guard : c10::impl::NoOpDeviceGuardImpl<c10::kCUDA> {
  c10::Device exchangeDevice(c10::Device) const override { return gpu; }
  c10::Device getDevice() const override { return gpu; }
  c10::Stream getStream(c10::Device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, gpu);
  }
  c10::Stream getNewStream(c10::Device, int) const override { return getStream(gpu); }
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
}
