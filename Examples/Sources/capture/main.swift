import ExampleSupport
import Foundation
import PlayheadFoundation

// Captures audio as sample buffers for some seconds, and writes them to a WAV file.
//
//   capture OUTPUT.wav SECONDS

let arguments = CommandLine.arguments
guard arguments.count == 3, let duration = MediaTime(decimal: arguments[2]), duration > .zero else {
  fail("usage: capture OUTPUT.wav SECONDS")
}

do {
  let writer = try AssetWriter(url: url(arguments[1]), container: .wav)
  var input: AssetWriterInput?
  var bufferCount = 0

  // Each buffer has its host time, and a presentation time that counts all frames from the first one.
  for try await buffer in AudioCapture(source: { microphoneOrTone() }) {
    if input == nil {
      let first = AssetWriterInput(
        settings: AudioOutputSettings(.pcm(.float32)), sourceFormat: buffer.samples.format,
        expectsMediaDataInRealTime: true)
      try writer.add(first)
      try writer.startWriting()
      try writer.startSession(atSourceTime: .zero)
      input = first
    }
    if buffer.lostFrameCount > 0 { print("lost \(buffer.lostFrameCount) frames") }
    try input?.append(waiting: buffer.samples)
    bufferCount += 1
    if buffer.samples.endTime >= duration { break }
  }
  // The last buffer may end later.
  try writer.endSession(atSourceTime: duration)
  try await writer.finishWriting()
  print("captured \(bufferCount) buffers, \(writer.byteCount) bytes")
} catch {
  fail("capture: \(error)")
}
