# cmake --install: installs the programs, the library and all their dependencies except the C library into one
# folder that can be moved. bin/regard searches ../lib, also for the libraries there: RPATH does that; RUNPATH, the
# linker's default, does not.
include(CMakePackageConfigHelpers)

foreach(program regard regard-torch)
  set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  target_link_options(${program} PRIVATE "LINKER:--disable-new-dtags")
endforeach()
set_target_properties(regard_library PROPERTIES INSTALL_RPATH "$ORIGIN")
target_link_options(regard_library PRIVATE "LINKER:--disable-new-dtags")

install(TARGETS regard regard-torch
  RUNTIME_DEPENDENCIES
    # The loader, the C library and the GPU driver are those of the machine.
    PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|util|cuda|nvidia-.*)\\.so"
  RUNTIME DESTINATION bin
  LIBRARY DESTINATION lib)
# Libraries that LibTorch opens by name if there is a GPU. A CPU wheel has none of them.
file(GLOB torch_on_demand
     "${torch_root}/lib/libcaffe2_nvrtc.so" "${torch_root}/lib/libtorch_cuda_linalg.so"
     "${torch_root}/../nvidia/cudnn/lib/libcudnn_*.so.*"
     "${torch_root}/../nvidia/c*/lib/libnvrtc-builtins.so.*"
     "${torch_root}/../nvidia/c*/lib/libcusolver.so.*")
install(FILES ${torch_on_demand} DESTINATION lib)

# The CMake package for find_package(regard) in other projects.
install(TARGETS regard_library EXPORT regard-targets LIBRARY DESTINATION lib)
file(GLOB library_headers src/library/*.h)
install(FILES ${library_headers} DESTINATION include/regard)
install(EXPORT regard-targets NAMESPACE regard:: DESTINATION lib/cmake/regard)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/regard-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES cmake/regard-config.cmake "${PROJECT_BINARY_DIR}/regard-config-version.cmake"
        DESTINATION lib/cmake/regard)

# The installed program writes its own completions and manual pages.
install(CODE [=[
  set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
  function(say_into file)
    message(STATUS "Installing: ${prefix}/share/${file}")
    execute_process(COMMAND "${prefix}/bin/regard" ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    file(WRITE "${prefix}/share/${file}" "${text}")
  endfunction()
  say_into(bash-completion/completions/regard completions bash)
  say_into(zsh/site-functions/_regard completions zsh)
  say_into(fish/vendor_completions.d/regard.fish completions fish)
  message(STATUS "Installing: ${prefix}/share/man/man1")
  execute_process(COMMAND "${prefix}/bin/regard" man --into "${prefix}/share/man/man1" COMMAND_ERROR_IS_FATAL ANY)
]=])

install(DIRECTORY configs DESTINATION share/regard OPTIONAL)
# README.md links to the other files by relative paths.
install(FILES README.md ARCHITECTURE.md CHANGELOG.md SECURITY.md LICENSE DESTINATION share/doc/regard OPTIONAL)
install(FILES data/README.md DESTINATION share/doc/regard/data)
install(DIRECTORY docs DESTINATION share/doc/regard)
install(DIRECTORY examples DESTINATION share/doc/regard)
