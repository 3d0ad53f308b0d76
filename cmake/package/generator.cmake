# Read by cpack for each generator: only Debian packages have a fixed place.
if(CPACK_GENERATOR STREQUAL DEB)
  set(CPACK_PACKAGING_INSTALL_PREFIX /opt/regard)
endif()
