// The processors of this machine: how many this process may use, and their instruction set. Also
// its memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace regard {

// Returns the number of processors that this process may use, at least 1: the size of its affinity
// mask (taskset), limited by the CPU quotas of its control groups and their parents (cgroup v1 and
// v2, rounded up). `groups` is the folder where the control groups are mounted; `membership` is the
// file that lists the groups of this process. A file that is missing or malformed sets no limit.
std::int64_t usable_processors(const std::filesystem::path& groups = "/sys/fs/cgroup",
                               const std::filesystem::path& membership = "/proc/self/cgroup");

// Returns the memory that this process may use, in bytes: that of the machine, limited by its
// control groups as for usable_processors().
std::uint64_t usable_memory(const std::filesystem::path& groups = "/sys/fs/cgroup",
                            const std::filesystem::path& membership = "/proc/self/cgroup");

// Microarchitecture levels of x86-64 that the innermost loops are compiled for: v3 has AVX2 and
// FMA, v4 has AVX-512. All other processors, x86-64 or not, have the level `baseline`. See
// kernels/loops/products.h and kernels/loops/vector_math.h.
enum class CpuLevel { baseline, v3, v4 };

// Returns the highest level that the processor supports.
CpuLevel cpu_level();

// True if the processor has level v4 and an instruction that multiplies bfloat16 numbers and adds
// up the products (AVX512-BF16).
bool has_bf16_products();
// The same for 8-bit integers (AVX512-VNNI).
bool has_int8_products();
// True if the processor also has instructions for tiles of both (AMX-BF16 and AMX-INT8), and the
// operating system lets this process use them, for which the first call asks it. Thread-safe.
bool has_amx_products();

// Returns the level as `regard --version` prints it: "x86-64-v3 (AVX2)", or "x86-64-v4 (AVX-512,
// AMX)" with has_amx_products(); on other processors the name of the architecture, such as
// "aarch64".
std::string cpu_level_name();

}  // namespace regard
