# cmake --install: the programs, the library and everything that they need but the C library, in one
# folder that can be moved. bin/regard looks in ../lib, also on behalf of the libraries there: that is
# what RPATH does and RUNPATH, the linker's default, does not.
include(CMakePackageConfigHelpers)

foreach(program regard regard-torch)
  set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  target_link_options(${program} PRIVATE "LINKER:--disable-new-dtags")
endforeach()
set_target_properties(regard_library PROPERTIES INSTALL_RPATH "$ORIGIN")
target_link_options(regard_library PRIVATE "LINKER:--disable-new-dtags")

install(TARGETS regard regard-torch
  RUNTIME_DEPENDENCIES
    # The loader and the C library belong to the machine, as does the driver of the GPU.
    PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|util|cuda|nvidia-.*)\\.so"
  RUNTIME DESTINATION bin
  LIBRARY DESTINATION lib)
# What LibTorch opens by name when a GPU is there; a CPU wheel has none of them.
file(GLOB torch_on_demand
     "${torch_root}/lib/libcaffe2_nvrtc.so" "${torch_root}/lib/libtorch_cuda_linalg.so"
     "${torch_root}/../nvidia/cudnn/lib/libcudnn_*.so.*"
     "${torch_root}/../nvidia/c*/lib/libnvrtc-builtins.so.*"
     "${torch_root}/../nvidia/c*/lib/libcusolver.so.*")
install(FILES ${torch_on_demand} DESTINATION lib)

# find_package(regard) in other projects.
install(TARGETS regard_library EXPORT regard-targets LIBRARY DESTINATION lib)
install(FILES src/library/model.h DESTINATION include/regard)
install(EXPORT regard-targets NAMESPACE regard:: DESTINATION lib/cmake/regard)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/regard-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES cmake/regard-config.cmake "${PROJECT_BINARY_DIR}/regard-config-version.cmake"
        DESTINATION lib/cmake/regard)

install(DIRECTORY configs DESTINATION share/regard OPTIONAL)
install(FILES README.md LICENSE DESTINATION share/doc/regard OPTIONAL)
install(DIRECTORY examples DESTINATION share/doc/regard)
