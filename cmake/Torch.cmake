# Finds LibTorch and defines the target `regard::torch`. Searches CMAKE_PREFIX_PATH, then the project's .venv,
# where scripts/setup.sh installs the PyTorch wheel.
#
# LibTorch's own TorchConfig.cmake is not used: that of a CUDA wheel requires the CUDA toolkit, which is needed
# only to compile kernels. The wheel contains its libraries and knows their paths.
#
# LibTorch's include folder contains a copy of fmt that is newer than the system's and breaks Debian's spdlog if
# it is found first. So the folder is added with -idirafter: searched last.
set(torch_minimum 2.11)

# PyTorch prints its path as <LibTorch>/share/cmake; entries of that form work too.
string(REPLACE ":" ";" torch_hints "${CMAKE_PREFIX_PATH};$ENV{CMAKE_PREFIX_PATH}")
list(TRANSFORM torch_hints APPEND /../../include)
file(GLOB torch_wheel "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch/include")
find_path(REGARD_LIBTORCH_INCLUDE torch/csrc/api/include/torch/torch.h
          HINTS ${torch_hints} ${torch_wheel} DOC "LibTorch's include folder")
get_filename_component(torch_root "${REGARD_LIBTORCH_INCLUDE}" DIRECTORY)
find_library(REGARD_LIBTORCH_LIBRARY torch PATHS "${torch_root}/lib" NO_DEFAULT_PATH
             DOC "libtorch.so, which loads libtorch_cpu and, if it exists, libtorch_cuda")
if(NOT REGARD_LIBTORCH_INCLUDE OR NOT REGARD_LIBTORCH_LIBRARY)
  message(FATAL_ERROR "found no LibTorch: run scripts/setup.sh, or pass "
                      "-DCMAKE_PREFIX_PATH=/path/to/libtorch")
endif()
include("${torch_root}/share/cmake/Torch/TorchConfigVersion.cmake" OPTIONAL)
if(PACKAGE_VERSION VERSION_LESS torch_minimum)
  message(FATAL_ERROR "found LibTorch ${PACKAGE_VERSION} in ${torch_root}, expected "
                      "${torch_minimum} or later: run scripts/setup.sh, or pass "
                      "-DCMAKE_PREFIX_PATH=/path/to/libtorch")
endif()
# Versions that `regard --version` prints without loading LibTorch. The wheel has the CUDA version in version.py,
# the LibTorch archive in build-version.
set(torch_cuda "without CUDA")
if(EXISTS "${torch_root}/lib/libtorch_cuda.so")
  set(torch_cuda "with CUDA")
  set(torch_build "")
  foreach(file version.py build-version)
    if(EXISTS "${torch_root}/${file}")
      file(READ "${torch_root}/${file}" text)
      string(APPEND torch_build "${text}")
    endif()
  endforeach()
  if(torch_build MATCHES "cuda[^=\n]*= *'([0-9.]+)'")
    string(APPEND torch_cuda " ${CMAKE_MATCH_1}")
  elseif(torch_build MATCHES "[+]cu([0-9]+)([0-9])")
    string(APPEND torch_cuda " ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
  endif()
endif()

# Processes that train together are connected by Gloo. LibTorch contains the library, but not its headers (Debian:
# libgloo-dev). The check compiles and links all that regard uses of it.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS "-std=c++20 -idirafter \"${REGARD_LIBTORCH_INCLUDE}\" \
-idirafter \"${REGARD_LIBTORCH_INCLUDE}/torch/csrc/api/include\"")
set(CMAKE_REQUIRED_LIBRARIES "${torch_root}/lib/libtorch_cpu.so" "${torch_root}/lib/libc10.so")
check_cxx_source_compiles("
#define USE_C10D_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
int main() {
  auto options = c10d::ProcessGroupGloo::Options::create();
  options->devices.push_back(c10d::ProcessGroupGloo::createDefaultDevice());
  auto store = c10::make_intrusive<c10d::TCPStore>(\"localhost\", c10d::TCPStoreOptions());
  c10d::ProcessGroupGloo group(store, 0, 1, options);
}" REGARD_HAS_GLOO)
if(NOT REGARD_HAS_GLOO)
  check_cxx_source_compiles("
#include <torch/types.h>
int main() { return static_cast<int>(torch::zeros({1}).numel()); }" REGARD_COMPILES_LIBTORCH)
  if(NOT REGARD_COMPILES_LIBTORCH)
    unset(REGARD_COMPILES_LIBTORCH CACHE)
    message(FATAL_ERROR "${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_VERSION} cannot compile the headers of LibTorch "
                        "${PACKAGE_VERSION} (the errors are in CMakeFiles/CMakeError.log of the build folder): use g++ 11 "
                        "or later (-DCMAKE_CXX_COMPILER=g++-12), or clang++ 14 or later")
  endif()
endif()
unset(CMAKE_REQUIRED_FLAGS)
unset(CMAKE_REQUIRED_LIBRARIES)
if(REGARD_HAS_GLOO)
  string(APPEND torch_cuda ", with Gloo")
else()
  string(APPEND torch_cuda ", without Gloo")
  unset(REGARD_HAS_GLOO CACHE)  # looks again after libgloo-dev was installed
  message(STATUS "found no headers of Gloo that fit LibTorch: no training by several processes")
endif()

# Training steps are captured as CUDA graphs (src/kernels/cuda_graph.cpp), which needs the headers of CUDA: those of a
# toolkit, and those of its libraries from a toolkit or from the wheels beside PyTorch's.
if(EXISTS "${torch_root}/lib/libtorch_cuda.so")
  find_path(REGARD_CUDA_INCLUDE crt/host_config.h HINTS $ENV{CUDA_HOME}/include /usr/local/cuda/include
            DOC "include folder of the CUDA toolkit")
  file(GLOB cuda_wheel "${torch_root}/../nvidia/cu*/include")
  set(cuda_includes ${REGARD_CUDA_INCLUDE} ${cuda_wheel})
  set(CMAKE_REQUIRED_FLAGS "-std=c++20 -idirafter \"${REGARD_LIBTORCH_INCLUDE}\"")
  set(CMAKE_REQUIRED_INCLUDES ${cuda_includes})
  set(CMAKE_REQUIRED_LIBRARIES "-Wl,--allow-shlib-undefined,--no-as-needed,-lstdc++" "${torch_root}/lib/libtorch_cuda.so"
                               "${torch_root}/lib/libtorch_cpu.so" "${torch_root}/lib/libc10.so")
  check_cxx_source_compiles("
#include <ATen/cuda/CUDAGraph.h>
int main() { at::cuda::CUDAGraph().capture_begin(); }" REGARD_HAS_CUDA_GRAPHS)
  unset(CMAKE_REQUIRED_FLAGS)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
  if(REGARD_HAS_CUDA_GRAPHS)
    string(APPEND torch_cuda ", with step graphs")
  else()
    string(APPEND torch_cuda ", without step graphs")
    unset(REGARD_HAS_CUDA_GRAPHS CACHE)  # looks again after a toolkit was installed
    message(STATUS "found no headers of CUDA that fit LibTorch: training steps are launched operation by operation; "
                   "install the toolkit, or pass -DREGARD_CUDA_INCLUDE=/path/to/cuda/include")
  endif()
endif()

# Gradients of several GPUs travel by NCCL (src/training/process_group_nccl.cpp). LibTorch has its code; its header is in a
# wheel beside PyTorch's, or in the system.
if(REGARD_HAS_CUDA_GRAPHS AND REGARD_HAS_GLOO)
  find_path(REGARD_NCCL_INCLUDE nccl.h HINTS "${torch_root}/../nvidia/nccl/include" $ENV{CUDA_HOME}/include
            /usr/local/cuda/include DOC "include folder of NCCL")
  if(REGARD_NCCL_INCLUDE)
    set(REGARD_HAS_NCCL ON)
    string(APPEND torch_cuda ", with NCCL")
  else()
    string(APPEND torch_cuda ", without NCCL")
  endif()
endif()

# Kernels of CUDA (src/cuda/): nvcc compiles them for Ampere and Hopper, and for later GPUs in the form that the
# driver compiles. Without nvcc, other devices than the CPU use LibTorch's operations.
find_program(REGARD_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin DOC "compiler of the CUDA toolkit")
set(REGARD_NVCC_OPTIONS -std=c++20 -O2 --expt-relaxed-constexpr -Werror=all-warnings -I${PROJECT_SOURCE_DIR}/src
                        -gencode=arch=compute_80,code=[sm_80,compute_80] -gencode=arch=compute_90,code=sm_90)
if(REGARD_HAS_CUDA_GRAPHS)
  get_filename_component(nvcc_folder "${REGARD_NVCC}" REALPATH)
  get_filename_component(nvcc_folder "${nvcc_folder}" DIRECTORY)
  find_library(REGARD_CUDART cudart_static HINTS ${nvcc_folder}/../lib64 /usr/local/cuda/lib64
               DOC "the CUDA runtime of the toolkit")
  if(REGARD_NVCC AND REGARD_CUDART)
    set(REGARD_HAS_CUDA_KERNELS ON)
    string(APPEND torch_cuda ", with kernels")
  else()
    string(APPEND torch_cuda ", without kernels")
  endif()
endif()

set(torch_facts "REGARD_LIBTORCH_VERSION=\"${PACKAGE_VERSION}\";REGARD_LIBTORCH_CUDA=\"${torch_cuda}\"")
message(STATUS "LibTorch ${PACKAGE_VERSION}, ${torch_cuda}, in ${torch_root}")

add_library(regard_libtorch INTERFACE)
add_library(regard::torch ALIAS regard_libtorch)
target_compile_options(regard_libtorch INTERFACE
  "SHELL:-idirafter \"${REGARD_LIBTORCH_INCLUDE}\""
  "SHELL:-idirafter \"${REGARD_LIBTORCH_INCLUDE}/torch/csrc/api/include\"")
# LibTorch exports parts of libstdc++ that it was linked with, some of which crash (ARCHITECTURE.md, Traps). The C++
# library is searched first.
target_link_options(regard_libtorch INTERFACE "LINKER:--push-state,--no-as-needed,-lstdc++,--pop-state")
# Nothing refers to a symbol of libtorch itself, but it loads the CUDA kernels: --no-as-needed keeps it linked. The
# plain names tell CMake the run-time search folder.
target_link_libraries(regard_libtorch INTERFACE
  "-Wl,--push-state,--no-as-needed,${REGARD_LIBTORCH_LIBRARY},--pop-state"
  "${torch_root}/lib/libtorch_cpu.so" "${torch_root}/lib/libc10.so")
if(REGARD_HAS_CUDA_GRAPHS)
  target_link_libraries(regard_libtorch INTERFACE "${torch_root}/lib/libtorch_cuda.so")
endif()
if(REGARD_HAS_CUDA_KERNELS)
  target_link_libraries(regard_libtorch INTERFACE "${torch_root}/lib/libc10_cuda.so" "${REGARD_CUDART}" rt
                                                  ${CMAKE_DL_LIBS})
endif()
