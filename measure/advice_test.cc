#include "measure/advice.h"

#include <doctest/doctest.h>

using namespace imgpack::measure;

namespace {

StageFigure figure(Stage stage, double rate, unsigned threads = 0) {
  return {.stage = stage, .rates = known_rate(rate), .threads = threads};
}

/// 1,000 images/s by the CPU, of a JPEG dataset; other ways of packing are faster.
Situation slow_cpu() {
  Situation situation{.dataset = "a.rec", .memory_bytes = 1e12};
  situation.stages = {figure(Stage::cpu, 1000, 2), figure(Stage::consumer, 5000)};
  situation.sweep = {figure(Stage::cpu, 500, 1), figure(Stage::cpu, 1000, 2)};
  situation.threads = 2;
  situation.variants = {
      {.name = "as it is", .options = "", .rates = known_rate(900), .bytes_per_image = 100'000},
      {.name = "small", .options = "--encode jpeg --resize 256", .rates = known_rate(2700), .bytes_per_image = 25'000},
      {.name = "raw", .options = "--encode raw", .rates = known_rate(9000), .bytes_per_image = 200'000},
  };
  return situation;
}

}  // namespace

TEST_CASE("advice: a slow CPU gets the variant that helps, in proportion to what was measured of each") {
  const Advice advice = advise(slow_cpu());
  CHECK(advice.diagnosis.bound == Stage::cpu);
  REQUIRE(advice.remedies.size() == 2);
  CHECK(advice.remedies[0].rate == doctest::Approx(3000));
  CHECK(advice.remedies[1].rate == doctest::Approx(5000));  // what the consumer takes
  CHECK(advice.command == "imgpack convert a.rec packed.rec --encode raw");
  CHECK(advice.sentence.find("Decoding on the CPU is the bound, at 1000 images/s") == 0);
}

TEST_CASE("advice: more threads, and the GPU, come before packing again") {
  Situation situation = slow_cpu();
  situation.sweep.push_back(figure(Stage::cpu, 4900, 8));
  Advice advice = advise(situation);
  CHECK(advice.remedies.front().what == "8 threads instead of 2");
  CHECK(advice.command == "imgpack.Loader(\"a.rec\", threads=8)");
  situation = slow_cpu();
  situation.gpu = figure(Stage::gpu, 100'000);
  advice = advise(situation);
  CHECK(advice.command == "imgpack.Loader(\"a.rec\", device=\"cuda\")");
  CHECK(advice.remedies.front().rate == doctest::Approx(5000));
}

TEST_CASE("advice: a slow disk gets fewer bytes, not raw pixels") {
  Situation situation = slow_cpu();
  situation.stages.front() = figure(Stage::cpu, 3000, 2);
  situation.stages.push_back(figure(Stage::disk, 500));
  situation.images = 1'000'000;
  situation.memory_bytes = 20e9;
  situation.disk_bytes_per_second = 500 * 100'000;
  const Advice advice = advise(situation);
  CHECK(advice.diagnosis.bound == Stage::disk);
  REQUIRE(advice.remedies.size() == 1);
  CHECK(advice.remedies.front().rate == doctest::Approx(2000));
  CHECK(advice.command == "imgpack convert a.rec packed.rec --encode jpeg --resize 256");

  situation.variants.clear();
  CHECK(advise(situation).sentence.find("a faster disk, or memory for the whole dataset, would") != std::string::npos);
  CHECK(advise(situation).command.empty());
}

TEST_CASE("advice: whether a variant has room in memory decides whether it comes from disk") {
  Situation situation = slow_cpu();
  situation.images = 1'000'000;
  situation.disk_bytes_per_second = 500 * 100'000;
  situation.memory_bytes = 150e9;  // the raw variant has none, so that the disk would count
  Advice advice = advise(situation);
  CHECK(advice.diagnosis.bound == Stage::cpu);
  REQUIRE(advice.remedies.size() == 1);
  CHECK(advice.remedies.front().what == "packing as small");
  CHECK(advice.remedies.front().rate == doctest::Approx(3000));

  situation.memory_bytes = 50e9;  // the small variant has, so that the disk would count no more
  situation.stages.push_back(figure(Stage::disk, 500));
  advice = advise(situation);
  CHECK(advice.diagnosis.bound == Stage::disk);
  REQUIRE(advice.remedies.size() == 1);
  CHECK(advice.remedies.front().rate == doctest::Approx(3000));
  situation.cold = true;
  CHECK(advise(situation).remedies.front().rate == doctest::Approx(2000));
}

TEST_CASE("advice: names are quoted in commands where that is needed") {
  Situation situation = slow_cpu();
  situation.dataset = "it's/a-*.rec";
  CHECK(advise(situation).command == "imgpack convert 'it'\\''s/a-*.rec' packed.rec --encode raw");
  situation.dataset = "a \"b\".rec";
  situation.sweep.push_back(figure(Stage::cpu, 4900, 8));
  CHECK(advise(situation).command == "imgpack.Loader(\"a \\\"b\\\".rec\", threads=8)");
}

TEST_CASE("advice: a slow copy") {
  Situation situation = slow_cpu();
  situation.stages = {figure(Stage::cpu, 9000, 2), figure(Stage::copy, 400), figure(Stage::consumer, 5000)};
  Advice advice = advise(situation);
  CHECK(advice.diagnosis.bound == Stage::copy);
  CHECK(advice.command == "imgpack.Loader(\"a.rec\", dtype=\"uint8\")");
  CHECK(advice.remedies.front().rate == doctest::Approx(1600));
  situation.value_bytes = 2;
  CHECK(advise(situation).remedies.front().rate == doctest::Approx(800));
  situation.value_bytes = 1;
  CHECK(advise(situation).remedies.empty());
  situation.gpu = figure(Stage::gpu, 100'000);  // needs no copy of batches at all
  advice = advise(situation);
  CHECK(advice.command == "imgpack.Loader(\"a.rec\", device=\"cuda\")");
  CHECK(advice.remedies.back().rate == doctest::Approx(5000));
}

TEST_CASE("advice: a slow consumer needs no change, and what is close is said to be") {
  Situation situation = slow_cpu();
  situation.stages.back() = figure(Stage::consumer, 100);
  Advice advice = advise(situation);
  CHECK(advice.diagnosis.bound == Stage::consumer);
  CHECK(advice.remedies.empty());
  CHECK(advice.sentence.find("10.0 times as many: loading needs no change.") != std::string::npos);
  situation.stages.back() = figure(Stage::consumer, 950);
  advice = advise(situation);
  CHECK(advice.sentence.find("but cpu is as close as can be told: loading has nothing to spare.") != std::string::npos);
  situation.stages.back() = figure(Stage::consumer, 1050);
  advice = advise(situation);
  CHECK(advice.sentence.find("but consumer is as close as can be told") != std::string::npos);
  CHECK(advise({}).sentence == "Nothing could be measured.");
}

TEST_CASE("advice: what all together give is held against the bound, and a target against the less of both") {
  Situation situation = slow_cpu();
  situation.together = known_rate(950);
  CHECK(advise(situation).sentence.find("together") == std::string::npos);
  situation.together = known_rate(600);
  const Advice advice = advise(situation);
  CHECK(advice.sentence.find("All together give 600 images/s") != std::string::npos);
  CHECK_FALSE(answer_target(situation, advice, 900).reached);
  CHECK(answer_target(situation, advice, 600).reached);
  situation.together = known_rate(2000);
  CHECK(advise(situation).sentence.find("measuring was disturbed") != std::string::npos);
  CHECK(answer_target(situation, advise(situation), 1000).reached);
}

TEST_CASE("advice: more threads give in proportion to what as many as now gave") {
  Situation situation = slow_cpu();
  situation.variants.clear();
  situation.sweep = {figure(Stage::cpu, 2000, 2), figure(Stage::cpu, 4000, 4)};  // in a faster minute
  REQUIRE(advise(situation).remedies.size() == 1);
  CHECK(advise(situation).remedies.front().rate == doctest::Approx(2000));
}

TEST_CASE("target: reached, reached by the least change, or not at all") {
  const Situation situation = slow_cpu();
  const Advice advice = advise(situation);
  CHECK(answer_target(situation, advice, 900).reached);
  const TargetAnswer small = answer_target(situation, advice, 2500);
  REQUIRE(small.remedy);
  CHECK(small.remedy->what == "packing as small");
  CHECK(answer_target(situation, advice, 4000).remedy->what == "packing as raw");
  const TargetAnswer never = answer_target(situation, advice, 6000);
  CHECK_FALSE(never.remedy);
  CHECK(never.sentence.find("the consumer itself takes 5000 images/s") != std::string::npos);
}
