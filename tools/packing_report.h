// Running build, convert and merge --copy, and what they say when they are done.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "imgpack/build.h"
#include "tools/packing_options.h"
#include "tools/session.h"

namespace imgpack::tools {

/// Calls `pack` with the library's form of `options`, shows its progress, and prints the summary, or with --json the
/// document. Returns the exit code: 1 if files were refused.
int run_packing(Session& session, const PackingOptions& options,
                const std::function<BuildReport(const BuildOptions&)>& pack);

/// Counts of records by how they are decoded, and the share that a GPU decodes by itself.
Json decode_paths_json(const DecodePaths& paths);
/// "100 % by segments" and the like.
std::string decode_paths_text(const DecodePaths& paths);

Json splits_json(const std::vector<Split>& splits);
Json left_out_json(const std::vector<LeftOut>& entries);
/// "LEAD KEY: REASON", a line each, the first kShownInText of them, and how many more there are of `count` in all.
void print_left_out(Console& console, std::string_view lead, const std::vector<LeftOut>& entries, std::uint64_t count);

inline constexpr std::size_t kShownInText = 20;
/// "  ... and 12 more" if `count` is above `shown`.
void print_more(Console& console, std::uint64_t count, std::uint64_t shown);

}  // namespace imgpack::tools
