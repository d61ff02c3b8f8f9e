import PlayheadMediaCore
import PlayheadPlayerModel
import PlayheadRealtimeAudio

/// The value of a property, or a change of it.
public struct PropertyChange<Value: Sendable & Equatable>: Sendable, Equatable {
  /// The value before; nil for the first element of a sequence.
  public let old: Value?
  /// The value now, or after the change.
  public let new: Value
  /// Why it changed; nil for the first element of a sequence.
  public let cause: ChangeCause?

  /// Creates a change.
  public init(old: Value?, new: Value, cause: ChangeCause?) { (self.old, self.new, self.cause) = (old, new, cause) }
}

/// Observation of a player as sequences. A sequence ends when the player is closed or released, or when the iterating
/// task is cancelled.
///
/// A handler on the main actor or on an executor:
///
/// <!-- listing: observe-main-actor -->
/// ```swift
/// let observation = try await player.times(forInterval: .milliseconds(100)).observe(onMainActor: { observation in
///   showTime(observation.time)
/// })
/// observation.cancel()
/// ```
extension PlayerControl {
  /// A property of the player: its value now, and then each change, in order.
  ///
  /// <!-- listing: observe-changes -->
  /// ```swift
  /// for await change in await player.changes(of: \.timeControlStatus) {
  ///   print(change.new, change.cause as Any)
  /// }
  /// ```
  ///
  /// A consumer that is more than 1,024 changes late misses the oldest; the next `old` is then not the last `new`.
  public func changes<Value: Sendable & Equatable>(
    of property: any KeyPath<PlayerState, Value> & Sendable
  ) -> AsyncStream<PropertyChange<Value>> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: PropertyChange<Value>.self, bufferingPolicy: .bufferingNewest(PlayerStreams.capacity))
    continuation.yield(PropertyChange(old: nil, new: state[keyPath: property], cause: nil))
    let token = core.calls.addStateObserver { change in
      let (old, new) = (change.old[keyPath: property], change.new[keyPath: property])
      if old != new { continuation.yield(PropertyChange(old: old, new: new, cause: change.cause)) }
    }
    PlayerStreams.connect(continuation, to: token, of: core)
    return stream
  }

  /// Each change of the state from now on, with its cause, in order. A consumer that is more than 1,024 changes late
  /// misses the oldest.
  public func changes() -> AsyncStream<PlayerChange> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: PlayerChange.self, bufferingPolicy: .bufferingNewest(PlayerStreams.capacity))
    let token = core.calls.addStateObserver { continuation.yield($0) }
    PlayerStreams.connect(continuation, to: token, of: core)
    return stream
  }

  /// The times of ``addPeriodicTimeObserver(forInterval:onEnd:using:)``. A consumer that is more than 1,024 times late
  /// misses the oldest.
  ///
  /// <!-- listing: observe-times -->
  /// ```swift
  /// for await observation in try await player.times(forInterval: .seconds(0.5)) {
  ///   print(observation.time, observation.reason)
  /// }
  /// ```
  ///
  /// - Parameter interval: At least 1 ms.
  /// - Throws: `invalidTime`; `invalidState` if the player is closed.
  public func times(forInterval interval: MediaTime) throws(MediaError) -> AsyncStream<TimeObservation> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: TimeObservation.self, bufferingPolicy: .bufferingNewest(PlayerStreams.capacity))
    let token = try core.timeObservers.addPeriodic(
      interval: interval, onEnd: { continuation.finish() }, { continuation.yield($0) })
    continuation.onTermination = { [weak core] _ in PlayerStreams.removeTimeObserver(token, of: core) }
    return stream
  }

  /// The times of ``addBoundaryTimeObserver(forTimes:itemID:includesSeeks:onEnd:using:)-([MediaTime],_,_,_,_)``. A
  /// consumer that is more than 1,024 times late misses the oldest.
  ///
  /// - Throws: `invalidTime`; `invalidArgument` without times; `noSuchItem`; `invalidState` if the player is closed.
  public func times(
    atBoundaries times: [MediaTime], itemID: PlayerItem.ID? = nil, includesSeeks: Bool = false
  ) throws(MediaError) -> AsyncStream<TimeObservation> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: TimeObservation.self, bufferingPolicy: .bufferingNewest(PlayerStreams.capacity))
    let token = try core.timeObservers.addBoundary(
      times: BoundaryTimes(times), itemID: itemID, includesSeeks: includesSeeks, onEnd: { continuation.finish() },
      { continuation.yield($0) })
    continuation.onTermination = { [weak core] _ in PlayerStreams.removeTimeObserver(token, of: core) }
    return stream
  }
}

/// The connection of sequences to their observers.
private enum PlayerStreams {
  /// The number of elements that wait for a consumer.
  static let capacity = 1_024

  /// Ends the sequence with the player, and the observer with the sequence.
  static func connect<Element>(
    _ continuation: AsyncStream<Element>.Continuation, to token: ObserverToken, of core: PlayerCore
  ) {
    core.calls.addStreamFinisher(for: token) { continuation.finish() }
    continuation.onTermination = { [weak core] _ in
      guard let core else { return }
      core.engine.loop.execute { core.calls.removeObserver(token) }
    }
  }

  static func removeTimeObserver(_ token: ObserverToken, of core: PlayerCore?) {
    guard let core else { return }
    // It has already ended if the player was closed.
    core.engine.loop.execute { core.timeObservers.removeIfPresent(token) }
  }
}
