// main.cc - registers all benchmarks and runs those asked for; see README.md.
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>

#include <unistd.h>

#include "bench.hh"

namespace
{

std::vector<std::string> registered; // names, as Google Benchmark spells them

// How many runs are done and how long the others will take, on a terminal all the time,
// in a file once a minute.
class Progress
{
  public:
    void expect(size_t runs)
    {
        total = runs;
    }

    void run_done()
    {
        const double passed =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
                .count();
        done++;
        const bool terminal = isatty(STDERR_FILENO);
        if (!terminal && passed < shown + 60)
            return;
        shown = passed;
        const double left = passed / double(done) * double(total - done);
        std::fprintf(stderr,
                     terminal ? "\r%zu of %zu runs, %.1f minutes left "
                              : "%zu of %zu runs, %.1f minutes left\n",
                     done, total, left / 60);
    }

  private:
    const std::chrono::steady_clock::time_point start =
        std::chrono::steady_clock::now();
    size_t done = 0, total = 0;
    double shown = 0;
};

Progress progress;

// Runs that Google Benchmark will make: it does not tell.
size_t expected_runs(const std::vector<std::string> &arguments)
{
    std::string filter = ".";
    size_t repetitions = 1;
    for (const std::string &argument : arguments) { // the last one wins
        std::smatch match;
        if (std::regex_match(argument, match, std::regex("--benchmark_filter=(.+)")))
            filter = match[1] == "all" ? "." : match[1].str();
        if (std::regex_match(argument, match,
                             std::regex("--benchmark_repetitions=(\\d+)")))
            repetitions = std::stoul(match[1]);
    }
    const bool all_but = filter[0] == '-';
    const std::regex wanted(filter.substr(all_but), std::regex::extended);
    size_t count = 0;
    for (const std::string &name : registered)
        count += std::regex_search(name, wanted) != all_but;
    return count * repetitions;
}

// What a reader of the results asks about the machine and the build.
void describe(const std::vector<std::string> &arguments)
{
    std::string command = "taper_bench", line;
    for (size_t i = 1; i < arguments.size(); i++)
        command += " " + arguments[i];
    benchmark::AddCustomContext("command", command);
    benchmark::AddCustomContext("compiler", TAPER_BENCH_COMPILER);
    benchmark::AddCustomContext("flags", TAPER_BENCH_FLAGS);
    benchmark::AddCustomContext("peers", TAPER_BENCH_PEERS);
    benchmark::AddCustomContext("isa", taper_isa());

    std::ifstream cpus("/proc/cpuinfo");
    while (std::getline(cpus, line))
        if (line.rfind("model name", 0) == 0) {
            benchmark::AddCustomContext("cpu", line.substr(line.find(':') + 2));
            break;
        }
}

// Runs come in random order: shows the median of each benchmark, in the order in which
// they were registered, when all are done. A file by --benchmark_out has everything.
class Medians : public benchmark::ConsoleReporter
{
  public:
    Medians() : ConsoleReporter(OO_Tabular)
    {
    }

    // Debian builds Google Benchmark without NDEBUG, of which it warns. Nothing of it
    // runs while something is timed.
    bool ReportContext(const Context &context) override
    {
        std::stringstream text;
        std::string line;
        SetErrorStream(&text);
        const bool go_on = ConsoleReporter::ReportContext(context);
        SetErrorStream(&std::cerr);
        while (std::getline(text, line))
            if (line.find("Library was built as DEBUG") == std::string::npos)
                std::cerr << line << '\n';
        return go_on;
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
    registered.push_back(name + "/manual_time");
    benchmark::RegisterBenchmark(name.c_str(),
                                 [=](benchmark::State &state) {
                                     must(taper_use_isa(isa));
                                     must(taper_set_max_threads(threads));
                                     run(state);
                                     progress.run_done();
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
    const std::vector<std::string> given(argv, argv + argc);
    const std::vector<std::string> all(args.begin(), args.end());
    int count = int(args.size());
    args.push_back(nullptr);

    benchmark::Initialize(&count, args.data());
    if (benchmark::ReportUnrecognizedArguments(count, args.data()))
        return 2;
    describe(given);
    add_array();
    add_cast();
    add_first_touch();
    add_layout();
    add_call();
    add_data();
    add_threads();
    add_stream();
    progress.expect(expected_runs(all));
    Medians medians;
    benchmark::RunSpecifiedBenchmarks(&medians);
    benchmark::Shutdown();
    return 0;
}
