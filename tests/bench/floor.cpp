#include "tests/bench/floor.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>
#include <torch/utils.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "kernels/packed_weights.h"
#include "tests/bench/timing.h"

namespace regard {
namespace {

using kernels::Precision;
using torch::Tensor;

struct Candidate {
  std::string library;
  std::function<void()> run;
};

std::vector<Candidate> candidates(const Tensor& a, const Tensor& b, Precision precision) {
  std::vector<Candidate> all;
  const auto y = torch::empty({a.size(0), b.size(1)});
  const auto add_own = [&](Precision p) {
    all.push_back({"regard", [=, packed = std::make_shared<kernels::PackedMatrix>(b, p)] {
                     packed->multiply(a, y);
                   }});
  };
  const auto add_libraries = [&](const Tensor& left, const Tensor& right) {
    const auto result = y.to(left.scalar_type());
    all.push_back({"LibTorch", [=] {
                     auto into = result;
                     at::mm_out(into, left, right);
                   }});
    if (auto run = one_dnn_product(left, right)) all.push_back({"oneDNN", std::move(run)});
  };
  add_own(Precision::full);
  add_libraries(a, b);
  if (precision == Precision::bf16) {
    add_own(precision);
    add_libraries(a.to(torch::kBFloat16), b.to(torch::kBFloat16));
  }
  return all;
}

// The products seen by the callback of record_products(), which can have no state of its own.
struct RecordedProducts {
  std::mutex mutex;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int64_t> counts;

  void add(std::int64_t M, std::int64_t K, std::int64_t N, std::int64_t times = 1) {
    const std::scoped_lock lock(mutex);
    counts[{M, K, N}] += times;
  }
};
RecordedProducts recorded;

std::unique_ptr<at::ObserverContext> record(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  const auto arguments = function.inputs();
  const auto sizes = [&](std::size_t i) { return arguments[i].toTensor().sizes(); };
  if (name == "regard::product" || name == "aten::mm") {
    recorded.add(sizes(0)[0], sizes(0)[1], sizes(1)[1]);
  } else if (name == "aten::addmm" || name == "aten::addmm_") {
    recorded.add(sizes(1)[0], sizes(1)[1], sizes(2)[1]);
  } else if (name == "aten::bmm") {
    recorded.add(sizes(0)[1], sizes(0)[2], sizes(1)[2], sizes(0)[0]);
  } else if (name == "aten::baddbmm" || name == "aten::baddbmm_") {
    recorded.add(sizes(1)[1], sizes(1)[2], sizes(2)[2], sizes(1)[0]);
  }
  return nullptr;
}

}  // namespace

std::function<void()> one_dnn_product(const Tensor& a, const Tensor& b) {
  auto& dispatcher = c10::Dispatcher::singleton();
  const auto reorder = dispatcher.findSchema({"mkldnn::_reorder_linear_weight", ""});
  const auto linear = dispatcher.findSchema({"mkldnn::_linear_pointwise", ""});
  if (!reorder || !linear) return nullptr;
  try {
    torch::jit::Stack stack = {b.t().contiguous(), a.size(0)};
    reorder->callBoxed(stack);
    const auto packed = stack.at(0).toTensor();
    auto run = [linear = *linear, packed, a = a.contiguous()] {
      c10::List<std::optional<at::Scalar>> none;
      torch::jit::Stack arguments = {a, packed, c10::IValue(), "none", none, ""};
      linear.callBoxed(arguments);
    };
    run();
    return run;
  } catch (const std::exception&) {
    return nullptr;
  }
}

std::vector<ProductShape> record_products(const std::function<void()>& step) {
  recorded.counts.clear();
  const auto handle = at::addGlobalCallback(
      at::RecordFunctionCallback(record).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  step();
  at::removeCallback(handle);
  std::vector<ProductShape> products;
  for (const auto& [shape, times] : recorded.counts) {
    const auto [M, K, N] = shape;
    products.push_back({M, K, N, times});
  }
  return products;
}

std::function<void()> Floor::fastest(const Tensor& a, const Tensor& b, double times) {
  std::optional<Candidate> best;
  double least = 0;
  for (auto& candidate : candidates(a, b, precision_)) {
    candidate.run();
    double time = seconds(candidate.run);
    for (int i = 0; i < 4; ++i) time = std::min(time, seconds(candidate.run));
    if (best && time >= least) continue;
    best = std::move(candidate);
    least = time;
  }
  by_library_[best->library] += 2 * times * static_cast<double>(a.numel() * b.size(1));
  return best->run;
}

Floor::Floor(const ModelOptions& options, const BatchShape& shape, Precision precision)
    : precision_(precision) {
  const torch::NoGradGuard guard;
  const auto [B, S, T, V] = shape;
  const auto E = options.encoder.embedding_dim;
  const auto D_enc = options.encoder.hidden_size;
  const auto C = 2 * D_enc;
  const auto D = options.decoder.hidden_size;
  const auto A = options.attention.size;
  const auto R = options.decoder.readout_size;
  for (int direction = 0; direction < 2; ++direction) {
    add(StepPart::encoder, S * B, E, 3 * D_enc);
    add(StepPart::encoder, B, D_enc, 3 * D_enc, S);
  }
  add(StepPart::encoder, S * B, C, A);      // keys
  add(StepPart::encoder, S * B, C, 3 * D);  // the states, as they enter the gates
  add(StepPart::encoder, S * B, C, R);      // and the read-out
  add(StepPart::decoder, B, C, D);          // the first state
  add(StepPart::decoder, T * B, options.decoder.embedding_dim, 3 * D);
  add(StepPart::decoder, B, D, A, T);      // queries
  add(StepPart::decoder, B, D, 3 * D, T);  // the recurrence
  add(StepPart::decoder, T * B, options.decoder.embedding_dim, R);
  add(StepPart::decoder, T * B, D, R);
  add(StepPart::output, T * B, R, V);
}

Floor::Floor(const std::vector<ProductShape>& products, Precision precision)
    : precision_(precision) {
  const torch::NoGradGuard guard;
  for (const auto& [M, K, N, times] : products) {
    const auto n = static_cast<double>(times);
    products_.push_back({StepPart::output, fastest(torch::randn({M, K}), torch::randn({K, N}), n),
                         /*backward_x=*/nullptr, /*backward_w=*/nullptr, times});
    operations_ += 2 * n * static_cast<double>(M * K) * static_cast<double>(N);
  }
}

void Floor::add(StepPart part, std::int64_t rows, std::int64_t in, std::int64_t out,
                std::int64_t times) {
  const auto all_x = torch::randn({times * rows, in});
  const auto all_y = torch::randn({times * rows, out});
  const auto w = torch::randn({in, out});
  const auto n = static_cast<double>(times);
  products_.push_back({part, fastest(all_x.narrow(0, 0, rows), w, n),
                       fastest(all_y.narrow(0, 0, rows), w.t(), n), fastest(all_x.t(), all_y, 1),
                       times});
  operations_ += 6.0 * static_cast<double>(rows * times) * static_cast<double>(in * out);
}

void Floor::run() {
  constexpr std::array parts = {StepPart::encoder, StepPart::decoder, StepPart::output};
  for (const auto part : parts) run_forward(part);
  for (const auto part : parts) run_backward(part);
}

void Floor::run_forward(StepPart part) {
  const torch::NoGradGuard guard;
  for (auto& p : products_) {
    if (p.part != part) continue;
    for (std::int64_t t = 0; t < p.times; ++t) p.forward();
  }
}

void Floor::run_backward(StepPart part) {
  const torch::NoGradGuard guard;
  for (auto& p : products_) {
    if (p.part != part || !p.backward_x) continue;
    for (std::int64_t t = 0; t < p.times; ++t) p.backward_x();
    p.backward_w();
  }
}

}  // namespace regard
