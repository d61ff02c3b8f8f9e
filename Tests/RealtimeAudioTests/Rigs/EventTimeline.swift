import PlayheadRealtimeAudio

/// The state that an engine derives from render events alone: the stream frame that each input plays at each output
/// frame.
struct EventTimeline {
  struct Run: Hashable {
    var outputFrame: Int64
    var streamID: UInt64
    var streamFrame: Int64
    var endFrame: Int64?
  }

  private(set) var runs: [Int: [Run]] = [:]
  private(set) var retired: [UInt64] = []
  private(set) var missedScheduleCount = 0

  mutating func add(_ event: RenderEvent) {
    let input = Int(event.inputIndex)
    switch event.kind {
    case .runBegan:
      endRun(input, at: event.outputFrame)
      runs[input, default: []].append(
        Run(outputFrame: event.outputFrame, streamID: event.streamID, streamFrame: event.streamFrame))
    case .underrun, .ended, .stopped: endRun(input, at: event.outputFrame)
    case .rewound: for input in runs.keys { rewind(input, to: event.outputFrame) }
    case .scheduleMissed: missedScheduleCount += 1
    case .streamRetired: retired.append(event.streamID)
    case .streamSet, .spaceAvailable, .rampBegan: break
    }
  }

  private mutating func endRun(_ input: Int, at frame: Int64) {
    guard let last = runs[input]?.indices.last, runs[input]?[last].endFrame == nil else { return }
    runs[input]?[last].endFrame = frame
  }

  private mutating func rewind(_ input: Int, to frame: Int64) {
    runs[input]?.removeAll { $0.outputFrame >= frame }
    guard let last = runs[input]?.indices.last, let end = runs[input]?[last].endFrame, end > frame else { return }
    runs[input]?[last].endFrame = nil
  }

  /// Returns the stream frame that `input` plays at `frame`, if it was rendered.
  func streamFrame(input: Int, at frame: Int64) -> (streamID: UInt64, streamFrame: Int64)? {
    guard let run = runs[input]?.last(where: { $0.outputFrame <= frame }), frame < run.endFrame ?? .max else {
      return nil
    }
    return (run.streamID, run.streamFrame + frame - run.outputFrame)
  }
}
