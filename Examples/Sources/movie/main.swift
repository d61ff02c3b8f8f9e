import Dispatch
import ExampleSupport
import Foundation
import PlayheadFoundation
import Synchronization

// Writes a movie of two seconds: a bar that moves over a blue background, in H.264, and a tone in AAC.
//
//   movie FILE.mp4

guard CommandLine.arguments.count == 2 else { fail("usage: movie FILE.mp4") }

do {
  let writer = try AssetWriter(url: url(CommandLine.arguments[1]), container: .mp4)

  var settings = VideoOutputSettings(.h264)
  settings.keyFrameInterval = 25
  settings.bitRate = 500_000
  settings.profile = .main
  let video = AssetWriterInput(settings: settings, sourceFormat: .pixels(.bgra, width: width, height: height))
  let adaptor = try AssetWriterInputPixelBufferAdaptor(assetWriterInput: video)
  let pcm = FormatDescription.pcm(.signed16, sampleRateHz: sampleRate, channelCount: 1)
  let audio = AssetWriterInput(settings: AudioOutputSettings(.aac), sourceFormat: pcm)

  try writer.add(video)
  try writer.add(audio)
  try writer.startWriting()
  try writer.startSession(atSourceTime: .zero)

  // Each input calls its closure on a thread of its own, whenever it can accept more.
  let inputs = DispatchGroup()
  inputs.enter()
  let nextFrame = Mutex(0)
  try video.requestMediaDataWhenReady { input in
    while input.isReadyForMoreMediaData {
      let number = nextFrame.withLock { number in
        defer { number += 1 }
        return number
      }
      guard number < frameCount, let pixels = try? image(number, adaptor.pixelBufferPool),
        (try? adaptor.append(pixels, withPresentationTime: MediaTime(value: Int64(number), timescale: 25))) != nil
      else {
        input.markAsFinished()
        return inputs.leave()
      }
    }
  }
  inputs.enter()
  let nextSecond = Mutex(0)
  try audio.requestMediaDataWhenReady { input in
    while input.isReadyForMoreMediaData {
      let second = nextSecond.withLock { second in
        defer { second += 1 }
        return second
      }
      guard second < 2,
        let buffer = try? SampleBuffer(pcm: secondOfTone(), format: pcm, presentationTime: .seconds(second)),
        (try? input.append(buffer)) != nil
      else {
        input.markAsFinished()
        return inputs.leave()
      }
    }
  }
  // When the writer has failed, it no longer calls the closures.
  while inputs.wait(timeout: .now() + 0.1) == .timedOut, writer.status == .writing {}
  // Throws the error of the writer, if one of the inputs failed.
  try writer.finishWriting()
  print("\(writer.status.rawValue): \(writer.byteCount) bytes")
} catch {
  fail("movie: \(error)")
}
