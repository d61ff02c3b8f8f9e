import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The streams of one player, and the ends of the passes in them. A pure value, without mixer and clock.
///
/// A stream has up to four positions, one after another:
/// - `preparing`: the decode thread fills it, and the mixer does not have it.
/// - `queued`: it follows the end of a pass in an earlier stream. The mixer accepts a switch only in the stream that it
///   reads, so the stream waits until that earlier stream is read.
/// - `sounding`: the mixer reads it, or switches to it at an end in `outgoing`.
/// - `outgoing`: the mixer reads it, and then switches to `sounding`. With a fade, both are heard at once.
///
/// An operation that concerns the mixer returns what the caller has to do there.
struct StreamChain {
  private(set) var preparing: Generation?
  private(set) var queued: [(generation: Generation, pass: PassID)] = []
  private(set) var sounding: Generation?
  private(set) var outgoing: Generation?
  /// The ends of passes in all streams but the one that is prepared, in the order in which they are heard.
  private(set) var ends: [ItemEnd] = []
  /// The end that was reported last, or is being reported.
  private(set) var reportedEnd: ItemEnd?
  /// The transition after `reportedEnd`, until the next pass is heard.
  private(set) var openTransition: OpenTransition?

  /// A stream, and the generation of the decode thread that fills it.
  struct Generation {
    var number: UInt64
    var stream: RenderStream
    /// The cause of the time jump when the stream is heard; nil: no jump.
    var jumpCause: TimeJumpCause?
    /// Whether the generation continues the audible pass, decoded again from the current position.
    var isContinuation = false
    /// The rounding error carried over from rate changes: the item time of frame 0 minus the exact time of the change.
    var startError = MediaTime.zero
    /// The output frame at which the generation replaces the previous one, together with other players' generations.
    var sharedFrame: Int64?
    /// The audio that was trimmed before its passes, by pass index; passes without a trim are absent.
    var startTrims: [Int: EdgeTrim] = [:]
    /// The gains of items in the stream: written by the decode thread, or set later in the mixer.
    var gains: [PlayerItem.ID: Float] = [:]
    /// The timing of the generation's start.
    var trace: StartTrace
    /// The sample rate of its first item in Hz; known once it is prepared.
    var sourceRateHz: Int?
    /// The frame that a prepared continuation awaits before it starts; nil: none.
    var awaitedFrame: Int64?
  }

  /// The decoded end of a pass.
  struct ItemEnd {
    var streamID: UInt64
    var streamFrame: Int64
    var passID: PassID
    var itemID: PlayerItem.ID
    /// The reason why decoding broke off; nil at a regular end.
    var error: MediaError?
    /// The audio that was trimmed after the item's end.
    var trim = EdgeTrim.none
    /// The number of frames of this pass that are heard together with the following one, and that cross-fade.
    var overlapFrameCount: Int64 = 0
    var crossfade: Crossfade?
  }

  /// A transition whose end has been heard, and whose next pass has not.
  struct OpenTransition {
    var end: ItemEnd
    var toItemID: PlayerItem.ID
    /// The output frame of the end.
    var outputFrame: Int64
  }

  // MARK: - Lookup

  /// All generations, in the order in which they are heard.
  var generations: [Generation] {
    [outgoing, sounding].compactMap { $0 } + queued.map(\.generation) + [preparing].compactMap { $0 }
  }

  /// The generations that are heard, or follow without another request: all but the one that is prepared.
  var following: [Generation] { [outgoing, sounding].compactMap { $0 } + queued.map(\.generation) }

  /// The generations that the mixer has.
  var mixed: [Generation] { [outgoing, sounding].compactMap { $0 } }

  /// The last generation that is not being prepared.
  var newest: Generation? { queued.last?.generation ?? sounding }

  /// The stream that a generation fills; nil if it is no longer used.
  func stream(of number: UInt64) -> RenderStream? { generations.first { $0.number == number }?.stream }

  /// The generation in the mixer whose stream has an id.
  func mixedGeneration(ofStream id: UInt64) -> Generation? { mixed.first { $0.stream.id == id } }

  /// The end of a pass, if it is decoded.
  func end(of pass: PassID) -> ItemEnd? { ends.last { $0.passID == pass } }

  /// Whether a change of the audible pass is already on its way to the mixer.
  var hasPendingContinuation: Bool {
    outgoing != nil && sounding?.isContinuation == true || preparing?.isContinuation == true
      || queued.first?.generation.isContinuation == true
  }

  // MARK: - Values of generations

  /// Changes a generation, if it is still used.
  mutating func update(_ number: UInt64, _ change: (inout Generation) -> Void) {
    if preparing?.number == number { Self.change(&preparing, change) }
    if sounding?.number == number { Self.change(&sounding, change) }
    if outgoing?.number == number { Self.change(&outgoing, change) }
    for index in queued.indices where queued[index].generation.number == number { change(&queued[index].generation) }
  }

  /// Changes the generations that the mixer has.
  mutating func updateMixed(_ change: (inout Generation) -> Void) {
    Self.change(&outgoing, change)
    Self.change(&sounding, change)
  }

  private static func change(_ generation: inout Generation?, _ change: (inout Generation) -> Void) {
    guard var changed = generation else { return }
    generation = nil
    change(&changed)
    generation = changed
  }

  /// Returns the audio that was trimmed before a pass that is heard. Discards the trims of this pass and earlier ones.
  mutating func popStartTrim(ofPass index: Int, streamID: UInt64) -> EdgeTrim {
    var trim: EdgeTrim?
    updateMixed { generation in
      guard generation.stream.id == streamID else { return }
      trim = generation.startTrims[index]
      generation.startTrims = generation.startTrims.filter { $0.key > index }
    }
    return trim ?? .none
  }

  // MARK: - Preparing and starting

  /// Begins to prepare a generation. Returns the stream that was being prepared before, which is no longer used.
  mutating func prepare(_ generation: Generation) -> RenderStream? {
    let former = preparing?.stream
    preparing = generation
    return former
  }

  /// A generation for the mixer.
  enum Start {
    /// The generation is heard from now on, in place of all others.
    case now(Generation)
    /// The generation is heard from an end in the stream that the mixer reads.
    case atEnd(Generation, ItemEnd, of: Generation)
  }

  /// Starts the prepared generation in place of all others. Nil if another one is being prepared.
  ///
  /// - Returns: The generation, and the queued streams, which are no longer used.
  mutating func commit(_ number: UInt64) -> (generation: Generation, unused: [RenderStream])? {
    guard let prepared = popPrepared(number) else { return nil }
    let unused = removeQueued(from: 0)
    replaceAll(with: prepared)
    return (prepared, unused)
  }

  /// Lets the prepared generation follow the end of a pass. Nil if another one is being prepared, or if the stream of
  /// the pass is not read yet: ``startQueued()`` returns the generation when the mixer reads that stream.
  mutating func splice(_ number: UInt64, after pass: PassID) -> Start? {
    guard let prepared = popPrepared(number) else { return nil }
    if outgoing == nil, queued.isEmpty { return start(prepared, after: pass) }
    queued.append((prepared, pass))
    return nil
  }

  /// Starts the next queued generation after the end of a pass was heard, if the mixer reads the stream that it
  /// follows.
  mutating func startQueued() -> Start? {
    if let outgoing, !ends.contains(where: { $0.streamID == outgoing.stream.id }) { self.outgoing = nil }
    guard outgoing == nil, !queued.isEmpty else { return nil }
    let (next, pass) = queued.removeFirst()
    return start(next, after: pass)
  }

  private mutating func start(_ next: Generation, after pass: PassID) -> Start {
    guard let sounding, let end = ends.last(where: { $0.passID == pass && $0.streamID == sounding.stream.id }) else {
      replaceAll(with: next)
      return .now(next)
    }
    outgoing = sounding
    self.sounding = next
    return .atEnd(next, end, of: sounding)
  }

  private mutating func popPrepared(_ number: UInt64) -> Generation? {
    guard let prepared = preparing, prepared.number == number else { return nil }
    preparing = nil
    return prepared
  }

  /// Only `next` and the queued streams remain.
  private mutating func replaceAll(with next: Generation) {
    outgoing = nil
    sounding = next
    ends.removeAll { end in
      end.streamID != next.stream.id && !queued.contains { $0.generation.stream.id == end.streamID }
    }
  }

  // MARK: - Ends

  mutating func append(_ end: ItemEnd) { ends.append(end) }

  /// Moves the end of a pass, because the following pass begins before it, in a cross-fade.
  mutating func moveEnd(of pass: PassID, toFrame frame: Int64) {
    if let index = ends.lastIndex(where: { $0.passID == pass }) { ends[index].streamFrame = frame }
  }

  /// Records that the end of a pass is heard together with the following one.
  mutating func setOverlap(of frameCount: Int64, _ crossfade: Crossfade?, afterPass pass: PassID) {
    guard let index = ends.lastIndex(where: { $0.passID == pass }) else { return }
    (ends[index].overlapFrameCount, ends[index].crossfade) = (frameCount, frameCount > 0 ? crossfade : nil)
  }

  /// Removes the first end, because it was heard, and stores it as the reported one.
  mutating func popHeardEnd() {
    reportedEnd = ends.removeFirst()
  }

  /// The reported end is heard again: the player is paused at it.
  mutating func repeatReportedEnd() { if let reportedEnd { ends.insert(reportedEnd, at: 0) } }

  /// Begins the transition from the reported end to an item.
  mutating func beginTransition(to itemID: PlayerItem.ID, outputFrame: Int64) {
    guard let reportedEnd else { return }
    openTransition = OpenTransition(end: reportedEnd, toItemID: itemID, outputFrame: outputFrame)
  }

  mutating func endTransition() { openTransition = nil }

  // MARK: - Cutting

  /// The consequences of a cut for streams, the timeline and the mixer.
  struct Cut {
    /// Streams that end earlier, each with its end.
    var ended: [(stream: RenderStream, frame: Int64)] = []
    /// Streams that are no longer used, and that the mixer never had.
    var unused: [RenderStream] = []
    /// The end in `outgoing` whose switch to `sounding` is obsolete: the mixer should cancel it (`cancelSwitch`).
    var obsoleteSwitch: (from: RenderStream, frame: Int64)?
  }

  /// Removes all audio after the end of a pass. Nil if the end is not known.
  mutating func cut(after pass: PassID) -> Cut? {
    guard let index = ends.lastIndex(where: { $0.passID == pass }) else { return nil }
    let end = ends[index]
    ends.removeLast(ends.count - index - 1)
    if let position = queued.firstIndex(where: { $0.generation.stream.id == end.streamID }) {
      let stream = queued[position].generation.stream
      return Cut(ended: [(stream, end.streamFrame)], unused: removeQueued(from: position + 1))
    }
    guard let generation = mixedGeneration(ofStream: end.streamID) else { return Cut() }
    var cut = cutSwitch(in: generation, at: end.streamFrame)
    cut.ended.insert((generation.stream, end.streamFrame), at: 0)
    return cut
  }

  /// Ends a pass at a frame before its decoded end, and removes all audio after it. Nil if the stream is not used.
  mutating func shorten(_ pass: PassID, of itemID: PlayerItem.ID, atFrame frame: Int64) -> Cut? {
    guard let stream = following.first(where: { $0.number == pass.generation })?.stream else { return nil }
    end(pass, of: itemID, in: stream, atFrame: frame)
    return cut(after: pass)
  }

  /// Ends a pass at a frame that will be heard soon. Its audio continues until the following stream is available. Nil
  /// if the mixer does not have the stream.
  mutating func split(_ pass: PassID, of itemID: PlayerItem.ID, atFrame frame: Int64) -> Cut? {
    guard let generation = mixed.first(where: { $0.number == pass.generation }) else { return nil }
    end(pass, of: itemID, in: generation.stream, atFrame: frame)
    return cutSwitch(in: generation, at: frame)
  }

  /// The switch was cancelled in time: the mixer continues to read `outgoing`.
  mutating func cancelSwitch() {
    sounding = outgoing
    outgoing = nil
  }

  /// Replaces the ends of this pass and of all later ones by one end.
  private mutating func end(_ pass: PassID, of itemID: PlayerItem.ID, in stream: RenderStream, atFrame frame: Int64) {
    if let index = ends.firstIndex(where: { $0.streamID == stream.id && $0.passID.index >= pass.index }) {
      ends.removeLast(ends.count - index)
    }
    ends.append(ItemEnd(streamID: stream.id, streamFrame: frame, passID: pass, itemID: itemID))
  }

  /// Removes the queued streams, and the one to which the mixer would switch from `generation`. If the mixer has
  /// already switched, the player is silent from the switch on.
  private mutating func cutSwitch(in generation: Generation, at frame: Int64) -> Cut {
    var cut = Cut(unused: removeQueued(from: 0))
    guard let outgoing, outgoing.stream.id == generation.stream.id, let sounding else { return cut }
    cut.ended = [(sounding.stream, 0)]
    cut.obsoleteSwitch = (outgoing.stream, frame)
    return cut
  }

  private mutating func removeQueued(from index: Int) -> [RenderStream] {
    defer { queued.removeLast(queued.count - index) }
    return queued[index...].map(\.generation.stream)
  }

  // MARK: - End of all streams

  /// Removes all streams.
  ///
  /// - Returns: The streams that the mixer never had.
  mutating func removeAll() -> [RenderStream] {
    let unused = (queued.map(\.generation) + [preparing].compactMap { $0 }).map(\.stream)
    let reportedEnd = reportedEnd
    self = StreamChain()
    self.reportedEnd = reportedEnd
    return unused
  }
}
