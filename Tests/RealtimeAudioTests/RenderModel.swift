import MediaTesting

@testable import RealtimeAudio

/// What a `RenderCore` must do, in the simplest way that one can say it: frame by frame, with a copy of everything kept
/// for each frame, so that going back is nothing but taking the copy.
struct RenderModel {
  struct Stream {
    var written: Int64 = 0
    var end: Int64?
    /// Whether the core was ever given a reference, so that it owes a `streamRetired`.
    var wasUsed = false
  }

  /// A frame of a stream.
  struct Place: Hashable {
    var stream: Int
    var frame: Int64
  }

  struct Schedule {
    var next: Place
    var atFrame: Int64
  }

  struct Input {
    var isAttached = false
    var isRunning = false
    var position: Place?
    var schedule: Schedule?
    var hasEnded = false
    var gain: Float = 1
    var rampStartGain: Float = 1
    var rampStartFrame: Int64 = 0
    var rampFrameCount: Int64 = 0

    var isActive: Bool { isAttached && isRunning && position != nil && !hasEnded }

    func gain(at frame: Int64) -> Float {
      let elapsed = frame - rampStartFrame
      if elapsed >= rampFrameCount { return gain }
      return rampStartGain + (gain - rampStartGain) * (Float(elapsed) / Float(rampFrameCount))
    }
  }

  enum Command {
    case reattach(input: Int)
    case setRunning(Bool, input: Int)
    case setStream(Place?, input: Int)
    case scheduleStream(Schedule?, input: Int)
    case setGain(Float, rampFrameCount: Int64, input: Int)
  }

  let channelCount: Int
  var streams: [Stream] = []
  var inputs: [Input]
  var waiting: [Command] = []
  /// The inputs as they were before each output frame.
  private var past: [[Input]] = []
  /// What each input sounds at each output frame; nil: silence.
  private(set) var sounding: [[Place?]] = []
  private(set) var limitFrame: Int64 = 0
  private(set) var heardFrame: Int64 = 0
  private(set) var missedScheduleCount = 0

  var renderedFrame: Int64 { Int64(past.count) }
  var isActive: Bool { inputs.contains(where: \.isActive) }

  init(inputCount: Int, channelCount: Int) {
    self.channelCount = channelCount
    inputs = Array(repeating: Input(isAttached: true), count: inputCount)
  }

  /// The sample that stands at a place: 24 bits, never 0, the same for everybody who asks.
  static func sample(_ place: Place, channel: Int) -> Float {
    let hash = SeededGenerator.mix(UInt64(place.stream) << 40 ^ UInt64(place.frame) << 8 ^ UInt64(channel))
    return Float(Int32(truncatingIfNeeded: hash >> 32) >> 8 | 1) / 8_388_608
  }

  // MARK: - What the core is told

  mutating func applyCommands() {
    guard !waiting.isEmpty else { return }
    for command in waiting { apply(command) }
    waiting = []
    limitFrame = renderedFrame
  }

  private mutating func apply(_ command: Command) {
    switch command {
    case .reattach(let input):
      inputs[input] = Input(isAttached: true)
    case .setRunning(let isRunning, let input):
      inputs[input].isRunning = isRunning
      inputs[input].hasEnded = false
    case .setStream(let place, let input):
      inputs[input].position = place
      inputs[input].schedule = nil
      inputs[input].hasEnded = false
      if let place { streams[place.stream].wasUsed = true }
    case .scheduleStream(let schedule, let input):
      if let schedule {
        guard let position = inputs[input].position, schedule.atFrame >= position.frame else {
          missedScheduleCount += 1
          return
        }
        streams[schedule.next.stream].wasUsed = true
      }
      inputs[input].schedule = schedule
      inputs[input].hasEnded = false
    case .setGain(let gain, let rampFrameCount, let input):
      inputs[input].rampStartGain = inputs[input].gain(at: renderedFrame)
      inputs[input].gain = gain
      inputs[input].rampStartFrame = renderedFrame
      inputs[input].rampFrameCount = rampFrameCount
    }
  }

  // MARK: - What is heard

  mutating func render(frameCount: Int) -> [Float] {
    applyCommands()
    var output: [Float] = []
    for _ in 0..<frameCount {
      past.append(inputs)
      sounding.append(inputs.indices.map { step($0) })
      output += mix(frame: past.count - 1)
    }
    return output
  }

  /// One frame of one input.
  private mutating func step(_ index: Int) -> Place? {
    guard inputs[index].isRunning, var position = inputs[index].position else { return nil }
    if let schedule = inputs[index].schedule, schedule.atFrame == position.frame {
      position = schedule.next
      inputs[index].schedule = nil
      inputs[index].position = position
    }
    let end = streams[position.stream].end ?? .max
    guard position.frame < min(streams[position.stream].written, end) else {
      if position.frame >= end { inputs[index].hasEnded = true }
      return nil
    }
    inputs[index].position?.frame += 1
    return position
  }

  private func mix(frame: Int) -> [Float] {
    (0..<channelCount).map { channel in
      var sum: Float = 0
      for (index, input) in past[frame].enumerated() {
        guard let place = sounding[frame][index] else { continue }
        let gain = input.gain(at: Int64(frame))
        if gain != 0 { sum += Self.sample(place, channel: channel) * gain }
      }
      return sum
    }
  }

  mutating func rewind(toFrame frame: Int64) -> Int64 {
    let reached = min(max(frame, limitFrame), renderedFrame)
    if reached < renderedFrame {
      inputs = past[Int(reached)]
      // A take-over at the very frame stays done.
      for (index, input) in inputs.enumerated() where input.isRunning {
        guard let schedule = input.schedule, schedule.atFrame == input.position?.frame else { continue }
        inputs[index].position = schedule.next
        inputs[index].schedule = nil
      }
      past.removeLast(past.count - Int(reached))
      sounding.removeLast(sounding.count - Int(reached))
    }
    return reached
  }

  mutating func release(heardFrame frame: Int64) {
    heardFrame = max(heardFrame, min(frame, renderedFrame))
    limitFrame = max(limitFrame, heardFrame)
  }

  // MARK: - What can be asked

  /// Whether all who should sound do, for the next `frameCount` frames.
  func isReady(frameCount: Int) -> Bool {
    var copy = self
    _ = copy.render(frameCount: frameCount)
    let first = Int(renderedFrame)
    for frame in first..<first + frameCount {
      let after = frame + 1 < copy.past.count ? copy.past[frame + 1] : copy.inputs
      for (index, input) in after.enumerated() where input.isActive && copy.sounding[frame][index] == nil {
        return false
      }
    }
    return true
  }

  /// Whether the core may still have to read this stream.
  func isNeeded(stream: Int) -> Bool {
    inputs.contains { $0.position?.stream == stream || $0.schedule?.next.stream == stream }
      || sounding[Int(heardFrame)...].joined().contains { $0?.stream == stream }
  }

  /// The frame after the last one of a stream that was heard, and the first that may be heard again.
  func heardLimits(stream: Int) -> (heard: Int64, needed: Int64) {
    let heard = sounding[..<Int(heardFrame)].joined().compactMap { $0 }.filter { $0.stream == stream }
    let needed = sounding[Int(heardFrame)...].joined().compactMap { $0 }.filter { $0.stream == stream }
    return ((heard.map(\.frame).max() ?? -1) + 1, needed.map(\.frame).min() ?? .max)
  }
}
