/// Compares with FFmpeg. Returns whether all results are within the limits.
///
/// - Parameter memory: the memory limit of the process in MB.
func compare(
  _ name: String, _ command: [String], _ reference: [String], target: Double, memory: Double = .infinity, rounds: Int
) -> Bool {
  var (costs, referenceCosts): ([Cost], [Cost]) = ([], [])
  for round in 0...rounds {
    let (measured, referenceCost) = (cost(command), cost(reference))
    guard round > 0 else { continue }
    costs.append(measured)
    referenceCosts.append(referenceCost)
  }
  let ratio = median(zip(costs, referenceCosts).map { $0.milliseconds / $1.milliseconds })
  let (peak, referencePeak) = (costs.map(\.memory).max() ?? 0, referenceCosts.map(\.memory).max() ?? 0)
  print(
    "\(name): \(text(median(costs.map(\.milliseconds)))) ms of processor time (ffmpeg: \(text(median(referenceCosts.map(\.milliseconds))))), ratio"
      + " \(text(ratio)), target <= \(target);"
      + " \(text(peak)) MB (ffmpeg: \(text(referencePeak)))\(memory.isFinite ? ", target < \(text(memory))" : "")"
  )
  return ratio <= target && peak < memory
}

/// The constant arguments of `ffmpeg`.
let ffmpeg = ["ffmpeg", "-nostdin", "-nostats", "-v", "error"]

func fileName(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

/// Decodes to PCM.
func measureReading(_ paths: [String], rounds: Int) -> Bool {
  paths.reduce(true) { isWithin, path in
    let reference = ffmpeg + ["-threads", "1", "-i", path, "-map", "0:a", "-f", "s16le", "-y", "/dev/null"]
    return compare(
      "read: \(fileName(path))", [program, "--read", path], reference, target: 1.05, memory: 60, rounds: rounds)
      && isWithin
  }
}

/// Transcodes each file to suitable formats.
func measureTranscoding(_ paths: [String], _ folder: String, rounds: Int) -> Bool {
  var isWithin = true
  for path in paths {
    let kinds: [(ending: String, options: [String])] =
      path.hasSuffix(".mp4")
      ? [("mp4", ["-c:v", "libx264", "-crf", "23", "-preset", "medium", "-c:a", "aac", "-b:a", "128k"])]
      : [
        ("flac", ["-c:a", "flac"]), ("m4a", ["-c:a", "aac", "-b:a", "128k"]),
        ("mp3", ["-c:a", "libmp3lame", "-b:a", "128k"]),
      ]
    for kind in kinds where !path.hasSuffix(kind.ending) || kind.ending == "mp4" {
      let (output, referenceOutput) = ("\(folder)/ours.\(kind.ending)", "\(folder)/theirs.\(kind.ending)")
      isWithin =
        compare(
          "transcode: \(fileName(path)) to \(kind.ending)", [program, "--export", path, output],
          ffmpeg + ["-i", path] + kind.options + ["-y", referenceOutput], target: 1.05,
          memory: path.hasSuffix(".mp4") ? .infinity : 60,
          rounds: rounds)
        && isWithin
    }
  }
  return isWithin
}

/// Reads two files that are put together.
func measureCompositions(_ paths: [String], rounds: Int) {
  var times: [String: [Double]] = [:]
  for round in 0...rounds {
    for kind in ["--each", "--sequence", "--mixed"] {
      let time = cost([program, kind] + paths).milliseconds
      if round > 0 { times[kind, default: []].append(time) }
    }
  }
  for (kind, name) in [("--each", "separately"), ("--sequence", "in sequence"), ("--mixed", "mixed")] {
    let ratios = zip(times[kind] ?? [], times["--each"] ?? []).map { $0 / $1 }
    print("two files, \(name): \(text(median(times[kind] ?? []))) ms of processor time, ratio \(text(median(ratios)))")
  }
}
