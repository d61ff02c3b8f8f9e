import Isolation
import LibAV
import MediaCore

/// Decodes the frames of a video in a worker process, converts them, and shares the pixels with the parent process.
final class WorkerFrames {
  let description: FramesDescription
  private let reader: VideoTrackReader
  private let shared: SharedSamples
  private let limits: LocalImageMaker.Limits
  private let renderer: ImageRenderer
  private let converter: VideoFrameConverter
  /// The frame that is converted. It outlives `releaseMemory`, until the reader's current frame changes.
  private var convertible: VideoFrame?
  private var pixels = PendingBytes()

  /// Opens the video of an asset. This process parses the file.
  ///
  /// A header may declare a size that no frame has. Therefore the worker first decodes a key frame, and reports that
  /// the frames need more memory only if this frame needs it.
  ///
  /// - Throws: The errors of `VideoTrackReader`.
  init(_ asset: Asset, _ parameters: FramesParameters, _ descriptor: Int32) throws(MediaError) {
    shared = try SharedSamples(mapping: descriptor)
    reader = try VideoTrackReader(
      asset: asset, interrupt: Interrupt(sharedFlag: shared.cancellation), trackID: parameters.trackID)
    limits = parameters.isLarge ? .largeWorker : .worker
    do throws(AVFailure) {
      renderer = try ImageRenderer()
      converter = try VideoFrameConverter()
    } catch {
      throw MediaError(error, path: reader.displayPath)
    }
    description = FramesDescription(
      format: reader.format, timeRange: reader.timeRange, assetDuration: reader.assetDuration,
      needsLargeWorker: !parameters.isLarge && Self.needsLargeWorker(reader, parameters))
  }

  /// The maximum number of decoded frames in memory: a decoder of H.264 or H.265 retains 16 frames and decodes another
  /// one, and the reader has two.
  private static let retainedFrameCount = 19
  /// The number of bytes that the frames and an image may have in a worker with the default limits. The rest of its
  /// memory is for the decoder's tables, the container and the libraries.
  private static let memoryByteCount = 320 << 20

  /// Returns whether the frames and their images may exceed the memory of a worker with the default limits.
  private static func needsLargeWorker(_ reader: VideoTrackReader, _ parameters: FramesParameters) -> Bool {
    let maximum = LocalImageMaker.Limits.worker.pixelCount
    func isLarge(
      _ width: Int, _ height: Int, _ pixelFormatName: String?, _ ratio: FormatDescription.Video.PixelAspectRatio?
    ) -> Bool {
      let plan = ImageRenderer.plan(
        width: width, height: height, pixelAspectRatio: ratio, format: reader.format, settings: ImageSettings())
      let imagePixelCount = max(
        width * height, plan.pixelCount(width: width, height: height), parameters.pixelCount)
      if imagePixelCount > maximum { return true }
      let frameByteCount = pixelFormatName.flatMap { name in
        Frame.byteCount(pixelFormatName: name, width: width, height: height)
      }
      return (frameByteCount ?? 2 * width * height) * retainedFrameCount + 4 * imagePixelCount > memoryByteCount
    }
    // After an error, the first read fails in the same way.
    guard isLarge(reader.format.width, reader.format.height, reader.format.pixelFormatName, nil),
      let properties = try? reader.decodeKeyFrame()?.properties
    else { return false }
    return isLarge(
      properties.width, properties.height, properties.pixelFormatName, properties.pixelAspectRatio)
  }

  func perform(_ command: FrameCommand) -> FrameReading {
    let outcome: FrameReading.Outcome
    do throws(MediaError) { outcome = try result(of: command) } catch { outcome = .failed(error) }
    let current = reader.currentFrame.map { frame in
      WorkerFrame(
        properties: frame.properties, time: frame.time, duration: frame.duration, hasTimestamp: frame.hasTimestamp)
    }
    return FrameReading(outcome: outcome, current: current)
  }

  private func result(of command: FrameCommand) throws(MediaError) -> FrameReading.Outcome {
    switch command {
    case .next:
      defer { convertible = reader.currentFrame }
      return .moved(isFound: try reader.next() != nil)
    case .seek(let time):
      defer { convertible = reader.currentFrame }
      try reader.seek(to: time)
      return .moved(isFound: reader.currentFrame != nil)
    case .seekToKey(let time, let latest):
      defer { convertible = reader.currentFrame }
      return .moved(isFound: try reader.seekToKey(near: time, latest: latest) != nil)
    case .releaseMemory:
      try reader.releaseMemory()
      return .moved(isFound: false)
    case .keyTimes(let time):
      let (before, after) = reader.indexedKeyTimes(around: time)
      return .keyTimes(before: before, after: after)
    case .popFault: return .fault(reader.popFault())
    case .image(let settings): return .converted(try makeImage(settings))
    case .pixels(let settings): return .converted(try convert(settings))
    case .readPixels: return .bytes(pixels.copyNext(into: shared))
    }
  }

  // MARK: - Pixels

  private func makeImage(_ settings: ImageSettings) throws(MediaError) -> FormatDescription.Video.Color {
    let videoFrame = try convertibleFrame()
    let pixelCount = ImageRenderer.plan(of: videoFrame, settings)
      .pixelCount(width: videoFrame.properties.width, height: videoFrame.properties.height)
    guard pixelCount <= limits.pixelCount else {
      throw ImageSource.tooLarge(pixelCount, maximumPixelCount: limits.pixelCount)
    }
    do throws(AVFailure) { pixels = PendingBytes(try renderer.image(of: videoFrame, settings).data) } catch {
      throw MediaError(error, path: reader.displayPath)
    }
    return .init()
  }

  private func convert(_ settings: VideoReadSettings) throws(MediaError) -> FormatDescription.Video.Color {
    let videoFrame = try convertibleFrame()
    let size = settings.size(of: videoFrame)
    let byteCount = settings.pixelFormat.byteCount(width: size.width, height: size.height)
    guard byteCount <= limits.convertedByteCount else {
      throw ImageSource.tooLarge(size.width * size.height, maximumPixelCount: limits.pixelCount)
    }
    do throws(AVFailure) {
      let (image, color) = try converter.convert(videoFrame, settings)
      pixels = PendingBytes(image.data)
      return color
    } catch {
      throw MediaError(error, path: reader.displayPath)
    }
  }

  /// Returns the frame to be converted, after the memory of the previous image was released.
  private func convertibleFrame() throws(MediaError) -> VideoFrame {
    pixels = PendingBytes()
    guard let convertible else { throw AssetWorkerFunctions.malformed }
    return convertible
  }
}
