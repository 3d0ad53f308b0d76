# cmake --install: the programs and every library they need but the C library, in one folder that can
# be moved. bin/regard looks in ../lib, also on behalf of the libraries there: that is what RPATH
# does and RUNPATH, the linker's default, does not.
foreach(program regard regard-torch)
  set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  target_link_options(${program} PRIVATE "LINKER:--disable-new-dtags")
endforeach()

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
install(DIRECTORY configs DESTINATION share/regard OPTIONAL)
install(FILES README.md LICENSE DESTINATION share/doc/regard OPTIONAL)
