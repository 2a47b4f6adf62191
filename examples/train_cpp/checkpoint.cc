#include "examples/train_cpp/checkpoint.h"

#include <fmt/format.h>
#include <torch/serialize/archive.h>

#include "imgpack/error.h"

namespace trainer {

namespace {

using imgpack::Error;
using imgpack::ErrorCode;
using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;

template <typename Part>
void write_part(OutputArchive& archive, const char* name, const Part& part) {
  OutputArchive inner(archive.compilation_unit());
  part.save(inner);
  archive.write(name, inner);
}

template <typename Part>
void read_part(InputArchive& archive, const char* name, Part& part) {
  InputArchive inner;
  archive.read(name, inner);
  part.load(inner);
}

c10::IValue read_value(InputArchive& archive, const char* name) {
  c10::IValue value;
  archive.read(name, value);
  return value;
}

Position read(InputArchive& archive, const std::filesystem::path& path, const Architecture& architecture,
              MobileNetV2& model, torch::optim::Optimizer& optimizer) {
  const Architecture found = {.classes = read_value(archive, "classes").toInt(),
                              .width = read_value(archive, "width").toDouble()};
  if (found != architecture) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the checkpoint is of a network of width {} with {} classes, not of width {} with {}",
                            found.width, found.classes, architecture.width, architecture.classes),
                {.file = path.string()});
  }
  read_part(archive, "model", *model);
  read_part(archive, "optimizer", optimizer);
  Position position;
  position.loader = imgpack::LoaderState::from_json(read_value(archive, "loader").toStringRef());
  archive.read("loss_sum", position.loss_sum);
  position.loss_samples = static_cast<std::uint64_t>(read_value(archive, "loss_samples").toInt());
  return position;
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Architecture& architecture, const Position& position,
                     const MobileNetV2& model, const torch::optim::Optimizer& optimizer) {
  OutputArchive archive;
  archive.write("classes", c10::IValue(architecture.classes));
  archive.write("width", c10::IValue(architecture.width));
  write_part(archive, "model", *model);
  write_part(archive, "optimizer", optimizer);
  archive.write("loader", c10::IValue(position.loader.to_json()));
  archive.write("loss_sum", position.loss_sum);
  archive.write("loss_samples", c10::IValue(static_cast<std::int64_t>(position.loss_samples)));
  std::filesystem::path unfinished = path;
  unfinished += ".unfinished";
  archive.save_to(unfinished.string());
  std::filesystem::rename(unfinished, path);
}

Position load_checkpoint(const std::filesystem::path& path, const Architecture& architecture, MobileNetV2& model,
                         torch::optim::Optimizer& optimizer, torch::Device device) {
  if (!std::filesystem::exists(path)) {
    throw Error(ErrorCode::not_found, "there is no such checkpoint", {.file = path.string()});
  }
  try {
    InputArchive archive;
    archive.load_from(path.string(), device);
    return read(archive, path, architecture, model, optimizer);
  } catch (const c10::Error& error) {
    throw Error(ErrorCode::damaged, fmt::format("this is no checkpoint: {}", error.what_without_backtrace()),
                {.file = path.string()});
  }
}

}  // namespace trainer
