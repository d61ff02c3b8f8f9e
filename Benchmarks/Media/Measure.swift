import Glibc

/// The cost of a program from start to end.
struct Cost {
  /// Processor time.
  var milliseconds: Double
  /// Peak memory in MB.
  var memory: Double
}

/// Runs a program to its end.
func cost(_ arguments: [String]) -> Cost {
  var cArguments = arguments.map { strdup($0) } + [nil]
  defer { for argument in cArguments { free(argument) } }
  var child = pid_t()
  guard posix_spawnp(&child, arguments[0], nil, nil, &cArguments, environ) == 0 else {
    print("MediaBench: \(arguments[0]) cannot be started")
    exit(1)
  }
  var (status, usage) = (Int32(0), rusage())
  while wait4(child, &status, 0, &usage) < 0, errno == EINTR {}
  guard status == 0 else {
    print("MediaBench: \(arguments) failed")
    exit(1)
  }
  let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
  let microseconds = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
  return Cost(
    milliseconds: Double(seconds) * 1_000 + Double(microseconds) / 1_000, memory: Double(usage.ru_maxrss) * 1_024 / 1e6)
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

func text(_ number: Double) -> String { "\((number * 100).rounded() / 100)" }
