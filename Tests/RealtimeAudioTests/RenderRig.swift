import MediaCore
import Synchronization
import Testing

@testable import RealtimeAudio

/// A `RenderCore` with both of its sides in one hand.
final class RenderRig {
  let core: RenderCore
  /// What the engine has to keep alive: render holds no references.
  private var streams: [RenderStream] = []

  init(channelCount: Int = 1, sampleRateHz: Int = 48_000) {
    core = RenderCore(format: AudioFormat(sampleRateHz: sampleRateHz, channelCount: channelCount))
  }

  /// A new input that sounds `stream` from its start with the next rendered frame.
  func play(_ stream: RenderStream) throws -> Int {
    let input = try #require(core.attachInput())
    core.setStream(keep(stream), fromFrame: 0, input: input)
    core.setRunning(true, input: input)
    core.postCommands()
    return input
  }

  /// Keeps `stream` as long as the core.
  func keep(_ stream: RenderStream) -> RenderStream {
    streams.append(stream)
    return stream
  }

  /// One of those that it keeps, in the order in which they came.
  func stream(_ index: Int) -> RenderStream { streams[index] }

  /// Posts commands, for the next render.
  func post(_ body: (RenderCore) -> Void) {
    body(core)
    core.postCommands()
  }

  func render(_ frameCount: Int) -> [Float] {
    var block = [Float](repeating: .nan, count: frameCount * core.format.channelCount)
    core.render(into: &block, frameCount: frameCount)
    return block
  }

  /// Everything that happened since the last call: kind, output frame, stream frame.
  func events() -> [String] {
    var texts: [String] = []
    while let event = core.nextEvent() { texts.append(event.text) }
    return texts
  }

  /// The streams that came back since the last call; other events are dropped.
  func retiredStreams() -> [UInt64] {
    var streams: [UInt64] = []
    while let event = core.nextEvent() { if event.kind == .streamRetired { streams.append(event.streamID) } }
    return streams
  }
}

extension RenderEvent {
  var text: String {
    switch kind {
    case .streamRetired, .roomInStream, .scheduleMissed: "\(kind)"
    case .rewound: "\(kind) \(outputFrame)"
    default: "\(kind) \(outputFrame) \(streamFrame)"
    }
  }
}

extension RenderStream {
  /// A stream that holds `samples`, and ends after them if `isEnded`.
  convenience init(_ samples: [Float], channelCount: Int = 1, capacityFrames: Int? = nil, isEnded: Bool = false) {
    let frameCount = samples.count / channelCount
    self.init(capacityFrames: capacityFrames ?? max(1, frameCount), channelCount: channelCount)
    _ = write(samples, frameCount: frameCount)
    if isEnded { end() }
  }

  func append(_ samples: [Float]) -> Int { write(samples, frameCount: samples.count / channelCount) }
}

/// `count` different samples, none of them 0, all of them integers over 2^23 from `first` on.
func ramp(_ count: Int, from first: Int = 1) -> [Float] { (0..<count).map { Float(first + $0) / 8_388_608 } }

func silence(_ count: Int) -> [Float] { [Float](repeating: 0, count: count) }

/// A fact that one thread states and others read, without a lock.
final class Flag: Sendable {
  private let value = Atomic<Bool>(false)

  var isSet: Bool { value.load(ordering: .acquiring) }

  func set() { value.store(true, ordering: .releasing) }
}
