import PlayheadMediaCore
import Synchronization
import Testing

@testable import PlayheadRealtimeAudio

/// A `RenderCore` whose two sides both belong to the test.
final class RenderRig {
  let core: RenderCore
  /// The streams, which the engine must keep alive: the sink's side retains none.
  private var streams: [RenderStream] = []

  init(channelCount: Int = 1, sampleRateHz: Int = 48_000) {
    core = RenderCore(format: AudioFormat(sampleRateHz: sampleRateHz, channelCount: channelCount))
  }

  /// Attaches an input that plays `stream` from its start, beginning with the next rendered frame.
  func play(_ stream: RenderStream) throws -> Int {
    let input = try #require(core.attachInput())
    core.setStream(keep(stream), fromFrame: 0, input: input)
    core.setRunning(true, input: input)
    core.postCommands()
    return input
  }

  /// Keeps `stream` alive as long as the core.
  func keep(_ stream: RenderStream) -> RenderStream {
    streams.append(stream)
    return stream
  }

  /// Returns one of the kept streams, in the order of `keep`.
  func stream(_ index: Int) -> RenderStream { streams[index] }

  /// Posts commands for the next render.
  func post(_ body: (RenderCore) -> Void) {
    body(core)
    core.postCommands()
  }

  func render(_ frameCount: Int) -> [Float] {
    var block = [Float](repeating: .nan, count: frameCount * core.format.channelCount)
    core.render(into: &block, frameCount: frameCount)
    return block
  }

  /// Returns all events since the last call: kind, output frame, stream frame.
  func events() -> [String] {
    var texts: [String] = []
    while let event = core.nextEvent() { texts.append(event.text) }
    return texts
  }

  /// Returns the streams retired since the last call; other events are discarded.
  func retiredStreams() -> [UInt64] {
    var streams: [UInt64] = []
    while let event = core.nextEvent() { if event.kind == .streamRetired { streams.append(event.streamID) } }
    return streams
  }
}

extension RenderEvent {
  var text: String {
    switch kind {
    case .streamRetired, .spaceAvailable, .scheduleMissed: "\(kind)"
    case .rewound: "\(kind) \(outputFrame)"
    default: "\(kind) \(outputFrame) \(streamFrame)"
    }
  }
}

extension RenderStream {
  /// Creates a stream that contains `samples`, and ends after them if `isEnded`.
  convenience init(_ samples: [Float], channelCount: Int = 1, capacityFrames: Int? = nil, isEnded: Bool = false) {
    let frameCount = samples.count / channelCount
    self.init(capacityFrames: capacityFrames ?? max(1, frameCount), channelCount: channelCount)
    _ = write(samples, frameCount: frameCount)
    if isEnded { end() }
  }

  func append(_ samples: [Float]) -> Int { write(samples, frameCount: samples.count / channelCount) }
}

/// Returns `count` different samples: consecutive integers from `first` on, divided by 2^23; none is 0.
func ramp(_ count: Int, from first: Int = 1) -> [Float] { (0..<count).map { Float(first + $0) / 8_388_608 } }

func silence(_ count: Int) -> [Float] { [Float](repeating: 0, count: count) }

/// A flag that one thread sets and others read, without a lock.
final class Flag: Sendable {
  private let value = Atomic<Bool>(false)

  var isSet: Bool { value.load(ordering: .acquiring) }

  func set() { value.store(true, ordering: .releasing) }
}
