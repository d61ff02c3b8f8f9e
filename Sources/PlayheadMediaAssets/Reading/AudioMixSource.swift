import PlayheadLibAV
import PlayheadMediaCore

/// Reads ranges of the mix of several audio tracks in the requested format.
///
/// Threading: one thread at a time, which may block.
final class AudioMixSource: SampleBufferSource, @unchecked Sendable {
  // `@unchecked Sendable`: other threads use only the readers' interrupt.

  /// One of the mixed tracks.
  private struct Input {
    let audio: FormattedAudio
    let volume: AudioMixInputParameters?
  }

  private let inputs: [Input]
  private let settings: AudioReadSettings
  private let volume: AudioMixInputParameters
  private let output: AudioFormat
  private let format: FormatDescription
  private let mixer: AudioMixer
  private let writer: SampleWriter
  private let samples: UnsafeMutableBufferPointer<Float>
  /// The next frame to deliver, and the end of the range.
  private var next: Int64 = 0
  private var end: Int64?
  private var isFirstBuffer = true
  private var isFirstRange = true
  /// The error that ended a track. It is thrown after the frames before it.
  private var failure: MediaError?

  /// - Parameter readers: at least one reader of float32 samples.
  init(_ readers: [AudioTrackReader], _ settings: AudioReadSettings, _ mix: AudioMix) throws(MediaError) {
    guard let first = readers.first else { preconditionFailure("an audio mix has a track") }
    let largestChannelCount = readers.map(\.format.channelCount).max() ?? first.format.channelCount
    let output = AudioFormat(
      sampleRateHz: settings.sampleRateHz ?? first.format.sampleRateHz,
      channelCount: settings.channelCount ?? largestChannelCount)
    var inputs: [Input] = []
    for reader in readers {
      inputs.append(
        Input(audio: try FormattedAudio(reader, as: output), volume: mix.inputParameters[reader.trackID]))
    }
    let masks = Set(readers.filter { $0.format.channelCount == output.channelCount }.map(\.channelMask))
    format = .pcm(
      settings.encoding, sampleRateHz: output.sampleRateHz, channelCount: output.channelCount,
      channelMask: masks.count == 1
        ? masks.first ?? nil : SampleLayout.defaultChannelMask(channelCount: output.channelCount))
    (self.inputs, self.settings, self.output) = (inputs, settings, output)
    volume = mix.output
    mixer = AudioMixer(channelCount: output.channelCount, chunkFrames: AudioTrackSource.chunkFrames)
    writer = try SampleWriter(output, SampleWriter.format(of: NativeSamples.native(of: settings.encoding)))
    samples = .allocate(capacity: AudioTrackSource.chunkFrames * output.channelCount)
  }

  deinit { samples.deallocate() }

  /// Begins at frame `floor(start * rate)` and ends before frame `floor(end * rate)`, at the sample rate of the output.
  func start(_ range: TimeRange) throws(MediaError) {
    (isFirstBuffer, failure) = (true, nil)
    let rate = output.sampleRateHz
    end = range.end.isNumeric ? range.end.frameIndex(rate: rate, rounding: .towardNegativeInfinity) : nil
    // A start out of range becomes a frame after the end of every track.
    next = max(0, range.start.frameIndex(rate: rate, rounding: .towardNegativeInfinity) ?? Int64.max / 8)
  }

  func popFault() -> MediaError? {
    for input in inputs {
      if let error = input.audio.reader.popSkippedPackets()?.error ?? input.audio.reader.popWarning()?.error {
        return error
      }
    }
    return nil
  }

  func cancel() { for input in inputs { input.audio.reader.cancel() } }

  func read() throws(MediaError) -> SampleBuffer? {
    if let failure { throw failure }
    let capacity = Int(min(end.map { $0 - next } ?? .max, Int64(AudioTrackSource.chunkFrames)))
    guard capacity > 0, let base = samples.baseAddress else { return nil }
    // The mix is as long as its longest track.
    var longest = 0
    let mixed = mixer.mix(into: base, capacity, inputs.count) { index, buffer in
      let filled = fill(inputs[index], buffer, capacity)
      longest = max(longest, filled.audioFrameCount)
      return filled.result
    }
    if let error = mixed.error {
      if error.code == .cancelled || mixed.count == 0 { throw error }
      failure = error
    }
    let count = min(mixed.count, longest)
    guard count > 0 else { return nil }
    volume.apply(
      to: base, frameCount: count, channelCount: output.channelCount, firstFrame: next,
      sampleRateHz: output.sampleRateHz)
    let native = NativeSamples.native(of: settings.encoding).byteCount(channelCount: output.channelCount)
    let bytes = try writer.bytes(base, frameCount: count, frameByteCount: native)
    let buffer = try SampleBuffer(
      pcm: NativeSamples.packed(bytes, settings.encoding, channelCount: output.channelCount), format: format,
      presentationTime: MediaTime(frame: next, rate: output.sampleRateHz),
      attachments: .init(isDiscontinuity: isFirstBuffer && !isFirstRange))
    next += Int64(count)
    (isFirstBuffer, isFirstRange) = (false, false)
    return buffer
  }

  /// Fills `buffer` with a track's frames at its volume, and with silence after its end. `audioFrameCount` is the
  /// number of frames before the silence.
  private func fill(
    _ input: Input, _ buffer: UnsafeMutablePointer<Float>, _ frameCount: Int
  ) -> (result: AudioMixer.FillResult, audioFrameCount: Int) {
    let channelCount = output.channelCount
    var count = 0
    var result = AudioMixer.FillResult(count: frameCount, hasAudio: false)
    do throws(MediaError) {
      try input.audio.move(to: next)
      while count < frameCount {
        let readCount = try input.audio.read(into: buffer + count * channelCount, capacityFrames: frameCount - count)
        if readCount == 0 { break }
        count += readCount
      }
    } catch {
      result.error = error
      result.count = count
    }
    input.volume?.apply(
      to: buffer, frameCount: count, channelCount: channelCount, firstFrame: next, sampleRateHz: output.sampleRateHz)
    if count < frameCount {
      (buffer + count * channelCount).update(repeating: 0, count: (frameCount - count) * channelCount)
    }
    result.hasAudio = count > 0
    return (result, count)
  }
}
