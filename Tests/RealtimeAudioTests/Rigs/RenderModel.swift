import MediaTesting

@testable import PlayheadRealtimeAudio

/// The expected behavior of a `RenderCore`, in the simplest form: frame by frame, with a copy of the state for each
/// frame, so that a rewind only restores the copy.
struct RenderModel {
  struct Stream {
    var written: Int64 = 0
    var end: Int64?
    /// Whether the core ever received a reference, so that it owes a `streamRetired`.
    var wasUsed = false
  }

  /// A frame of a stream.
  struct StreamFrame: Hashable {
    var stream: Int
    var frame: Int64
  }

  struct Schedule {
    var next: StreamFrame
    var atFrame: Int64
    var switchFade = SwitchFade.none
  }

  /// A gain over output frames.
  struct Ramp {
    var start: Float = 1
    var target: Float = 1
    var startFrame: Int64 = 0
    var frameCount: Int64 = 0
    var curve = RampCurve.linear

    func value(at frame: Int64) -> Float {
      let elapsed = frame - startFrame
      if elapsed >= frameCount { return target }
      let part = Float(elapsed) / Float(frameCount)
      return switch curve {
      case .linear: start + (target - start) * part
      // The core's functions, because their last bits may differ from those of the C library.
      case .equalPower:
        GainRamp.squareRoot(start * start + (target * target - start * start) * GainRamp.cosineRise(part))
      case .sCurve: start + (target - start) * GainRamp.cosineRise(part)
      }
    }

    mutating func move(to newTarget: Float, at frame: Int64, over count: Int64) {
      self = Ramp(start: value(at: frame), target: newTarget, startFrame: frame, frameCount: count)
    }
  }

  /// An outgoing stream, from a position at output frame `outgoing.startFrame` on.
  struct Fade {
    var streamFrame: StreamFrame
    var outgoing: Ramp
    var incoming: Ramp
  }

  /// One stream's part of the audio of an input.
  struct Part {
    var streamFrame: StreamFrame
    var factor: Float
  }

  struct Input {
    var isAttached = false
    var isRunning = false
    /// The input is silent before this frame.
    var startFrame = Int64.min
    var position: StreamFrame?
    var schedule: Schedule?
    var hasEnded = false
    var volume = Ramp()
    var mute = Ramp()
    var sides = [Ramp(), Ramp()]
    var fades: [Fade] = []
    /// The frame at which metering began; nil while it is off.
    var meterBegin: Int64?

    var isActive: Bool { isAttached && isRunning && position != nil && !hasEnded }

    /// Fades out the stream at `position` from `frame` on.
    mutating func start(_ switchFade: SwitchFade, at frame: Int64) {
      guard let position else { return }
      fades.append(
        Fade(
          streamFrame: position,
          outgoing: Ramp(
            start: fades.last?.incoming.value(at: frame) ?? 1, target: 0, startFrame: frame,
            frameCount: switchFade.outFrameCount, curve: switchFade.curve),
          incoming: Ramp(
            start: 0, target: 1, startFrame: frame, frameCount: switchFade.inFrameCount, curve: switchFade.curve)))
    }

    mutating func switchToScheduledStream(_ schedule: Schedule, at frame: Int64) {
      if !schedule.switchFade.isNone { start(schedule.switchFade, at: frame) }
      position = schedule.next
      self.schedule = nil
    }
  }

  enum Command {
    case reattach(input: Int)
    case setRunning(Bool, fromFrame: Int64 = .min, input: Int)
    case setStream(StreamFrame?, SwitchFade, input: Int)
    case scheduleStream(Schedule?, input: Int)
    case setGain(Float, rampFrameCount: Int64, input: Int)
    case setMuted(Bool, rampFrameCount: Int64, input: Int)
    /// Fully left, center, or fully right.
    case setPan(Int, rampFrameCount: Int64, input: Int)
    case setMetering(Bool, input: Int)
  }

  let channelCount: Int
  var streams: [Stream] = []
  var inputs: [Input]
  var pending: [Command] = []
  /// The inputs as they were before each output frame.
  private var past: [[Input]] = []
  /// The stream frame that each input plays at each output frame; nil: silence.
  private(set) var audible: [[StreamFrame?]] = []
  /// The same, including the outgoing streams.
  private(set) var parts: [[[Part]]] = []
  /// The contribution of each input to each output frame, and the output.
  private(set) var contributions: [[[Float]]] = []
  private(set) var output: [[Float]] = []
  private(set) var limitFrame: Int64 = 0
  private(set) var heardFrame: Int64 = 0
  private(set) var missedScheduleCount = 0
  /// The number of samples beyond full scale that have been heard.
  private(set) var clippedSampleCount = 0

  var renderedFrame: Int64 { Int64(past.count) }
  var isActive: Bool { inputs.contains(where: \.isActive) }

  init(inputCount: Int, channelCount: Int) {
    self.channelCount = channelCount
    inputs = Array(repeating: Input(isAttached: true), count: inputCount)
  }

  /// Returns the sample at a position: 24 bits, never 0, deterministic.
  static func sample(_ streamFrame: StreamFrame, channel: Int) -> Float {
    let hash = SeededGenerator.mix(UInt64(streamFrame.stream) << 40 ^ UInt64(streamFrame.frame) << 8 ^ UInt64(channel))
    return Float(Int32(truncatingIfNeeded: hash >> 32) >> 8 | 1) / 8_388_608
  }

  // MARK: - Commands

  mutating func applyCommands() {
    guard !pending.isEmpty else { return }
    for command in pending { apply(command) }
    pending = []
    limitFrame = renderedFrame
  }

  private mutating func apply(_ command: Command) {
    switch command {
    case .reattach(let input):
      inputs[input] = Input(isAttached: true)
    case .setRunning(let isRunning, let startFrame, let input):
      inputs[input].isRunning = isRunning
      inputs[input].startFrame = startFrame
      inputs[input].hasEnded = false
      if !isRunning || startFrame > renderedFrame { inputs[input].fades = [] }
    case .setStream(let streamFrame, let switchFade, let input):
      if !switchFade.isNone, inputs[input].isRunning, inputs[input].startFrame <= renderedFrame {
        inputs[input].start(switchFade, at: renderedFrame)
      } else {
        inputs[input].fades = []
      }
      inputs[input].position = streamFrame
      inputs[input].schedule = nil
      inputs[input].hasEnded = false
      if let streamFrame { streams[streamFrame.stream].wasUsed = true }
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
    case .setGain(let gain, let count, let input): inputs[input].volume.move(to: gain, at: renderedFrame, over: count)
    case .setMuted(let isMuted, let count, let input):
      inputs[input].mute.move(to: isMuted ? 0 : 1, at: renderedFrame, over: count)
    case .setPan(let pan, let count, let input):
      inputs[input].sides[0].move(to: pan > 0 ? 0 : 1, at: renderedFrame, over: count)
      inputs[input].sides[1].move(to: pan < 0 ? 0 : 1, at: renderedFrame, over: count)
    case .setMetering(let isEnabled, let input): inputs[input].meterBegin = isEnabled ? renderedFrame : nil
    }
  }

  // MARK: - Rendering

  mutating func render(frameCount: Int) -> [Float] {
    applyCommands()
    var block: [Float] = []
    for _ in 0..<frameCount {
      past.append(inputs)
      audible.append(inputs.indices.map { step($0) })
      parts.append(inputs.indices.map { audibleParts($0) })
      mix(frame: past.count - 1)
      block += output[past.count - 1]
    }
    return block
  }

  /// Renders one frame of one input.
  private mutating func step(_ index: Int) -> StreamFrame? {
    // `past` already includes the frame that is being rendered.
    guard inputs[index].isRunning, inputs[index].startFrame < renderedFrame, var position = inputs[index].position
    else { return nil }
    if let schedule = inputs[index].schedule, schedule.atFrame == position.frame {
      position = schedule.next
      inputs[index].switchToScheduledStream(schedule, at: renderedFrame - 1)
    }
    let end = streams[position.stream].end ?? .max
    guard position.frame < min(streams[position.stream].written, end) else {
      if position.frame >= end { inputs[index].hasEnded = true }
      return nil
    }
    inputs[index].position?.frame += 1
    return position
  }

  /// Returns the streams that an input plays in the newest frame, with their gains before pan.
  private func audibleParts(_ index: Int) -> [Part] {
    let input = inputs[index]
    let frame = renderedFrame - 1
    guard input.isRunning else { return [] }
    let common = input.volume.value(at: frame) * input.mute.value(at: frame)
    var parts: [Part] = []
    if let streamFrame = audible[Int(frame)][index] {
      parts.append(Part(streamFrame: streamFrame, factor: common * (input.fades.last?.incoming.value(at: frame) ?? 1)))
    }
    for fade in input.fades where frame < fade.outgoing.startFrame + fade.outgoing.frameCount {
      var streamFrame = fade.streamFrame
      streamFrame.frame += frame - fade.outgoing.startFrame
      let stream = streams[streamFrame.stream]
      guard streamFrame.frame < min(stream.written, stream.end ?? .max) else { continue }
      parts.append(Part(streamFrame: streamFrame, factor: common * fade.outgoing.value(at: frame)))
    }
    return parts
  }

  private mutating func mix(frame: Int) {
    var sums = [Float](repeating: 0, count: channelCount)
    var added: [[Float]] = []
    for index in inputs.indices {
      let input = inputs[index]
      var contribution = [Float](repeating: 0, count: channelCount)
      for part in parts[frame][index] {
        for channel in 0..<channelCount {
          let side = channelCount == 2 ? input.sides[channel].value(at: Int64(frame)) : 1
          let sample = Self.sample(part.streamFrame, channel: channel) * (part.factor * side)
          contribution[channel] += sample
          // Metered audio is first added up separately.
          if input.meterBegin == nil { sums[channel] += sample }
        }
      }
      if input.meterBegin != nil { for channel in 0..<channelCount { sums[channel] += contribution[channel] } }
      added.append(contribution)
    }
    contributions.append(added)
    output.append(sums)
  }

  mutating func rewind(toFrame frame: Int64) -> Int64 {
    let reached = min(max(frame, limitFrame), renderedFrame)
    if reached < renderedFrame {
      inputs = past[Int(reached)]
      // A switch at exactly this frame stays. An input that waits for its start has not switched.
      for (index, input) in inputs.enumerated() where input.isRunning && input.startFrame <= reached {
        guard let schedule = input.schedule, schedule.atFrame == input.position?.frame else { continue }
        inputs[index].switchToScheduledStream(schedule, at: reached)
      }
      let count = past.count - Int(reached)
      past.removeLast(count)
      audible.removeLast(count)
      parts.removeLast(count)
      contributions.removeLast(count)
      output.removeLast(count)
    }
    return reached
  }

  mutating func release(heardFrame frame: Int64) {
    while heardFrame < min(frame, renderedFrame) {
      clippedSampleCount += output[Int(heardFrame)].count { $0.magnitude > 1 }
      heardFrame += 1
    }
    limitFrame = max(limitFrame, heardFrame)
  }

  // MARK: - Queries

  /// Whether no active input lacks samples in the next `frameCount` frames.
  func isReady(frameCount: Int) -> Bool {
    var copy = self
    _ = copy.render(frameCount: frameCount)
    let first = Int(renderedFrame)
    for frame in first..<first + frameCount {
      let after = frame + 1 < copy.past.count ? copy.past[frame + 1] : copy.inputs
      for (index, input) in after.enumerated()
      where input.isActive && input.startFrame <= frame && copy.audible[frame][index] == nil {
        return false
      }
    }
    return true
  }

  /// Whether the core may still need to read this stream.
  func isNeeded(stream: Int) -> Bool {
    inputs.contains { $0.position?.stream == stream || $0.schedule?.next.stream == stream }
      || neededFrames.contains { $0.stream == stream }
  }

  /// The positions that have not been heard; for outgoing streams, only those that may be rendered again.
  private var neededFrames: [StreamFrame] {
    var frames: [StreamFrame] = []
    for frame in Int(heardFrame)..<past.count {
      for streamFrame in audible[frame] { if let streamFrame { frames.append(streamFrame) } }
      guard frame >= Int(limitFrame) else { continue }
      for parts in parts[frame] where parts.count > 1 { for part in parts { frames.append(part.streamFrame) } }
      for (index, parts) in parts[frame].enumerated() where parts.count == 1 && audible[frame][index] == nil {
        frames.append(parts[0].streamFrame)
      }
    }
    return frames
  }

  /// Returns the frame after the last heard frame of a stream, and the first frame that may be heard again.
  func heardLimits(stream: Int) -> (heard: Int64, needed: Int64) {
    let heard = audible[..<Int(heardFrame)].joined().compactMap { $0 }.filter { $0.stream == stream }
    let needed = neededFrames.filter { $0.stream == stream }
    return ((heard.map(\.frame).max() ?? -1) + 1, needed.map(\.frame).min() ?? .max)
  }

}
