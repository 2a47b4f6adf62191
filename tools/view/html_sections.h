// The sections of the HTML report, each from its part of the report's document.
#pragma once

#include <string>

#include "tools/console.h"
#include "tools/view/report_pictures.h"

namespace imgpack::tools {

std::string overview_section(const Json& document);
std::string classes_section(const Json& document);
std::string sizes_section(const Json& document);
std::string encoding_section(const Json& document);
std::string duplicates_section(const Json& document, const Pictures& pictures);
std::string suspicious_section(const Json& document, const Pictures& pictures);
std::string samples_section(const Json& document, const Pictures& pictures);

}  // namespace imgpack::tools
