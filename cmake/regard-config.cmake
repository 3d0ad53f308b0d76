# find_package(regard): defines the target regard::regard, libregard.so with the headers of include/regard. The
# libraries it depends on are in the same folder, or belong to the system.
include("${CMAKE_CURRENT_LIST_DIR}/regard-targets.cmake")
