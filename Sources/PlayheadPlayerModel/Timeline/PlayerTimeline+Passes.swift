import PlayheadMediaCore

/// Continuous ranges of an item's time in the output: where a time is heard, where an item repeats, where audio begins
/// and ends.
extension PlayerTimeline {
  /// A continuous range of one item's time in the output.
  struct AudibleRange: Sendable, Hashable {
    package var outputFrame: Int64
    /// The output frame after the last one; nil while the end is unknown.
    package var endFrame: Int64?
    package var itemID: PlayerItemID
    /// The item's time at `outputFrame`.
    package var time: MediaTime
    /// The rate at which the item's time advances, relative to the frames.
    package var rate = PlaybackRate.normal

    /// The item's time at an output frame not before `outputFrame`.
    package func time(at frame: Int64, sampleRateHz: Int) -> MediaTime {
      MediaTime(time, advancedByFrames: frame - outputFrame, rate: sampleRateHz, playbackRate: rate)
    }
  }

  /// A traversal of an item from any position, in one direction.
  struct HeardPass: Sendable, Hashable {
    package var sampleRateHz: Int
    package var ranges: [AudibleRange] = []
    /// The start of the next traversal without a jump: a return to an earlier time, or a change of direction.
    package var loop: AudibleRange?

    /// Whether it is heard in reverse.
    package var isReverse: Bool { ranges.first?.rate.isReverse ?? false }

    /// The output frame at which the item's time reaches `time`, and the item's time there.
    ///
    /// That time is `time`, rounded up to a frame, or a later one if the item skips `time`. The end of a range counts
    /// as reached. Nil if the pass ends before `time`, or is not known that far.
    package func frame(reaching time: MediaTime) -> (frame: Int64, time: MediaTime)? {
      for range in ranges {
        if range.rate.reaches(time, by: range.time) { return (range.outputFrame, range.time) }
        guard
          let offset = (time - range.time).frameCount(
            rate: sampleRateHz, playbackRate: range.rate, rounding: .towardPositiveInfinity)
        else { return nil }
        let (frame, overflow) = range.outputFrame.addingReportingOverflow(offset)
        if overflow { return nil }
        if frame <= range.endFrame ?? .max {
          let reached = range.time(at: frame, sampleRateHz: sampleRateHz)
          return (frame, range.rate.isReverse ? min(time, reached) : max(time, reached))
        }
      }
      return nil
    }

    /// The item's time at the end of the known ranges; nil if the last one has no end.
    fileprivate var endTime: MediaTime? {
      guard let last = ranges.last, let end = last.endFrame else { return nil }
      return last.time(at: end, sampleRateHz: sampleRateHz)
    }
  }

  /// The audible ranges in order, without those that end before `frame`.
  func audibleRanges(from frame: Int64) -> [AudibleRange] {
    var ranges: [AudibleRange] = []
    for run in runs where run.isAudible && run.end?.frame ?? .max > frame {
      guard let list = segments[run.streamID] else { continue }
      let runEnd = run.end.map { run.streamFrame + ($0.frame - run.outputFrame) } ?? .max
      for (index, segment) in list.enumerated() {
        let start = max(segment.streamFrame, run.streamFrame)
        let end = min(index + 1 < list.count ? list[index + 1].streamFrame : .max, runEnd)
        let first = run.outputFrame + (start - run.streamFrame)
        let last = end == .max ? nil : run.outputFrame + (end - run.streamFrame)
        guard start <= end, start < runEnd, first >= frame || last ?? .max > frame else { continue }
        // A range that ends at the start of the run was heard before. An empty one is an item without audio.
        if start == end, segment.streamFrame < start { continue }
        ranges.append(
          AudibleRange(
            outputFrame: first, endFrame: last, itemID: segment.itemID, time: time(in: segment, at: start),
            rate: segment.rate))
      }
    }
    return ranges
  }

  /// The pass of the item that begins at output frame `frame`.
  func pass(of itemID: PlayerItemID, from frame: Int64) -> HeardPass {
    var pass = HeardPass(sampleRateHz: sampleRateHz)
    for range in audibleRanges(from: frame) {
      if range.itemID != itemID {
        if pass.ranges.isEmpty { continue }
        break
      }
      // A difference of less than a frame is due to rounding. Another direction is another pass.
      if let end = pass.endTime, let last = pass.ranges.last,
        range.rate.isReverse != last.rate.isReverse
          || range.rate.reaches(range.time(at: range.outputFrame + 1, sampleRateHz: sampleRateHz), by: end)
      {
        if range.outputFrame == frame {
          // The ranges that ended at the start of this pass are over.
          pass.ranges = [range]
          continue
        }
        pass.loop = range
        break
      }
      pass.ranges.append(range)
    }
    return pass
  }

  /// The time ranges of an item in the given frames of a stream, in order.
  package func times(of itemID: PlayerItemID, in streamID: UInt64, frames: Range<Int64>) -> [TimeRange] {
    guard let list = segments[streamID] else { return [] }
    var ranges: [TimeRange] = []
    for (index, segment) in list.enumerated() where segment.itemID == itemID {
      let first = max(segment.streamFrame, frames.lowerBound)
      let end = min(index + 1 < list.count ? list[index + 1].streamFrame : .max, frames.upperBound)
      if first < end {
        let (startTime, endTime) = (time(in: segment, at: first), time(in: segment, at: end))
        ranges.append(TimeRange(start: min(startTime, endTime), end: max(startTime, endTime)))
      }
    }
    return ranges
  }

  /// Whether audio is rendered at the output frame.
  package func isAudible(at frame: Int64) -> Bool {
    runs.contains { $0.isAudible && $0.outputFrame <= frame && frame < $0.end?.frame ?? .max }
  }

  /// The first output frame, at or after `frame`, at which audio begins.
  func audioStart(from frame: Int64) -> Int64? {
    runs.first { $0.isAudible && $0.outputFrame >= frame }?.outputFrame
  }

  /// The output frame at which the audio after `frame` ends, and whether a jump occurred there, after which audio may
  /// begin again. Nil while the end is unknown.
  func audioEnd(after frame: Int64) -> (frame: Int64, isAtJump: Bool)? {
    var end = frame
    for run in runs where run.isAudible && run.end?.frame ?? .max > frame {
      if end > frame, run.outputFrame > end { break }
      guard let runEnd = run.end else { return nil }
      end = runEnd.frame
    }
    return (end, end == frame || runs.contains { $0.isPositionOnly && $0.outputFrame == end })
  }
}

extension PlayerTimeline.Run {
  /// Whether it has audible frames.
  package var isAudible: Bool { !isPositionOnly && end?.frame ?? .max > outputFrame }
}
