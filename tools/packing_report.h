// What build, convert and merge --copy say when they are done.
#pragma once

#include <string_view>

#include "imgpack/build.h"
#include "tools/session.h"

namespace imgpack::tools {

/// Prints the summary, or with --json the document. Returns the exit code: 1 if files were refused.
int report_packing(Session& session, const BuildReport& report, bool dry_run);

Json splits_json(const std::vector<Split>& splits);
Json left_out_json(const std::vector<LeftOut>& entries);
/// "LEAD KEY: REASON", a line each, the first kShownInText of them, and how many more there are of `count` in all.
void print_left_out(Console& console, std::string_view lead, const std::vector<LeftOut>& entries, std::uint64_t count);

inline constexpr std::size_t kShownInText = 20;
/// "  ... and 12 more" if `count` is above `shown`.
void print_more(Console& console, std::uint64_t count, std::uint64_t shown);

}  // namespace imgpack::tools
