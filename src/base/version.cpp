#include "base/version.h"

#include <fmt/format.h>

#include <system_error>

#include "base/cpu.h"

namespace regard {
namespace fs = std::filesystem;

const char* version() {
  return REGARD_VERSION;
}

const char* release_date() {
  return REGARD_DATE;
}

std::string version_report() {
  return fmt::format("regard {}\nLibTorch {}, built {}\nkernels for {}", REGARD_VERSION,
                     REGARD_LIBTORCH_VERSION, REGARD_LIBTORCH_CUDA, cpu_level_name());
}

std::string docs_folder(const fs::path& program) {
  const auto prefix = program.parent_path().parent_path();
  for (const auto& folder : {prefix / "share" / "doc" / "regard" / "docs", prefix / "docs"}) {
    std::error_code ignored;
    if (fs::exists(folder / "attention.md", ignored)) return folder.string();
  }
  return "docs";
}

std::string docs_folder() {
  std::error_code error;
  const auto program = fs::read_symlink("/proc/self/exe", error);
  return error ? "docs" : docs_folder(program);
}

}  // namespace regard
