// The work of the measured processes.
import Glibc
import PlayheadLibAV
import PlayheadMediaAssets
import PlayheadMediaCore

/// Reads a complete file, in the calling process.
func read(_ path: String) throws { try read(Asset(path: path)) }

/// Reads a complete asset.
func read(_ asset: Asset) throws {
  LibAV.discardLog()
  let reader = AssetReader(asset: asset)
  let output = AssetReaderTrackOutput(settings: AudioReadSettings(.signed16))
  try reader.add(output)
  try reader.startReading()
  var byteCount = 0
  while let buffer = output.copyNextSampleBuffer() { byteCount += buffer.data.count }
  if let error = reader.error { throw error }
  guard byteCount > 0 else { exit(1) }
}

/// A composition of two files: one after the other in one track, or mixed, each in a separate track.
func composition(of paths: [String], isMixed: Bool) throws -> Asset {
  var composition = Composition()
  var track = try composition.addTrack(.audio)
  for (number, path) in paths.enumerated() {
    if isMixed, number > 0 { track = try composition.addTrack(.audio) }
    let asset = Asset(path: path)
    let range = TimeRange(start: .zero, duration: try asset.load().duration)
    try composition.insertTimeRange(
      range, ofTrack: nil, of: asset, at: composition.track(track)?.duration ?? .zero, inTrack: track)
  }
  return Asset(composition: composition)
}

/// Exports a file to another file, with the settings that ffmpeg gets.
func export(_ source: String, to target: String) async throws {
  LibAV.discardLog()
  guard let container = target.split(separator: ".").last.flatMap({ WritableContainer(fileExtension: String($0)) })
  else { exit(2) }
  var audio = AudioOutputSettings(container.defaultAudioCodec)
  if container.defaultAudioCodec == .aac || container.defaultAudioCodec == .mp3 { audio.bitRate = 128_000 }
  _ = try await AssetExportSession(
    Asset(path: source), to: Array(target.utf8), ExportSettings(container, audio: .encode(audio)), replacesFile: true
  ).outcome()
}
