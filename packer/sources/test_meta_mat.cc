#include "packer/sources/test_meta_mat.h"

#include <array>
#include <memory>
#include <stdexcept>

#include <matio.h>

namespace imgpack::testing {
namespace {

struct CloseMat {
  void operator()(mat_t* mat) const noexcept { Mat_Close(mat); }
};
struct FreeVariable {
  void operator()(matvar_t* variable) const noexcept { Mat_VarFree(variable); }
};

matvar_t* scalar(double value) {
  std::array<std::size_t, 2> dims = {1, 1};
  return Mat_VarCreate(nullptr, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims.data(), &value, 0);
}

// In 16-bit units, as MATLAB writes them. (matio 1.5.23 writes wrong sizes for compressed 8-bit ones.)
matvar_t* text(const std::string& latin1) {
  std::u16string units;
  for (const char letter : latin1) units += static_cast<unsigned char>(letter);
  std::array<std::size_t, 2> dims = {1, units.size()};
  return Mat_VarCreate(nullptr, MAT_C_CHAR, MAT_T_UINT16, 2, dims.data(), units.data(), 0);
}

}  // namespace

void write_meta_mat(const std::filesystem::path& path, const std::vector<MetaRow>& rows, const std::string& variable,
                    const std::string& wnid_field, bool compressed) {
  const std::unique_ptr<mat_t, CloseMat> mat(Mat_CreateVer(path.c_str(), nullptr, MAT_FT_MAT5));
  if (!mat) throw std::runtime_error("cannot create " + path.string());
  std::array<const char*, 6> fields = {"ILSVRC2012_ID", wnid_field.c_str(), "words",
                                       "gloss",         "num_children",     "wordnet_height"};
  std::array<std::size_t, 2> dims = {rows.size(), 1};
  const std::unique_ptr<matvar_t, FreeVariable> array(
      Mat_VarCreateStruct(variable.c_str(), 2, dims.data(), fields.data(), fields.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto set = [&](const char* field, matvar_t* value) {
      Mat_VarSetStructFieldByName(array.get(), field, i, value);
    };
    set("ILSVRC2012_ID", scalar(rows[i].id));
    set(wnid_field.c_str(), text(rows[i].wnid));
    set("words", text(rows[i].words));
    set("gloss", text("something that is called " + rows[i].words));
    set("num_children", scalar(rows[i].children));
    set("wordnet_height", scalar(0));
  }
  const matio_compression compression = compressed ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE;
  if (Mat_VarWrite(mat.get(), array.get(), compression) != 0) throw std::runtime_error("cannot write meta.mat");
}

}  // namespace imgpack::testing
