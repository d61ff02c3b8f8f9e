import Glibc

/// Milliseconds of processor time that a program uses from its beginning to its end.
func processorMilliseconds(_ arguments: [String]) -> Double {
  var before = rusage()
  getrusage(Int32(truncatingIfNeeded: RUSAGE_CHILDREN.rawValue), &before)
  var words = arguments.map { strdup($0) } + [nil]
  defer { for word in words { free(word) } }
  var child = pid_t()
  guard posix_spawnp(&child, arguments[0], nil, nil, &words, environ) == 0 else {
    print("MediaBench: \(arguments[0]) cannot be run")
    exit(1)
  }
  var status: Int32 = 0
  while waitpid(child, &status, 0) < 0, errno == EINTR {}
  guard status == 0 else {
    print("MediaBench: \(arguments) failed")
    exit(1)
  }
  var after = rusage()
  getrusage(Int32(truncatingIfNeeded: RUSAGE_CHILDREN.rawValue), &after)
  func milliseconds(_ usage: rusage) -> Double {
    Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000
      + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1_000
  }
  return milliseconds(after) - milliseconds(before)
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

func text(_ number: Double) -> String { "\((number * 100).rounded() / 100)" }
