// Untrusted weights: checkpoint/safetensors.h.
#include "checkpoint/safetensors.h"

#include "tests/fuzz/target.h"

namespace regard {
namespace {

std::string encode(const NamedTensors& tensors) {
  std::string bytes;
  encode_safetensors(tensors, [&](std::string_view part) { bytes += part; });
  return bytes;
}

}  // namespace
}  // namespace regard

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace regard;
  const auto path = fuzz::scratch() / "model.safetensors";
  put_bytes(path, fuzz::as_text(data, size));
  TensorMetadata metadata;
  NamedTensors tensors;
  if (!fuzz::succeeds([&] { tensors = read_safetensors(path, &metadata); })) return 0;

  const auto once = encode(tensors);
  put_bytes(path, once);
  fuzz::check(encode(read_safetensors(path)) == once, "written output reads back the same");
  put_bytes(path, encode_safetensors_header({}, metadata));
  TensorMetadata metadata_again;
  read_safetensors(path, &metadata_again);
  fuzz::check(metadata_again == metadata, "written metadata reads back the same");
  return 0;
}
