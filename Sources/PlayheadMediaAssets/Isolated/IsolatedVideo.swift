// The video of a file that a worker process decodes. Pixels arrive through shared memory in chunks, and everything else
// in messages. This process computes the size of every image itself, and checks every number that the worker reports.
import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore

/// The connection to a worker that has a video open. Frames of the video refer to it.
///
/// Threading: one thread at a time, which may block. The interrupt of the file may be used on any thread.
final class IsolatedVideo {
  /// The time limit for a worker to stop a cancelled function.
  private static let graceMilliseconds: Int32 = 5_000

  private let lease: WorkerLease
  private let shared: SharedSamples
  private let source: FileSource
  let description: FramesDescription
  /// The limits of the images that the worker makes.
  let limits: LocalImageMaker.Limits
  /// Whether the worker has ended, also because of an invalid reply. All calls fail then.
  private(set) var isLost = false

  /// Opens the video of a file in a worker. If it has too little memory for the frames, another worker with more memory
  /// opens the video. Blocks.
  ///
  /// - Parameters:
  ///   - source: The file. This object owns it from now on. Its interrupt cancels the worker's functions.
  ///   - pixelCount: The number of pixels of the largest image to which frames are enlarged; 0 if they are not.
  /// - Throws: The errors of `VideoTrackReader`; `workerUnavailable`; `cancelled`.
  static func open(
    _ pool: WorkerPool, source: FileSource, displayName: String, trackID: AssetTrack.ID?, pixelCount: Int
  ) throws(MediaError) -> IsolatedVideo {
    var parameters = FramesParameters(trackID: trackID, pixelCount: pixelCount, isLarge: false)
    let video = try IsolatedVideo(try pool.lease(), source, displayName, parameters)
    guard video.description.needsLargeWorker else { return video }
    parameters.isLarge = true
    return try IsolatedVideo(try pool.lease(limits: .large), source, displayName, parameters)
  }

  private init(
    _ lease: WorkerLease, _ source: FileSource, _ displayName: String, _ parameters: FramesParameters
  ) throws(MediaError) {
    (shared, description) = try SharedSamples.make { (shared, descriptor) throws(MediaError) in
      source.interrupt.attach(shared)
      do throws(MediaError) {
        let description = try lease.open(
          source, displayName: displayName, AssetWorkerFunction.openFrames.rawValue, parameters,
          graceMilliseconds: Self.graceMilliseconds, descriptor: descriptor, as: FramesDescription.self)
        guard description.isPlausible, !(description.needsLargeWorker && parameters.isLarge) else {
          throw lease.rejectResult()
        }
        return (shared, description)
      } catch {
        source.interrupt.detach(shared)
        throw error
      }
    }
    (self.lease, self.source) = (lease, source)
    limits = parameters.isLarge ? .largeWorker : .worker
  }

  deinit {
    source.interrupt.detach(shared)
    lease.closeFiles(AssetWorkerFunction.closeFrames.rawValue)
  }

  // MARK: - Reading

  /// The interrupt of the file.
  var interrupt: Interrupt { source.interrupt }

  /// Performs a command. The outcome is never `failed`.
  ///
  /// - Parameter noteFrame: Receives the worker's current frame, even after an error of the file.
  /// - Throws: The errors of `VideoReader`; `damagedFile` if the worker crashes.
  func perform(
    _ command: FrameCommand, noteFrame: (WorkerFrame?) -> Void = { _ in }
  ) throws(MediaError) -> FrameReading.Outcome {
    let reading: FrameReading
    do throws(MediaError) {
      reading = try lease.run(AssetWorkerFunction.performOnFrames.rawValue, command, as: FrameReading.self)
    } catch {
      isLost = true
      noteFrame(nil)
      throw error
    }
    guard reading.current?.isPlausible != false else { throw rejectReply() }
    noteFrame(reading.current)
    if case .failed(let error) = reading.outcome { throw error }
    return reading.outcome
  }

  /// Ends the worker after an invalid reply, and returns the error of the file.
  func rejectReply() -> MediaError {
    isLost = true
    return lease.rejectResult()
  }

  // MARK: - Pixels

  /// Returns the image of the current frame in BGRA.
  ///
  /// - Parameter plan: The steps, which the worker computes from the same frame and settings.
  func image(_ settings: ImageSettings, _ plan: ImageRenderer.Plan) throws(MediaError) -> PixelBuffer {
    guard case .converted = try perform(.image(settings)) else { throw rejectReply() }
    let (width, height) = plan.imageSize
    return try receive(.bgra, width: width, height: height)
  }

  /// Returns the current frame in the format of `settings`, and the colour space of its pixels.
  ///
  /// - Parameter size: The size of the result.
  func pixels(
    _ settings: VideoReadSettings, size: PixelSize
  ) throws(MediaError) -> (PixelBuffer, FormatDescription.Video.ColorProperties) {
    guard case .converted(let color) = try perform(.pixels(settings)), color.isPlausible else { throw rejectReply() }
    return (try receive(settings.pixelFormat, width: size.width, height: size.height), color)
  }

  /// Receives the image that the worker has converted.
  private func receive(_ format: PixelFormat, width: Int, height: Int) throws(MediaError) -> PixelBuffer {
    let byteCount = format.byteCount(width: width, height: height)
    guard (1...limits.convertedByteCount).contains(byteCount) else { throw rejectReply() }
    let bytes = try shared.receive(byteCount) { () throws(MediaError) in
      guard case .bytes(let count) = try perform(.readPixels) else { throw rejectReply() }
      return count
    }
    guard let bytes else { throw rejectReply() }
    return try PixelBuffer(format, width: width, height: height, data: bytes)
  }
}

extension SharedSamples {
  /// Receives bytes that a worker sends in chunks. All chunks except the last must fill the shared memory, so that a
  /// worker controlled by a file cannot send an endless number of short ones. Returns nil after an invalid chunk.
  ///
  /// - Parameter nextChunk: Requests the next chunk, and returns its number of bytes.
  func receive(_ byteCount: Int, nextChunk: () throws(MediaError) -> Int) throws(MediaError) -> [UInt8]? {
    guard byteCount > 0 else { return [] }
    var result: Result<Bool, MediaError> = .success(true)
    let bytes = [UInt8](unsafeUninitializedCapacity: byteCount) { buffer, filledCount in
      result = Result { () throws(MediaError) in
        while filledCount < byteCount, let base = buffer.baseAddress {
          let expected = min(byteCount - filledCount, Self.sampleByteCount)
          guard try nextChunk() == expected else { return false }
          UnsafeMutableRawPointer(base + filledCount).copyMemory(from: samples, byteCount: expected)
          filledCount += expected
        }
        return true
      }
    }
    return try result.get() ? bytes : nil
  }
}

/// Bytes that a worker sends to the parent process in chunks.
struct PendingBytes {
  private var bytes: [UInt8] = []
  private var sentCount = 0

  init() {}

  init(_ bytes: consuming [UInt8]) { self.bytes = bytes }

  /// Copies the next chunk into the shared memory, and returns its number of bytes; 0 at the end.
  mutating func copyNext(into shared: SharedSamples) -> Int {
    let count = min(bytes.count - sentCount, SharedSamples.sampleByteCount)
    bytes.withUnsafeBytes { bytes in
      if let base = bytes.baseAddress { shared.samples.copyMemory(from: base + sentCount, byteCount: count) }
    }
    sentCount += count
    // The memory is needed for the next image.
    if sentCount == bytes.count { self = PendingBytes() }
    return count
  }
}
