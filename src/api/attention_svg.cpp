#include "regard/attention_svg.h"

#include "base/error.h"
#include "base/strings.h"
#include "config/scalar.h"
#include "report/alignment_picture.h"

namespace regard {

std::string attention_svg(const std::vector<std::string>& source,
                          const std::vector<std::string>& target, const std::vector<float>& weights,
                          const std::string& caption, const std::string& scale,
                          const std::vector<std::string>& text,
                          const std::array<std::string, 2>& axes) {
  AttentionPicture picture;
  if (!from_yaml(scale, picture.scale)) {
    throw ConfigError("scale: found `{}`, expected {}", scale, expected_text<WeightScale>({}));
  }
  if (weights.size() != target.size() * source.size()) {
    throw InputError("attention: found {}, expected {} for {} and {}",
                     counted(weights.size(), "weight"), target.size() * source.size(),
                     counted(target.size(), "target token"),
                     counted(source.size(), "source token"));
  }
  picture.caption = caption;
  picture.source = source;
  picture.target = target;
  picture.text = text;
  picture.source_axis = axes[0];
  picture.target_axis = axes[1];
  picture.matrices.push_back({.caption = "", .weights = weights});
  return alignment_svg(picture);
}

}  // namespace regard
