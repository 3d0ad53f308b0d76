#include "config/convert.h"

#include "config/foreign_config.h"
#include "config/yaml_file.h"

namespace regard {

Converted convert_configuration(std::string_view text, const std::string& name) {
  if (is_fairseq_command(text)) return convert_fairseq(text, name);
  const auto trainer = trainer_of(load_yaml(text, name));
  if (trainer == ForeignTrainer::opennmt) return convert_opennmt(text, name);
  if (trainer == ForeignTrainer::marian) return convert_marian(text, name);
  return convert_joeynmt(text, name);  // which says what is missing in other files
}

}  // namespace regard
