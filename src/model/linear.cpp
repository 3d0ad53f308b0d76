#include "model/linear.h"

#include "model/initialisation.h"

namespace regard {

LinearImpl::LinearImpl(std::int64_t in, std::int64_t out, bool with_bias) {
  weight = register_parameter("weight", torch::empty({out, in}));
  xavier_uniform(weight);
  if (with_bias) bias = register_parameter("bias", torch::zeros({out}));
}

}  // namespace regard
