# Finds LibTorch (on CMAKE_PREFIX_PATH, else in the project's own .venv, where scripts/setup.sh
# puts the PyTorch wheel) and offers it as the target `regard::torch`.
#
# LibTorch's include folder carries a copy of fmt that is newer than the system's and breaks
# Debian's spdlog when it is seen first. So its include folders are taken out of its own targets
# and given to this one as -idirafter: searched last, after the system's.
if(NOT Torch_DIR)
  file(GLOB wheel_torch "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
  list(APPEND CMAKE_PREFIX_PATH ${wheel_torch})
endif()
find_package(Torch QUIET)
if(NOT Torch_FOUND)
  message(FATAL_ERROR "LibTorch not found: run scripts/setup.sh, or pass "
                      "-DCMAKE_PREFIX_PATH=/path/to/libtorch")
endif()

add_library(regard_torch_headers INTERFACE)
foreach(folder IN LISTS TORCH_INCLUDE_DIRS)
  target_compile_options(regard_torch_headers INTERFACE "SHELL:-idirafter ${folder}")
endforeach()
foreach(target torch torch_cpu torch_cuda c10 c10_cuda)
  if(TARGET ${target})
    set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ""
                                               INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "")
  endif()
endforeach()
target_link_libraries(regard_torch_headers INTERFACE ${TORCH_LIBRARIES})
separate_arguments(torch_flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
target_compile_options(regard_torch_headers INTERFACE ${torch_flags})
add_library(regard::torch ALIAS regard_torch_headers)
message(STATUS "LibTorch ${Torch_VERSION} in ${TORCH_INSTALL_PREFIX}")
