import PlayheadIsolation
import PlayheadLibAV
import PlayheadMediaCore

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

  /// Returns whether the frames and their images may exceed the memory of a worker with the default limits.
  private static func needsLargeWorker(_ reader: VideoTrackReader, _ parameters: FramesParameters) -> Bool {
    reader.needsLargeWorker(ImageSettings()) { plan, width, height in
      let pixelCount = max(width * height, plan.pixelCount(width: width, height: height), parameters.pixelCount)
      return pixelCount <= LocalImageMaker.Limits.worker.pixelCount ? 4 * pixelCount : nil
    }
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

  private func makeImage(_ settings: ImageSettings) throws(MediaError) -> FormatDescription.Video.ColorProperties {
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

  private func convert(_ settings: VideoReadSettings) throws(MediaError) -> FormatDescription.Video.ColorProperties {
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
