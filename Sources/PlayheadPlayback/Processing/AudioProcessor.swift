import PlayheadMediaCore

/// Processes decoded audio before it is mixed, for example an equalizer or an analyser; corresponds to
/// MTAudioProcessingTap.
///
/// The processors of an item (`PlayerItem.audioProcessors`) and then those of its player (`setAudioProcessors`) process
/// its audio in the item's format, after the volume of its audio mix and before a change of rate.
///
/// <!-- listing: half-volume -->
/// ```swift
/// final class Half: AudioProcessor {
///   func prepare(format: AudioFormat, maximumFrameCount: Int) {}
///   func process(_ samples: inout MutableSpan<Float>, at time: MediaTime) {
///     for index in samples.indices { samples[index] *= 0.5 }
///   }
/// }
/// ```
///
/// Audio is decoded ahead, up to several seconds before it is heard. After a seek, after a change of the rate, of the
/// queue or of the processors, some audio is decoded and processed again.
///
/// Threading: the engine makes and calls a processor on one decode thread, and releases it there or on the thread that
/// closes the player. The methods may allocate, lock and block. If they take longer than the audio that they process,
/// playback stalls.
public protocol AudioProcessor: AnyObject {
  /// The number of frames by which ``process(_:at:)`` delays audio, from 0 to 10 s. Default: 0.
  ///
  /// Read after ``prepare(format:maximumFrameCount:)``. The engine omits these frames of silence at the beginning, and
  /// passes as many after the end, so that every frame is heard at its time.
  var latencyFrameCount: Int { get }

  /// The number of earlier frames that affect a frame, from 0 to 10 s. Default: 0.
  ///
  /// Read after ``prepare(format:maximumFrameCount:)``. After a seek, and after a change of the rate or the processors,
  /// the engine passes as many frames before the target and discards them, so that the audio is the same as in
  /// continuous playback. An item that follows another one without a gap begins without history. The histories of
  /// several processors are added, up to 10 s.
  var historyFrameCount: Int { get }

  /// Prepares for audio. Called once for each processor, before any other method.
  ///
  /// - Parameters:
  ///   - format: The sample rate and the channels of the audio.
  ///   - maximumFrameCount: The maximum number of frames for each call of ``process(_:at:)``.
  /// - Throws: An error that describes why this audio cannot be processed. The item then fails with this error.
  func prepare(format: AudioFormat, maximumFrameCount: Int) throws(MediaError)

  /// Processes audio in place.
  ///
  /// Samples that are not finite afterwards are replaced with 0. The item's error log then has one entry.
  ///
  /// - Parameters:
  ///   - samples: Whole frames of interleaved samples, where full scale is 1.
  ///   - time: The item's time at the beginning of the first frame; in reverse playback, at its end. Audio that earlier
  ///     processors delay has the time of its samples, which at a start is before the first frame that is heard.
  func process(_ samples: inout MutableSpan<Float>, at time: MediaTime)

  /// Forgets all audio that was processed. Called when the next audio is not continuous with the last, for example
  /// after a seek. Default: no effect.
  func reset()
}

extension AudioProcessor {
  public var latencyFrameCount: Int { 0 }
  public var historyFrameCount: Int { 0 }
  public func reset() {}
}

/// Makes the processors of an item or a player, one for each decode thread and format.
///
/// Factories are equal if they are copies of one value. To change what a running processor does, keep its parameters in
/// an object with a lock or atomics, which the closure captures.
public struct AudioProcessorFactory: Sendable, Hashable {
  private final class Identity: Sendable {}

  private let identity = Identity()
  let makeProcessor: @Sendable () -> any AudioProcessor

  /// - Parameter makeProcessor: Makes a new processor. Called on decode threads.
  public init(_ makeProcessor: @escaping @Sendable () -> any AudioProcessor) { self.makeProcessor = makeProcessor }

  public static func == (left: Self, right: Self) -> Bool { left.identity === right.identity }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(identity)) }
}
