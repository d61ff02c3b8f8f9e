import ExampleSupport
import Foundation
import PlayheadFoundation

// Joins two files with a cross-fade: both are tracks of a composition, and an audio mix fades one out and the other in.
//
//   composition FIRST SECOND OUTPUT.wav SECONDS-OF-FADE

let arguments = CommandLine.arguments
guard arguments.count == 5 else { fail("usage: composition FIRST SECOND OUTPUT.wav SECONDS-OF-FADE") }
// `decimal` is exact: 0.1 s is 1/10, not the nearest binary number.
guard let seconds = MediaTime(decimal: arguments[4]), seconds > .zero else {
  fail("composition: SECONDS-OF-FADE must be more than 0 (got \(arguments[4]))")
}

do {
  let assets = try arguments[1...2].map { try Asset(url: url($0)) }
  let durations = [try await assets[0].load(.duration), try await assets[1].load(.duration)]
  let fade = min(seconds, durations[0], durations[1])

  // The second track begins before the end of the first one.
  var composition = Composition()
  let tracks = [try composition.addTrack(.audio), try composition.addTrack(.audio)]
  let starts = [MediaTime.zero, durations[0] - fade]
  for index in 0..<2 {
    try composition.insertTimeRange(
      TimeRange(start: .zero, duration: durations[index]), ofTrack: nil, of: assets[index], at: starts[index],
      inTrack: tracks[index])
  }

  var mix = AudioMix()
  let range = TimeRange(start: starts[1], duration: fade)
  var parameters = [AudioMixInputParameters(), AudioMixInputParameters()]
  try parameters[0].setVolumeRamp(fromStartVolume: 1, toEndVolume: 0, timeRange: range)
  try parameters[1].setVolumeRamp(fromStartVolume: 0, toEndVolume: 1, timeRange: range)
  mix.inputParameters = [tracks[0]: parameters[0], tracks[1]: parameters[1]]

  // A composition is an asset. `AssetExportSession` exports it without a mix; a reader applies the mix.
  let reader = AssetReader(asset: Asset(composition: composition))
  let output = AssetReaderAudioMixOutput(settings: AudioReadSettings(.signed16, channelCount: 2), audioMix: mix)
  try reader.add(output)
  try reader.startReading()

  guard let first = output.copyNextSampleBuffer() else { throw reader.error ?? MediaError(.noPlayableTracks, "empty") }
  let writer = try AssetWriter(url: url(arguments[3]), container: .wav)
  let input = AssetWriterInput(settings: AudioOutputSettings(.pcm(.signed16)), sourceFormat: first.format)
  try writer.add(input)
  try writer.startWriting()
  try writer.startSession(atSourceTime: .zero)
  try input.append(waiting: first)
  while let buffer = output.copyNextSampleBuffer() { try input.append(waiting: buffer) }
  if let error = reader.error { throw error }
  try await writer.finishWriting()
  print("wrote \(composition.duration.seconds) s, cross-fade from \(range.start.seconds) to \(range.end.seconds) s")
} catch {
  fail("composition: \(error)")
}
