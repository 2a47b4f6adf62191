#include <doctest/doctest.h>

#include <torch/torch.h>

#include <sstream>

#include "imgpack/torch/batch_dataset.h"
#include "imgpack/torch/tensors.h"
#include "reader/loader_testing.h"

// libtorch has a macro of this name too.
#undef CHECK
#define CHECK DOCTEST_CHECK

namespace imgpack {

namespace {

using testing::PackedImages;
using testing::small_options;

TEST_CASE("tensors share a batch's memory and keep it") {
  const PackedImages images;
  for (const DType dtype : {DType::u8, DType::f32, DType::f16, DType::bf16}) {
    for (const Layout layout : {Layout::nchw, Layout::nhwc}) {
      CAPTURE(to_string(dtype));
      CAPTURE(to_string(layout));
      LoaderOptions options = small_options();
      options.transform = {RandomResizedCrop{ImageSize{20, 30}}};
      options.dtype = dtype;
      options.layout = layout;
      at::Tensor x, y, copy;
      {
        Loader loader(images.open(), options);
        const Batch batch = *loader.epoch().next();
        x = torch::images(batch);
        y = torch::labels(batch);
        CHECK((x.data_ptr() == batch.images().data()));
        CHECK((y.data_ptr() == batch.labels().data()));
        copy = x.clone();
        CHECK(torch::mask(batch).all().item<bool>());
        CHECK((torch::device_of(batch) == at::Device(at::kCPU)));
        CHECK(at::equal(torch::images(batch, nullptr), x));  // the CPU has no streams
        CHECK(at::equal(torch::labels(batch, nullptr), y));
      }
      CHECK((x.sizes() == at::IntArrayRef({8, 3, 20, 30})));
      CHECK((x.scalar_type() == torch::scalar_type(dtype)));
      CHECK(x.is_contiguous(layout == Layout::nchw ? at::MemoryFormat::Contiguous : at::MemoryFormat::ChannelsLast));
      CHECK(at::equal(x, copy));
      CHECK((y.sizes() == at::IntArrayRef({8})));
      CHECK(y.max().item<std::int64_t>() < 3);
      x.add_(1);  // it is the consumer's
    }
  }
}

TEST_CASE("layouts and dtypes hold the same values") {
  const PackedImages images;
  const auto first = [&](DType dtype, Layout layout) {
    LoaderOptions options = small_options();
    options.dtype = dtype;
    options.layout = layout;
    Loader loader(images.open(), options);
    return torch::images(*loader.epoch().next());
  };
  const at::Tensor expected = first(DType::f32, Layout::nchw);
  CHECK(at::equal(first(DType::f32, Layout::nhwc), expected));
  CHECK(at::equal(first(DType::f16, Layout::nchw), expected.to(at::kHalf)));
  CHECK(at::equal(first(DType::bf16, Layout::nhwc), expected.to(at::kBFloat16)));
}

TEST_CASE("soft labels sum to one") {
  const PackedImages images;
  LoaderOptions options = small_options();
  options.transform.push_back(MixUp{0.5});
  Loader loader(images.open(), options);
  const Batch batch = *loader.epoch().next();
  const at::Tensor soft = torch::soft_labels(batch);
  CHECK((soft.sizes() == at::IntArrayRef({8, 3})));
  CHECK(at::allclose(soft.sum(1), at::ones({8})));
}

TEST_CASE("torch::data's loader goes through the epochs, and its state is kept in an archive") {
  const PackedImages images;
  const Dataset data = images.open();
  std::vector<at::Tensor> expected;
  {
    Loader loader(data, small_options());
    for (int e = 0; e < 2; ++e) {
      for (Batch& batch : loader.epoch()) expected.push_back(torch::images(batch));
    }
  }
  torch::BatchDataset dataset(Loader(data, small_options()));
  CHECK(*dataset.size() == PackedImages::kTrain);
  std::stringstream file;
  {
    auto loader = ::torch::data::make_data_loader(dataset, ::torch::data::DataLoaderOptions(1));
    std::size_t i = 0;
    for (auto& example : *loader) {
      CHECK(at::equal(example.data, expected.at(i++)));
      CHECK(example.target.size(0) == example.data.size(0));
    }
    CHECK(i == 7);
    for (auto& example : *loader) {
      CHECK(at::equal(example.data, expected.at(i++)));
      if (i == 10) break;
    }
    ::torch::serialize::OutputArchive archive;
    dataset.save(archive);
    archive.save_to(file);
  }
  torch::BatchDataset other(Loader(data, small_options()));
  ::torch::serialize::InputArchive archive;
  archive.load_from(file);
  other.load(archive);
  std::size_t i = 10;
  auto loader = ::torch::data::make_data_loader(other, ::torch::data::DataLoaderOptions(1));
  for (auto& example : *loader) CHECK(at::equal(example.data, expected.at(i++)));
  CHECK(i == expected.size());
}

}  // namespace

}  // namespace imgpack
