// The messages about stored samples that a worker process reads.
import PlayheadMediaCore

/// Parameters of opening stored samples.
struct StoredParameters: Codable {
  var trackID: Int
  /// Whether the positions of the samples are counted in audio frames.
  var isCounted: Bool
  /// The maximum number of samples of one result.
  var batchCount: Int
}

/// A call of the worker's source of stored samples.
enum StoredCommand: Codable {
  /// As `SampleBufferSource.start`. The outcome is `started`.
  case start(TimeRange)
  /// Reads at least one sample, except at the end. The outcome is `samples`.
  case read
  /// Copies the next chunk of the samples' bytes into the shared memory. The outcome is `bytes`.
  case readBytes
  /// As `SampleBufferSource.popFault`. The outcome is `fault`.
  case popFault
}

/// The result of a command.
enum StoredReply: Codable {
  case started
  /// The samples, whose bytes `readBytes` returns. `end` follows them; nil if others follow.
  case samples([StoredSample], end: StoredEnd?)
  /// The number of bytes in the shared memory.
  case bytes(Int)
  case fault(MediaError?)
  case failed(MediaError)
}

/// The end of a range of stored samples: an error, or nil for a regular end.
struct StoredEnd: Codable {
  var error: MediaError?
}

/// A buffer of stored samples without its bytes and its format.
struct StoredSample: Codable {
  var byteCount: Int
  var sampleCount: Int
  var presentationTime: MediaTime
  var decodeTime: MediaTime
  var duration: MediaTime
  var attachments: SampleBuffer.Attachments

  init(_ buffer: SampleBuffer) {
    (byteCount, sampleCount) = (buffer.data.count, buffer.sampleCount)
    (presentationTime, decodeTime, duration) = (buffer.presentationTime, buffer.decodeTime, buffer.duration)
    attachments = buffer.attachments
  }

  /// Whether a worker can have read such a sample. Every sample has bytes, except a single one.
  var isPlausible: Bool {
    (0...WorkerStoredSamples.maximumPacketByteCount).contains(byteCount)
      && (0...max(1, byteCount)).contains(sampleCount)
  }

  /// Returns the buffer.
  ///
  /// - Throws: The errors of `SampleBuffer.init`.
  func buffer(_ format: FormatDescription, _ data: [UInt8]) throws(MediaError) -> SampleBuffer {
    try SampleBuffer(
      format: format, data: data, sampleCount: sampleCount, presentationTime: presentationTime,
      decodeTime: decodeTime, duration: duration, attachments: attachments)
  }
}

extension FormatDescription {
  /// Whether all numbers are possible for a file, so that computations with them do not overflow.
  var isPlausible: Bool {
    let numbers = [
      audio?.sampleRateHz, audio?.channelCount, audio?.framesPerPacket, audio?.bytesPerPacket, audio?.bitsPerSample,
      audio?.initialPaddingFrames, audio?.seekPrerollFrames, audio?.bitRate, audio?.pcm?.bitsPerSample,
    ]
    return numbers.allSatisfy { number in number.map { (0...1 << 53).contains($0) } ?? true }
      && video?.isPlausible != false
  }
}
