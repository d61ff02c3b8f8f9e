import MediaCore

/// Stretches of an item's time in the output: where a time is heard, where an item begins again, where sound begins and
/// ceases.
extension PlayerTimeline {
  /// An unbroken stretch of one item's time in the output.
  struct Piece: Sendable, Hashable {
    var outputFrame: Int64
    /// The output frame after the last one; nil while no end is known.
    var endFrame: Int64?
    var itemID: PlayerItem.ID
    /// The item's time at `outputFrame`.
    var time: MediaTime
    /// How much faster than the frames it goes on.
    var rate = PlaybackRate.normal

    /// The item's time at an output frame from `outputFrame` on.
    func time(at frame: Int64, sampleRateHz: Int) -> MediaTime {
      MediaTime(time, advancedByFrames: frame - outputFrame, rate: sampleRateHz, playbackRate: rate)
    }
  }

  /// An item, heard once from some place on: time goes one way only.
  struct HeardPass: Sendable, Hashable {
    var sampleRateHz: Int
    var pieces: [Piece] = []
    /// Where the item begins again, from a time on that was passed, without a jump: a loop. Or where it goes on the other
    /// way.
    var loop: Piece?

    /// Whether it is heard backwards.
    var isReverse: Bool { pieces.first?.rate.isReverse ?? false }

    /// The output frame at which the item's time comes to `time`, and the time there: `time` itself, or what it is
    /// rounded up to a frame, or what follows where the item leaves time out. The end of a piece counts as reached. Nil
    /// when the pass ends before, or is not known to come so far.
    func frame(reaching time: MediaTime) -> (frame: Int64, time: MediaTime)? {
      for piece in pieces {
        if piece.rate.reaches(time, by: piece.time) { return (piece.outputFrame, piece.time) }
        guard
          let offset = (time - piece.time).frameCount(
            rate: sampleRateHz, playbackRate: piece.rate, rounding: .towardPositiveInfinity)
        else { return nil }
        let (frame, overflow) = piece.outputFrame.addingReportingOverflow(offset)
        if overflow { return nil }
        if frame <= piece.endFrame ?? .max {
          let reached = piece.time(at: frame, sampleRateHz: sampleRateHz)
          return (frame, piece.rate.isReverse ? min(time, reached) : max(time, reached))
        }
      }
      return nil
    }

    /// The item's time at the end of what is known, if it has one.
    fileprivate var endTime: MediaTime? {
      guard let last = pieces.last, let end = last.endFrame else { return nil }
      return last.time(at: end, sampleRateHz: sampleRateHz)
    }
  }

  /// What sounds, in order, without what is over at `frame`.
  func pieces(from frame: Int64) -> [Piece] {
    var pieces: [Piece] = []
    for run in runs where run.isSounding && run.end?.frame ?? .max > frame {
      guard let list = spans[run.streamID] else { continue }
      let runEnd = run.end.map { run.streamFrame + ($0.frame - run.outputFrame) } ?? .max
      for (index, span) in list.enumerated() {
        let start = max(span.streamFrame, run.streamFrame)
        let end = min(index + 1 < list.count ? list[index + 1].streamFrame : .max, runEnd)
        let first = run.outputFrame + (start - run.streamFrame)
        let last = end == .max ? nil : run.outputFrame + (end - run.streamFrame)
        guard start <= end, start < runEnd, first >= frame || last ?? .max > frame else { continue }
        // A span that ends where the run begins was heard before; an empty one is an item without sound.
        if start == end, span.streamFrame < start { continue }
        pieces.append(
          Piece(
            outputFrame: first, endFrame: last, itemID: span.itemID, time: time(in: span, at: start), rate: span.rate))
      }
    }
    return pieces
  }

  /// The pass of the item that begins at output frame `frame`.
  func pass(of itemID: PlayerItem.ID, from frame: Int64) -> HeardPass {
    var pass = HeardPass(sampleRateHz: sampleRateHz)
    for piece in pieces(from: frame) {
      if piece.itemID != itemID {
        if pass.pieces.isEmpty { continue }
        break
      }
      // What is less than a frame is rounding. Another direction is another pass.
      if let end = pass.endTime, let last = pass.pieces.last,
        piece.rate.isReverse != last.rate.isReverse
          || piece.rate.reaches(piece.time(at: piece.outputFrame + 1, sampleRateHz: sampleRateHz), by: end)
      {
        if piece.outputFrame == frame {
          // What ended where this pass begins is over.
          pass.pieces = [piece]
          continue
        }
        pass.loop = piece
        break
      }
      pass.pieces.append(piece)
    }
    return pass
  }

  /// The times of an item that stand at frames of a stream, in order.
  func times(of itemID: PlayerItem.ID, in streamID: UInt64, frames: Range<Int64>) -> [TimeRange] {
    guard let list = spans[streamID] else { return [] }
    var ranges: [TimeRange] = []
    for (index, span) in list.enumerated() where span.itemID == itemID {
      let first = max(span.streamFrame, frames.lowerBound)
      let end = min(index + 1 < list.count ? list[index + 1].streamFrame : .max, frames.upperBound)
      if first < end {
        let (begins, ends) = (time(in: span, at: first), time(in: span, at: end))
        ranges.append(TimeRange(start: min(begins, ends), end: max(begins, ends)))
      }
    }
    return ranges
  }

  /// Whether the output frame is one that sounds.
  func isSounding(at frame: Int64) -> Bool {
    runs.contains { $0.isSounding && $0.outputFrame <= frame && frame < $0.end?.frame ?? .max }
  }

  /// The first output frame, at or after `frame`, at which sound begins.
  func soundBegins(from frame: Int64) -> Int64? {
    runs.first { $0.isSounding && $0.outputFrame >= frame }?.outputFrame
  }

  /// The output frame at which what sounds after `frame` falls silent, and whether a jump was carried out there, which
  /// may be about to sound; nil while no end is known.
  func soundCeases(after frame: Int64) -> (frame: Int64, isAtJump: Bool)? {
    var end = frame
    for run in runs where run.isSounding && run.end?.frame ?? .max > frame {
      if end > frame, run.outputFrame > end { break }
      guard let runEnd = run.end else { return nil }
      end = runEnd.frame
    }
    return (end, end == frame || runs.contains { $0.isStill && $0.outputFrame == end })
  }
}

extension PlayerTimeline.Run {
  /// Whether it has frames that sound.
  var isSounding: Bool { !isStill && end?.frame ?? .max > outputFrame }
}
