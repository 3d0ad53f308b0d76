// The kernels of rows.h and loops.h for GPUs. Compiled by nvcc, without headers of LibTorch.
#include "cuda/loops.h"
#include "cuda/rows.h"

namespace regard::cuda {

template void launch(std::int64_t, const AddAndNorm&, void*);
template void launch(std::int64_t, const AddAndNormBackward&, void*);
template void launch(std::int64_t, const ColumnSums&, void*);
template void launch(std::int64_t, const Dropout&, void*);
template void launch(std::int64_t, const ReluDropoutBackward&, void*);
template void launch(std::int64_t, const CrossEntropy&, void*);
template void launch(std::int64_t, const CellForward&, void*);
template void launch(std::int64_t, const CellBackward&, void*);
template void launch(std::int64_t, const Attend&, void*);
template void launch(std::int64_t, const AttendBackward&, void*);

}  // namespace regard::cuda
