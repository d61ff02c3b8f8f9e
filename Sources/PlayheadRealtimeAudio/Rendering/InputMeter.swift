import Synchronization

/// The levels of an input in one window of output frames.
package struct MeterWindow: Sendable, Hashable {
  /// The window's half-open range of output frames.
  package var frames: Range<Int64>
  /// The largest magnitude of each channel; 1 is full scale. Samples that are not finite are ignored.
  package var peaks: [Float]
  /// The mean square of each channel over the window.
  package var meanSquares: [Float]
}

/// Measures the audio that an input adds to the output, after gain and pan. The engine reads the levels when the audio
/// is heard. The sink's side measures windows of 10 ms that begin at multiples of their length.
///
/// A table has a slot for each of the last 512 windows, so the engine needs no queue and no wakeup. Rendering again
/// overwrites a slot, and a late reader finds the newest window. The input's last samples are kept, because a rewind
/// may end in the middle of a window.
///
/// Threading: `window` on the engine's side; the storage's methods on the sink's side.
final class InputMeter: Sendable {
  static let windowsPerSecond = 100
  private static let windowCapacity: Int64 = 512

  nonisolated(unsafe) let storage: UnsafeMutablePointer<Storage>
  /// The table of windows. The engine reads it without accessing `storage`, which the sink's side changes concurrently.
  private nonisolated(unsafe) let table: Table

  /// The sequence number that guards the values of one window, as in `OutputClock`.
  fileprivate struct Slot: ~Copyable {
    /// The number of the window; -1 while it is being written.
    let number = Atomic<Int64>(-1)
  }

  /// The windows, shared by both sides: atomics at constant addresses.
  fileprivate struct Table {
    let channelCount: Int
    let windowFrames: Int
    let slots: UnsafeMutablePointer<Slot>
    let values: UnsafeMutablePointer<Atomic<UInt64>>

    func read(_ window: Int64) -> MeterWindow? {
      let slot = Int(window & (InputMeter.windowCapacity - 1))
      let length = Int64(windowFrames)
      var result = MeterWindow(frames: window * length..<(window + 1) * length, peaks: [], meanSquares: [])
      while true {
        guard slots[slot].number.load(ordering: .acquiring) == window else { return nil }
        result.peaks.removeAll(keepingCapacity: true)
        result.meanSquares.removeAll(keepingCapacity: true)
        for channel in 0..<channelCount {
          let bits = values[slot * channelCount + channel].load(ordering: .relaxed)
          result.peaks.append(Float(bitPattern: UInt32(bits >> 32)))
          result.meanSquares.append(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
        }
        atomicMemoryFence(ordering: .acquiring)
        if slots[slot].number.load(ordering: .relaxed) == window { return result }
      }
    }
  }

  struct Storage: ~Copyable {
    let channelCount: Int
    let windowFrames: Int
    private let capacityFrames: Int
    private let samples: UnsafeMutablePointer<Float>
    private let slots: UnsafeMutablePointer<Slot>
    /// For each window and channel: the peak's bits in the upper half, the mean square's bits in the lower half.
    private let values: UnsafeMutablePointer<Atomic<UInt64>>
    /// The first frame in `samples`, and the one after the last.
    private var firstFrame: Int64 = 0
    private var endFrame: Int64 = 0
    /// The window that is written next.
    private var window: Int64 = 0

    init(channelCount: Int, sampleRateHz: Int) {
      self.channelCount = channelCount
      windowFrames = max(1, sampleRateHz / InputMeter.windowsPerSecond)
      // At least two seconds: more than a device buffers.
      var capacity = 1_024
      while capacity < sampleRateHz &* 2 { capacity &<<= 1 }
      capacityFrames = capacity
      samples = .allocate(capacity: capacity * channelCount)
      slots = .allocate(capacity: Int(InputMeter.windowCapacity))
      values = .allocate(capacity: Int(InputMeter.windowCapacity) * channelCount)
      for index in 0..<Int(InputMeter.windowCapacity) { (slots + index).initialize(to: Slot()) }
      for index in 0..<Int(InputMeter.windowCapacity) * channelCount { (values + index).initialize(to: Atomic(0)) }
    }

    deinit {
      slots.deinitialize(count: Int(InputMeter.windowCapacity))
      values.deinitialize(count: Int(InputMeter.windowCapacity) * channelCount)
      slots.deallocate()
      values.deallocate()
      samples.deallocate()
    }

    // MARK: - Sink's side

    /// Starts measuring at `frame`.
    @_noAllocation
    mutating func start(at frame: Int64) {
      firstFrame = frame
      endFrame = frame
      window = frame / Int64(windowFrames)
    }

    /// Returns the contiguous region for the next frames, at most `frameCount` frames.
    @_noAllocation
    func writableRegion(atMost frameCount: Int) -> (samples: UnsafeMutablePointer<Float>, count: Int) {
      let offset = Int(truncatingIfNeeded: endFrame) & (capacityFrames &- 1)
      // At most half the buffer ahead, so that no frame is overwritten before its window has been measured.
      let count = min(min(frameCount, capacityFrames &- offset), capacityFrames / 2)
      return (samples + offset &* channelCount, count)
    }

    /// Marks the region's first `frameCount` frames as written.
    @_noAllocation
    mutating func commit(frameCount: Int) {
      endFrame &+= Int64(frameCount)
      firstFrame = max(firstFrame, endFrame &- Int64(capacityFrames))
      while (window &+ 1) &* Int64(windowFrames) <= endFrame {
        measure()
        window &+= 1
      }
    }

    /// Adds `frameCount` silent frames.
    @_noAllocation
    mutating func appendSilence(frameCount: Int) {
      var done = 0
      while done < frameCount {
        let region = writableRegion(atMost: frameCount &- done)
        region.samples.update(repeating: 0, count: region.count &* channelCount)
        commit(frameCount: region.count)
        done &+= region.count
      }
    }

    /// Discards the frames rendered from `frame` on.
    @_noAllocation
    mutating func rewind(toFrame frame: Int64) {
      endFrame = min(endFrame, frame)
      firstFrame = min(firstFrame, frame)
      window = min(window, frame / Int64(windowFrames))
    }

    @_noAllocation
    private func measure() {
      let index = Int(window & (InputMeter.windowCapacity &- 1))
      let slot = slots + index
      slot.pointee.number.store(-1, ordering: .relaxed)
      atomicMemoryFence(ordering: .releasing)
      let first = max(window &* Int64(windowFrames), firstFrame)
      let end = (window &+ 1) &* Int64(windowFrames)
      for channel in 0..<channelCount {
        var peak: Float = 0
        var sum: Double = 0
        var frame = first
        while frame < end {
          let offset = Int(truncatingIfNeeded: frame) & (capacityFrames &- 1)
          let magnitude = samples[offset &* channelCount &+ channel].magnitude
          if magnitude <= .greatestFiniteMagnitude {
            if magnitude > peak { peak = magnitude }
            sum += Double(magnitude) * Double(magnitude)
          }
          frame &+= 1
        }
        let meanSquare = first < end ? Float(sum / Double(end &- first)) : 0
        values[index &* channelCount &+ channel].store(
          UInt64(peak.bitPattern) &<< 32 | UInt64(meanSquare.bitPattern), ordering: .relaxed)
      }
      slot.pointee.number.store(window, ordering: .releasing)
    }

    // MARK: - Engine's side

    fileprivate var table: Table {
      Table(channelCount: channelCount, windowFrames: windowFrames, slots: slots, values: values)
    }
  }

  init(channelCount: Int, sampleRateHz: Int) {
    storage = .allocate(capacity: 1)
    storage.initialize(to: Storage(channelCount: channelCount, sampleRateHz: sampleRateHz))
    table = storage.pointee.table
  }

  deinit {
    storage.deinitialize(count: 1)
    storage.deallocate()
  }

  /// Returns the values of a window; nil when it has not been rendered, or has been overwritten.
  func window(_ number: Int64) -> MeterWindow? { table.read(number) }
}
