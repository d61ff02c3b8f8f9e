import PlayheadMediaAssets
import PlayheadMediaCore

/// Seeks a reader to random frames with a tolerance of zero, and compares the audio there with the whole decode.
struct ReaderSeekCheck {
  let options: CheckOptions
  let whole: DecodedAudio
  let report: CheckReport

  /// Frames that are compared after each seek. One seek in five reads to the end.
  static let windowFrameCount = 4_096

  func run() {
    var random = options.random(for: .seek)
    do throws(MediaError) {
      var reader = try AudioTrackReader(asset: Asset(path: options.path))
      for number in 0..<options.seekCount {
        let target = Int.random(in: 0..<whole.frameCount, using: &random)
        // A new reader has not read any part of the file.
        if number % 4 == 3 { reader = try AudioTrackReader(asset: Asset(path: options.path)) }
        let toEnd = number % 5 == 4
        seek(reader, to: target, count: toEnd ? whole.frameCount - target : Self.windowFrameCount, readsToEnd: toEnd)
      }
    } catch {
      report.fail(.seek, expected: "a reader", found: "\(error)")
    }
  }

  private func seek(_ reader: AudioTrackReader, to target: Int, count frameCount: Int, readsToEnd: Bool) {
    report.countComparison()
    let samples: [Float]
    let reportedFrame: Int
    do throws(MediaError) {
      let time = try reader.seek(to: whole.time(ofFrame: target), toleranceBefore: .zero, toleranceAfter: .zero)
      reportedFrame = Int(time.frameIndex(rate: whole.format.sampleRateHz, rounding: .towardNegativeInfinity) ?? -1)
      // One frame more, which must not exist at the end.
      samples = try read(reader, count: frameCount + (readsToEnd ? 1 : 0))
    } catch {
      report.fail(.seek, expected: "audio at frame \(target)", found: "\(error)")
      return
    }
    LandingCheck(whole: whole, report: report, check: .seek)
      .compare(
        samples, target: target, reportedFrame: reportedFrame, isExact: reader.positionDoubt == nil,
        expectedFrameCount: frameCount)
  }

  private func read(_ reader: AudioTrackReader, count: Int) throws(MediaError) -> [Float] {
    let channelCount = whole.format.channelCount
    var samples = [Float](repeating: 0, count: count * channelCount)
    var frames = 0
    while frames < count {
      let result = samples.withUnsafeMutableBufferPointer { buffer -> Result<AudioTrackReader.ReadResult, MediaError> in
        guard let base = buffer.baseAddress else { return .success(.endOfTrack) }
        do throws(MediaError) {
          return .success(try reader.read(into: base + frames * channelCount, capacityFrames: count - frames))
        } catch {
          return .failure(error)
        }
      }
      switch result {
      case .success(.frames(let more, _)): frames += more
      case .success(.endOfTrack), .success(.cancelled): return Array(samples.prefix(frames * channelCount))
      case .failure(let error):
        // A truncated file fails after a seek, too.
        guard whole.error != nil else { throw error }
        return Array(samples.prefix(frames * channelCount))
      }
    }
    return samples
  }
}

/// Compares the audio after a seek with the whole decode.
struct LandingCheck {
  let whole: DecodedAudio
  let report: CheckReport
  let check: Check

  /// Compares the first frames after a seek.
  ///
  /// - Parameters:
  ///   - samples: the interleaved samples that follow the seek.
  ///   - target: the requested frame.
  ///   - reportedFrame: the frame that the seek reports.
  ///   - isExact: whether the seek claims that the samples are those of `reportedFrame`.
  ///   - expectedFrameCount: frames that should have been read, as far as the audio has them.
  func compare(_ samples: [Float], target: Int, reportedFrame: Int, isExact: Bool, expectedFrameCount: Int) {
    let channelCount = whole.format.channelCount
    let (expectedText, foundText): (String, String)
    if reportedFrame != target {
      (expectedText, foundText) = ("a landing at frame \(target)", "frame \(reportedFrame)")
      // The samples may match the reported frame, but that is not the target.
      return isExact
        ? report.fail(check, expected: expectedText, found: foundText)
        : report.inexact(check, expected: expectedText, found: foundText)
    }
    let available = min(expectedFrameCount, whole.frameCount - target)
    let difference = whole.samples.withSamples { all in
      samples.withUnsafeBufferPointer { samples -> (String, String)? in
        let expected = UnsafeBufferPointer(rebasing: all[(target * channelCount)...])
        return SampleDifference(
          expected: expected, found: samples, channelCount: channelCount, tolerance: whole.seekTolerance
        ).map { ($0.expectedText(from: target), $0.foundText(samples, in: whole.samples, from: target)) }
      }
    }
    if let difference {
      let expected = "after a seek to frame \(target) \(difference.0)"
      if isExact, whole.isNoise(samples, from: target) {
        report.noise(check, expected: expected, found: difference.1)
      } else if isExact {
        report.fail("false-exact", expected: "\(check.rawValue): \(expected)", found: difference.1)
      } else {
        report.inexact(check, expected: expected, found: difference.1)
      }
    } else if samples.count != available * channelCount {
      let expected = "\(available) frames after a seek to frame \(target)"
      let found = "\(samples.count / channelCount)"
      if isExact {
        report.fail(check, expected: expected, found: found)
      } else {
        report.inexact(check, expected: expected, found: found)
      }
    }
  }
}
