// main.cc - registers all benchmarks and runs those asked for; see README.md.
#include <map>

#include <unistd.h>

#include "bench.hh"

namespace
{

int registered = 0, done = 0;

// Runs come in random order: shows the median of each benchmark, in the order in which
// they were registered, when all are done. A file by --benchmark_out has everything.
class Medians : public benchmark::ConsoleReporter
{
  public:
    Medians() : ConsoleReporter(OO_Tabular)
    {
    }

    void ReportRuns(const std::vector<Run> &runs) override
    {
        for (Run run : runs) {
            const bool alone =
                run.run_type == Run::RT_Iteration && run.repetitions <= 1;
            if (!alone && run.aggregate_name != "median" && !run.error_occurred)
                continue;
            run.run_name.time_type.clear();
            medians.emplace(run.family_index, run);
        }
    }

    void Finalize() override
    {
        for (const auto &[index, run] : medians)
            ConsoleReporter::ReportRuns({run});
    }

  private:
    std::map<int64_t, Run> medians;
};

} // namespace

void add(const std::string &name, const char *isa, int threads,
         std::function<void(benchmark::State &)> run)
{
    registered++;
    benchmark::RegisterBenchmark(name.c_str(),
                                 [=](benchmark::State &state) {
                                     must(taper_use_isa(isa));
                                     must(taper_set_max_threads(threads));
                                     run(state);
                                     if (isatty(STDERR_FILENO))
                                         std::fprintf(stderr, "\r%d runs", ++done);
                                 })
        ->UseManualTime()
        ->Unit(benchmark::kNanosecond);
}

int main(int argc, char **argv)
{
    // One iteration is a measurement of many rounds already, so there is no least time.
    // These come first so that the user's options win.
    static char min_time[] = "--benchmark_min_time=0";
    static char repetitions[] = "--benchmark_repetitions=3";
    static char interleaving[] = "--benchmark_enable_random_interleaving=true";
    std::vector<char *> args = {argv[0], min_time, repetitions, interleaving};
    args.insert(args.end(), argv + 1, argv + argc);
    int count = int(args.size());
    args.push_back(nullptr);

    benchmark::Initialize(&count, args.data());
    if (benchmark::ReportUnrecognizedArguments(count, args.data()))
        return 2;
    benchmark::AddCustomContext("isa", taper_isa());
    add_cast();
    add_fill();
    add_copy();
    add_layout();
    add_call();
    add_data();
    add_threads();
    add_stream();
    Medians medians;
    benchmark::RunSpecifiedBenchmarks(&medians);
    benchmark::Shutdown();
    return 0;
}
