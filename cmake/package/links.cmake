# Run by cpack before it packs the files: links of a Debian package into /opt/regard.
if(CPACK_GENERATOR STREQUAL DEB)
  set(root "${CPACK_TEMPORARY_INSTALL_DIRECTORY}")
  file(GLOB pages RELATIVE "${root}/opt/regard/share" "${root}/opt/regard/share/man/man1/*")
  set(links bin/regard:bin/regard
            share/bash-completion/completions/regard:share/bash-completion/completions/regard
            share/zsh/site-functions/_regard:share/zsh/vendor-completions/_regard
            share/fish/vendor_completions.d/regard.fish:share/fish/vendor_completions.d/regard.fish)
  foreach(page IN LISTS pages)
    list(APPEND links "share/${page}:share/${page}")
  endforeach()
  foreach(link IN LISTS links)
    string(REPLACE ":" ";" link "${link}")
    list(GET link 0 from)
    list(GET link 1 to)
    get_filename_component(folder "${root}/usr/${to}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    file(CREATE_LINK "/opt/regard/${from}" "${root}/usr/${to}" SYMBOLIC)
  endforeach()
endif()
