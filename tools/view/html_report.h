// The report as one HTML file that needs nothing else: style, script and thumbnails are inside.
#pragma once

#include <string>

#include "tools/console.h"
#include "tools/view/report_pictures.h"

namespace imgpack::tools {

/// `document` is what report_document() makes; the page shows it, and carries it in <script id="imgpack-report">. All
/// texts in it are taken for hostile. The page's own policy forbids it any request and any script but its own.
std::string html_report(const Json& document, const Pictures& pictures);

}  // namespace imgpack::tools
