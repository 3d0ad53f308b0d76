#include "tests/bench/floor.h"

#include <torch/utils.h>

#include <array>

namespace regard {

Floor::Floor(const ModelOptions& options, const BatchShape& shape) {
  const auto [B, S, T, V] = shape;
  const auto E = options.encoder.embedding_dim;
  const auto D_enc = options.encoder.hidden_size;
  const auto C = 2 * D_enc;
  const auto D = options.decoder.hidden_size;
  const auto A = options.attention.size;
  const auto R = options.decoder.readout_size;
  for (int direction = 0; direction < 2; ++direction) {
    add(Part::encoder, S * B, E, 3 * D_enc);
    add(Part::encoder, B, D_enc, 3 * D_enc, S);
  }
  add(Part::encoder, S * B, C, A);      // keys
  add(Part::encoder, S * B, C, 3 * D);  // the states, as they enter the gates
  add(Part::encoder, S * B, C, R);      // and the read-out
  add(Part::decoder, B, C, D);          // the first state
  add(Part::decoder, T * B, options.decoder.embedding_dim, 3 * D);
  add(Part::decoder, B, D, A, T);      // queries
  add(Part::decoder, B, D, 3 * D, T);  // the recurrence
  add(Part::decoder, T * B, options.decoder.embedding_dim, R);
  add(Part::decoder, T * B, D, R);
  add(Part::output, T * B, R, V);
}

void Floor::add(Part part, std::int64_t rows, std::int64_t in, std::int64_t out,
                std::int64_t times) {
  Product p;
  p.part = part;
  p.times = times;
  p.all_x = torch::randn({times * rows, in});
  p.all_y = torch::randn({times * rows, out});
  p.x = p.all_x.narrow(0, 0, rows);
  p.y = p.all_y.narrow(0, 0, rows);
  p.w = torch::randn({in, out});
  p.d_x = torch::empty({rows, in});
  p.d_w = torch::empty({in, out});
  products_.push_back(p);
  operations_ += 6.0 * static_cast<double>(rows * times) * static_cast<double>(in * out);
}

void Floor::run() {
  constexpr std::array parts = {Part::encoder, Part::decoder, Part::output};
  for (const auto part : parts) run_forward(part);
  for (const auto part : parts) run_backward(part);
}

void Floor::run_forward(Part part) {
  const torch::NoGradGuard guard;
  for (auto& p : products_) {
    if (p.part != part) continue;
    for (std::int64_t t = 0; t < p.times; ++t) at::mm_out(p.y, p.x, p.w);
  }
}

void Floor::run_backward(Part part) {
  const torch::NoGradGuard guard;
  for (auto& p : products_) {
    if (p.part != part) continue;
    for (std::int64_t t = 0; t < p.times; ++t) at::mm_out(p.d_x, p.y, p.w.t());
    at::mm_out(p.d_w, p.all_x.t(), p.all_y);
  }
}

}  // namespace regard
