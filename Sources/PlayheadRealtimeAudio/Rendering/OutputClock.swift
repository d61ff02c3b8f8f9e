import PlayheadMediaCore
import Synchronization

/// The clock of one output: maps host time to the output frame that is being heard.
///
/// The sink's side publishes the device's position. Between two publications the clock is extrapolated at the output's
/// sample rate, and never beyond the rendered frames. A sequence counter guards the atomics: readers retry, and no
/// thread waits.
///
/// Threading: `publish` on the sink's side only, `snapshot` on any thread.
public final class OutputClock: Sendable {
  /// The state of the clock at one moment.
  public struct Snapshot: Sendable, Hashable {
    /// The output frame heard at `hostTime`.
    public var heardFrame: Int64
    /// The instant at which `heardFrame` is heard.
    public var hostTime: HostTime
    /// Whether the device runs. A clock that does not run is paused.
    public var isRunning: Bool
    /// The frame after the last rendered one; nothing later can have been heard.
    public var renderedFrame: Int64
    /// Frames per second, in Hz.
    public var sampleRateHz: Int

    /// Returns the output frame heard at `time`: extrapolated, at least 0, at most `renderedFrame`.
    public func heardFrame(at time: HostTime) -> Int64 {
      var frame = heardFrame
      if isRunning {
        let elapsed = Int128(time.nanoseconds(since: hostTime)) * Int128(sampleRateHz)
        frame = Int64(clamping: Int128(heardFrame) + elapsed.floorDivided(by: 1_000_000_000))
      }
      return max(0, min(frame, renderedFrame))
    }

    /// Returns the first frame that is heard at or after `time`, if the clock continues as it is; nil when it is
    /// paused.
    public func frame(heardAt time: HostTime) -> Int64? {
      guard isRunning else { return nil }
      let elapsed = Int128(time.nanoseconds(since: hostTime)) * Int128(sampleRateHz)
      return Int64(clamping: Int128(heardFrame) + elapsed.ceilDivided(by: 1_000_000_000))
    }

    /// Returns the first time at which `frame` counts as heard, if the clock continues as it is; nil when it is paused.
    public func hostTime(ofFrame frame: Int64) -> HostTime? {
      guard isRunning else { return nil }
      let nanoseconds = ((Int128(frame) - Int128(heardFrame)) * 1_000_000_000).ceilDivided(by: Int128(sampleRateHz))
      return hostTime.advanced(byNanoseconds: Int64(clamping: nanoseconds))
    }
  }

  /// The clock's values, in separate storage, so that the sink's side writes them without changing a reference count.
  struct Storage: ~Copyable {
    let sequence = Atomic<UInt64>(0)
    let heardFrame = Atomic<Int64>(0)
    let hostTime = Atomic<Int64>(0)
    let isRunning = Atomic<Bool>(false)
    let renderedFrame = Atomic<Int64>(0)
  }

  /// The number of output frames per second.
  public let sampleRateHz: Int
  nonisolated(unsafe) let storage: UnsafeMutablePointer<Storage>

  /// Creates a clock that does not run.
  public init(sampleRateHz: Int) {
    self.sampleRateHz = sampleRateHz
    storage = .allocate(capacity: 1)
    storage.initialize(to: Storage())
  }

  deinit {
    storage.deinitialize(count: 1)
    storage.deallocate()
  }

  /// Publishes that `frame` is heard at `time`, and whether the clock runs from then on.
  @_noAllocation
  public func publish(heardFrame frame: Int64, at time: HostTime, isRunning running: Bool) {
    let next = storage.pointee.sequence.load(ordering: .relaxed) &+ 1
    storage.pointee.sequence.store(next, ordering: .relaxed)
    atomicMemoryFence(ordering: .releasing)
    storage.pointee.heardFrame.store(frame, ordering: .relaxed)
    storage.pointee.hostTime.store(time.nanoseconds, ordering: .relaxed)
    storage.pointee.isRunning.store(running, ordering: .relaxed)
    storage.pointee.sequence.store(next &+ 1, ordering: .releasing)
  }

  /// Returns a consistent copy of the latest publication.
  public func snapshot() -> Snapshot {
    while true {
      let before = storage.pointee.sequence.load(ordering: .acquiring)
      let frame = storage.pointee.heardFrame.load(ordering: .relaxed)
      let time = storage.pointee.hostTime.load(ordering: .relaxed)
      let running = storage.pointee.isRunning.load(ordering: .relaxed)
      atomicMemoryFence(ordering: .acquiring)
      if before & 1 == 0, storage.pointee.sequence.load(ordering: .relaxed) == before {
        return Snapshot(
          heardFrame: frame, hostTime: HostTime(nanoseconds: time), isRunning: running,
          renderedFrame: storage.pointee.renderedFrame.load(ordering: .acquiring), sampleRateHz: sampleRateHz)
      }
    }
  }
}

extension Int128 {
  /// Quotient rounded toward negative infinity; `divisor` is positive.
  func floorDivided(by divisor: Int128) -> Int128 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }

  /// Quotient rounded toward positive infinity; `divisor` is positive.
  func ceilDivided(by divisor: Int128) -> Int128 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder > 0 ? quotient + 1 : quotient
  }
}
