// A devkit's meta.mat for tests, written by matio.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace imgpack::testing {

struct MetaRow {
  double id = 1;
  std::string wnid;
  std::string words;  ///< Latin-1
  double children = 0;
};

/// The struct array `variable` with the devkit's fields (`wnid_field` instead of WNID); compressed, as the real one is.
void write_meta_mat(const std::filesystem::path& path, const std::vector<MetaRow>& rows,
                    const std::string& variable = "synsets", const std::string& wnid_field = "WNID",
                    bool compressed = true);

}  // namespace imgpack::testing
