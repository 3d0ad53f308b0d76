# cmake --install: installs the programs, the library and all their dependencies except the C library into one
# folder that can be moved. bin/regard searches ../lib, also for the libraries there: RPATH does that; RUNPATH, the
# linker's default, does not. The component `program` is what translating and training need, `development` what
# other projects need to build with the library.
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
  RUNTIME DESTINATION bin COMPONENT program
  LIBRARY DESTINATION lib COMPONENT program)
# Libraries that LibTorch opens by name if there is a GPU. A CPU wheel has none of them.
file(GLOB torch_on_demand
     "${torch_root}/lib/libcaffe2_nvrtc.so" "${torch_root}/lib/libtorch_cuda_linalg.so"
     "${torch_root}/../nvidia/cudnn/lib/libcudnn_*.so.*"
     "${torch_root}/../nvidia/c*/lib/libnvrtc-builtins.so.*"
     "${torch_root}/../nvidia/c*/lib/libcusolver.so.*")
install(FILES ${torch_on_demand} DESTINATION lib COMPONENT program)
# --strip strips only what was built here. A fifth of LibTorch is a table of symbols that only debuggers read.
install(CODE "
  set(source_dir \"${PROJECT_SOURCE_DIR}\")
  set(strip \"${CMAKE_STRIP}\")" COMPONENT program)
install(CODE [=[
  if(CMAKE_INSTALL_DO_STRIP AND strip)
    file(GLOB libraries "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/*.so*")
    foreach(library IN LISTS libraries)
      if(NOT IS_SYMLINK "${library}")
        execute_process(COMMAND "${strip}" --strip-unneeded "${library}" COMMAND_ERROR_IS_FATAL ANY)
      endif()
    endforeach()
  endif()
]=] COMPONENT program)

# The CMake package for find_package(regard) in other projects.
install(TARGETS regard_library EXPORT regard-targets LIBRARY DESTINATION lib COMPONENT development)
file(GLOB library_headers include/regard/*.h)
install(FILES ${library_headers} DESTINATION include/regard COMPONENT development)
install(EXPORT regard-targets NAMESPACE regard:: DESTINATION lib/cmake/regard COMPONENT development)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/regard-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES cmake/regard-config.cmake "${PROJECT_BINARY_DIR}/regard-config-version.cmake"
        DESTINATION lib/cmake/regard COMPONENT development)

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
]=] COMPONENT program)

install(DIRECTORY configs DESTINATION share/regard COMPONENT program OPTIONAL)
# README.md and docs/ link to the other files by relative paths.
install(FILES README.md ARCHITECTURE.md CHANGELOG.md SECURITY.md NOTICE
        DESTINATION share/doc/regard COMPONENT program OPTIONAL)
install(FILES data/README.md DESTINATION share/doc/regard/data COMPONENT program)
install(DIRECTORY docs DESTINATION share/doc/regard COMPONENT program)
install(DIRECTORY examples DESTINATION share/doc/regard COMPONENT program)
# The sources and scripts that docs/ links to.
install(CODE [=[
  file(GLOB pages "${source_dir}/docs/*.md")
  foreach(page IN LISTS pages)
    file(READ "${page}" text)
    string(REGEX MATCHALL "\\(\\.\\./(src|scripts|studies)/[A-Za-z0-9_./]+" links "${text}")
    foreach(link IN LISTS links)
      string(SUBSTRING "${link}" 4 -1 file)  # without (../
      get_filename_component(folder "${file}" DIRECTORY)
      file(INSTALL "${source_dir}/${file}" DESTINATION "${CMAKE_INSTALL_PREFIX}/share/doc/regard/${folder}"
           MESSAGE_NEVER)
    endforeach()
  endforeach()
]=] COMPONENT program)
# The texts of the licences that NOTICE lists.
file(GLOB torch_licenses "${torch_root}/../torch-*.dist-info/licenses/LICENSE")
install(FILES ${torch_licenses} DESTINATION share/doc/regard/licenses RENAME torch COMPONENT program)
foreach(package libsentencepiece[0-9]* libspdlog[0-9]* libfmt[0-9]* libyaml-cpp[0-9]* libutf8proc[0-9]* libicu[0-9]* libgumbo[0-9]* libpng16-16* zlib1g
                libarchive13* liblzma5 libbz2-1.0 libzstd1 liblz4-1 libnettle8* libacl1* libxml2 libssl3* gcc-*-base libcli11-dev nlohmann-json3-dev libboost[0-9]*-dev libgloo-dev)
  file(GLOB texts "/usr/share/doc/${package}/copyright")
  foreach(text IN LISTS texts)
    get_filename_component(folder "${text}" DIRECTORY)
    get_filename_component(name "${folder}" NAME)
    install(FILES "${text}" DESTINATION share/doc/regard/licenses RENAME "${name}" COMPONENT program)
  endforeach()
endforeach()

# scripts/package.sh: the component `program` as an archive, and as a Debian package in /opt/regard.
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};regard;program;/")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_FILE_NAME "regard-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_PACKAGE_VENDOR "regard")
set(CPACK_PACKAGE_CONTACT "the developers of regard")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "trainer for sequence-to-sequence translation with attention")
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.36)")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/cmake/package/generator.cmake")
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/package/links.cmake")
include(CPack)
