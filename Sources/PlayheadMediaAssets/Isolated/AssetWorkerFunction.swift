import PlayheadLibAV
import PlayheadMediaCore
import PlayheadTags

/// The functions of a worker for assets. The raw value identifies the function in a request.
package enum AssetWorkerFunction: Int {
  /// Opens a container and decodes its beginning. `TrialParameters`; the result is true.
  case tryContainer = 1
  /// Loads an asset. `LoadParameters`; the result is `AssetProperties`.
  case load
  /// Reads all tags of an asset. `TextCharset`; the result is `AssetMetadata`.
  case loadMetadata
  /// Reads tags with TagLib. `TagParameters`; the result is `TagReading`.
  case readTags
  /// Opens the audio of an asset, until `closeAudio`. `AudioParameters`; the result is `AudioDescription`. The task
  /// includes the descriptor of `SharedSamples`.
  case openAudio
  /// Reads samples into the shared memory. `Int`, the maximum number of frames; the result is `AudioReading`.
  case readAudio
  /// Seeks to a time. `SeekParameters`; the result is `AudioReading`.
  case seekAudio
  /// Counts all frames. `Bool`, ignored; the result is `AudioReading`.
  case countAudio
  /// Closes the audio. `Bool`, ignored; the result is true.
  case closeAudio
  /// Opens the video of an asset to make images of it, until `closeVideo`. `VideoParameters`; the result is
  /// `VideoDescription`.
  case openVideo
  /// Makes and encodes the image of a time. `MediaTime`; the result is `ImageDescription`.
  case makeImage
  /// Adds the image of a time to the task's sheet. `SheetImageParameters`; the result is `ImageDescription`.
  case addSheetImage
  /// Encodes the sheet. `Bool`, ignored; the result is `ImageDescription`.
  case finishSheet
  /// Reads the next chunk of the file that was encoded last. `Bool`, ignored; the result is bytes, empty at the end.
  case readImage
  /// Reports faults that did not prevent images. `Bool`, ignored; the result is `ImageFault`.
  case popImageFault
  /// Closes the video. `Bool`, ignored; the result is true.
  case closeVideo
  /// Exports files to the file of the additional descriptor. `ExportParameters`; reports `ExportReport`; the result is
  /// `AssetExportSession.Outcome`.
  case export
  /// Opens contiguous segments, until `closeSegments`. `Bool`, ignored; the result is `SegmentDescription`. The task
  /// includes the descriptor of `SharedSamples`.
  case openSegments
  /// Decodes the next frame of the segments into the shared memory. `Bool`, ignored; the result is `SegmentReading`.
  case readSegments
  /// Returns the properties of the segments' container. `Bool`, ignored; the result is `AssetProperties`.
  case describeSegments
  /// Closes the segments. `Bool`, ignored; the result is true.
  case closeSegments
  /// Opens the video of an asset to read its frames, until `closeFrames`. `FramesParameters`; the result is
  /// `FramesDescription`. The task includes the descriptor of `SharedSamples`.
  case openFrames
  /// Calls the reader of the frames. `FrameCommand`; the result is `FrameReading`.
  case performOnFrames
  /// Closes the video. `Bool`, ignored; the result is true.
  case closeFrames
  /// Opens the stored samples of a track, until `closeStored`. `StoredParameters`; the result is `FormatDescription`.
  /// The task includes the descriptor of `SharedSamples`.
  case openStored
  /// Calls the source of the stored samples. `StoredCommand`; the result is `StoredReply`.
  case performOnStored
  /// Closes the stored samples. `Bool`, ignored; the result is true.
  case closeStored
}

/// Parameters of opening a video for images.
struct VideoParameters: Codable {
  var task: ImageTask
  /// Whether this worker has the memory for the largest images.
  var isLarge: Bool
}

/// An open video.
struct VideoDescription: Codable {
  var timeRange: TimeRange
  /// Whether the images need a worker with more memory. The video is not open then.
  var needsLargeWorker: Bool
}

/// Parameters of an image on a sheet.
struct SheetImageParameters: Codable {
  var time: MediaTime
  /// The index of the image on the sheet, from 0.
  var index: Int
}

/// A fault of a video that did not prevent images; nil if there is none.
struct ImageFault: Codable {
  var error: MediaError?
}

/// Parameters of opening a container.
struct TrialParameters: Codable {
  var options = Demuxer.Options()
  /// The number of audio packets to decode.
  var packetCount = 0
}

/// Parameters of reading tags.
struct TagParameters: Codable {
  var container: TagContainer
  var charset: TextCharset
}

/// Parameters of loading an asset.
struct LoadParameters: Codable {
  /// As `Asset.prefersPreciseDuration`.
  var prefersPreciseDuration: Bool
  /// The number of audio packets that the worker decodes, before the parent process decodes the file.
  var packetCount: Int
}

/// Parameters of opening audio.
struct AudioParameters: Codable {
  /// The track; nil for the one that plays.
  var trackID: Int?
  var encoding: PCMEncoding
}

/// Parameters of a seek.
struct SeekParameters: Codable {
  var time: MediaTime
  var toleranceBefore: MediaTime
  var toleranceAfter: MediaTime
}

/// The description of the audio of an open asset.
struct AudioDescription: Codable {
  var format: AudioFormat
  var trackID: Int
  var channelMask: UInt64?
  var state: AudioState
}

/// The state of a reader after each call.
struct AudioState: Codable {
  struct Skipped: Codable {
    var count: Int
    var time: MediaTime
    var error: MediaError
  }

  struct Warning: Codable {
    var time: MediaTime
    var error: MediaError
  }

  struct Title: Codable {
    var time: MediaTime
    var title: StreamTitle
  }

  /// The position of the next frame to be read.
  var position: Int64
  var positionDoubt: PositionDoubt?
  var lastSeekTimings: SeekTimings
  var startTrim: EdgeTrim
  var endTrim: EdgeTrim
  var end: AudioTrackReader.TrackEnd?
  /// Reports since the previous call.
  var skipped: Skipped?
  var warning: Warning?
  var titles: [Title]
}

/// The result of a call.
struct AudioReading: Codable {
  enum Outcome: Codable {
    /// The number of frames in the shared memory.
    case frames(Int)
    case endOfTrack
    case cancelled
    /// The time of the next frame, after a seek.
    case time(MediaTime)
    /// The number of all frames.
    case frameCount(Int64)
    /// An error; nothing was read.
    case failed(MediaError)
  }

  var outcome: Outcome
  var state: AudioState
}

/// The result of decoding a frame of segments.
struct SegmentReading: Codable {
  enum Outcome: Codable {
    /// The frame is in the shared memory, as `Frame.copyPlanes` copies it.
    case frame(SegmentFrame)
    /// A packet did not decode: FFmpeg's error code, and the function.
    case undecodable(code: Int32, call: String)
    /// Nothing was read: FFmpeg's error code, and the function.
    case failed(code: Int32, call: String)
    case end
    case cancelled
  }

  var outcome: Outcome
  /// The tags found since the previous call.
  var tags: [TimestampedTag]
}

/// A decoded audio frame of segments.
struct SegmentFrame: Codable {
  var layout: SampleLayout
  var frameCount: Int
  /// The timestamp of the frame.
  var ticks: Int64?
  /// In MP4: the timestamp of the end of its packet's fragment.
  var fragmentEndTicks: Int64?

  /// The size of the samples in bytes; nil if a worker cannot have decoded such a frame.
  var sampleByteCount: Int? {
    guard (1...64).contains(layout.channelCount), (1...1 << 30).contains(layout.sampleRateHz),
      (1...SharedSamples.sampleByteCount).contains(frameCount)
    else { return nil }
    let byteCount = frameCount * layout.channelCount * layout.format.byteCount
    return byteCount <= SharedSamples.sampleByteCount ? byteCount : nil
  }
}
