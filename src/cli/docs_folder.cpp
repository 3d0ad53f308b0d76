#include "cli/docs_folder.h"

#include <system_error>

namespace regard {
namespace fs = std::filesystem;

std::string docs_folder(const fs::path& program) {
  const auto above = program.parent_path().parent_path();
  for (const auto& folder : {above / "share" / "doc" / "regard" / "docs", above / "docs"}) {
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
