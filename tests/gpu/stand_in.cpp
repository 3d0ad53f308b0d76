// A GPU for machines that have none. Loaded before the program, it gives LibTorch one device,
// cuda:0, that is as strict as a real one: its memory cannot be touched by the program, but only
// copied from and to, and its operations refuse tensors that lie elsewhere. What they compute is
// the CPU's, on copies.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/EmptyTensor.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <sys/mman.h>
#include <torch/library.h>

#include <mutex>
#include <new>
#include <string>

namespace {

const c10::Device gpu(c10::kCUDA, 0);

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

at::Tensor& copy(at::Tensor& to, const at::Tensor& from, bool) {
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

void compute(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
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
  library.impl("_reshape_alias", &at::native::_reshape_alias);
  library.impl("unfold", &at::native::unfold);
  library.impl("_fused_sdp_choice", &plain_attention);
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
  int getNumGPUs() const override { return 1; }
  at::DeviceIndex deviceCount() const override { return 1; }
  at::DeviceIndex current_device() const override { return 0; }
  at::DeviceIndex getCurrentDevice() const override { return 0; }
  void setCurrentDevice(at::DeviceIndex) const override {}
  const at::Generator& getDefaultGenerator(at::DeviceIndex) const override {
    static const auto generator = at::detail::createCPUGenerator();
    return generator;
  }
};

}  // namespace

namespace at {
REGISTER_CUDA_HOOKS(CUDAHooks)
}
