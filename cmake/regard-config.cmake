# find_package(regard): the target regard::regard, libregard.so with the headers of include/regard. What
# the library itself needs lies beside it, or is the machine's own.
include("${CMAKE_CURRENT_LIST_DIR}/regard-targets.cmake")
