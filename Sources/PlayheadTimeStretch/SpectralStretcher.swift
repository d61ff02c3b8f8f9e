import PlayheadMediaCore

#if RubberBand
  import CPlayheadRubberBand

  /// A stretcher with Rubber Band's *finer* engine, which adjusts the phases of partials.
  ///
  /// Displacement: within 10 ms of output at the measured rates, 1/32 to 32.
  package final class SpectralStretcher: TimeStretcher {
    /// Whether this build contains the engine.
    package static let isAvailable = true

    package let format: AudioFormat
    package let rate: StretchRate
    package let historyFrameCount: Int
    /// The number of frames, audio or silence, that Rubber Band requires before the first frame.
    private let startPadFrameCount: Int
    private let state: RubberBandState
    private var queue: FrameQueue
    /// The input or output, per channel, `chunkFrames` each.
    private let channels: [UnsafeMutableBufferPointer<Float>]
    /// The number of output frames to discard before the first audible one.
    private var droppedFrameCount: Int
    private var hasBegun = false

    /// The number of frames that are processed at once.
    private static let chunkFrames = 1_024

    package init(format: AudioFormat, rate: StretchRate) throws(MediaError) {
      guard
        let state = rubberband_new(
          UInt32(format.sampleRateHz), UInt32(format.channelCount), shim_RubberBandOptions_realTimeFiner(),
          1 / rate.value, 1)
      else {
        throw MediaError(.conversionFailed, "not enough memory for a time stretcher", operation: "rubberband_new")
      }
      self.state = state
      self.format = format
      self.rate = rate
      rubberband_set_max_process_size(state, UInt32(Self.chunkFrames))
      startPadFrameCount = Int(rubberband_get_preferred_start_pad(state))
      // Rubber Band requires half a window. With half a window alone, the output fades in over about 5 ms.
      historyFrameCount = startPadFrameCount + Int(1_024 * max(1, rate.value / 2))
      droppedFrameCount = Int(rubberband_get_start_delay(state))
      queue = FrameQueue(channelCount: format.channelCount, rate: rate)
      channels = (0..<format.channelCount).map { _ in .allocate(capacity: Self.chunkFrames) }
      for channel in channels { channel.initialize(repeating: 0) }
    }

    deinit {
      rubberband_delete(state)
      for channel in channels { channel.deallocate() }
    }

    package func writeHistory(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError) {
      precondition(!hasBegun, "history must be written before other frames")
      hasBegun = true
      let count = min(frameCount, historyFrameCount)
      // Missing frames are silence.
      for channel in channels { channel.update(repeating: 0) }
      var missing = max(0, startPadFrameCount - count)
      // Rubber Band also outputs the history before the pad. Its length is rounded, which is accurate to half a frame.
      droppedFrameCount += Int((Double(max(0, count - startPadFrameCount)) / rate.value).rounded())
      while missing > 0 {
        let chunk = min(missing, Self.chunkFrames)
        process(chunk, isLast: false)
        missing -= chunk
      }
      process(samples + (frameCount - count) * format.channelCount, frameCount: count)
    }

    package func write(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError) {
      if !hasBegun { try writeHistory(samples, frameCount: 0) }
      queue.countInput(frameCount)
      process(samples, frameCount: frameCount)
    }

    package func finish() throws(MediaError) {
      if hasBegun {
        flushWithSilence()
        process(0, isLast: true)
      }
      queue.finish()
    }

    /// Appends silence so that Rubber Band delivers all frames. Without the silence it retains the input that its
    /// windows have not passed yet, about 0.1 s.
    private func flushWithSilence() {
      for channel in channels { channel.update(repeating: 0) }
      var remainingChunks = Int(64 * max(1, rate.value))
      while queue.missingCount > 0, remainingChunks > 0 {
        process(Self.chunkFrames, isLast: false)
        // The channels contain output now.
        for channel in channels { channel.update(repeating: 0) }
        remainingChunks -= 1
      }
    }

    package func read(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) -> Int {
      queue.read(into: output, capacityFrames: capacityFrames)
    }

    // MARK: - Library

    private func process(_ samples: UnsafePointer<Float>, frameCount: Int) {
      let stride = format.channelCount
      var done = 0
      while done < frameCount {
        let count = min(Self.chunkFrames, frameCount - done)
        for (index, channel) in channels.enumerated() {
          var source = samples + done * stride + index
          for frame in 0..<count {
            channel[frame] = source.pointee
            source += stride
          }
        }
        process(count, isLast: false)
        done += count
      }
    }

    /// Processes the frames in `channels`, and reads the available output, but never more: Rubber Band would log a
    /// warning.
    private func process(_ frameCount: Int, isLast: Bool) {
      let inputs = channels.map { UnsafePointer($0.baseAddress) }
      rubberband_process(state, inputs, UInt32(frameCount), isLast ? 1 : 0)
      let outputs = channels.map(\.baseAddress)
      while true {
        let available = Int(rubberband_available(state))
        guard available > 0 else { return }
        let count = Int(rubberband_retrieve(state, outputs, UInt32(min(available, Self.chunkFrames))))
        guard count > 0 else { return }
        let dropped = min(count, droppedFrameCount)
        droppedFrameCount -= dropped
        let stride = format.channelCount
        let channels = channels
        queue.append(count - dropped) { output in
          for (index, channel) in channels.enumerated() {
            for frame in dropped..<count { output[(frame - dropped) * stride + index] = channel[frame] }
          }
        }
      }
    }
  }
#else
  /// A placeholder for Rubber Band, which this build does not contain: creating one throws `unsupportedRate`.
  package final class SpectralStretcher: TimeStretcher {
    /// Whether this build contains the engine.
    package static let isAvailable = false

    package let format: AudioFormat
    package let rate: StretchRate
    package var historyFrameCount: Int { 0 }

    package init(format: AudioFormat, rate: StretchRate) throws(MediaError) {
      throw MediaError(
        .unsupportedRate,
        "spectral time stretching is unavailable: this build lacks the package trait RubberBand")
    }

    package func writeHistory(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError) {}
    package func write(_ samples: UnsafePointer<Float>, frameCount: Int) throws(MediaError) {}
    package func finish() throws(MediaError) {}
    package func read(into output: UnsafeMutablePointer<Float>, capacityFrames: Int) -> Int { 0 }
  }
#endif
