import ExampleSupport
import Foundation
import PlayheadFoundation

// Reads the samples of a file as 16-bit integers, and draws the loudest sample of each bin as text.
//
//   samples FILE [BINS]

let arguments = CommandLine.arguments
guard (2...3).contains(arguments.count) else { fail("usage: samples FILE [BINS]") }
guard let binCount = Int(arguments.count == 3 ? arguments[2] : "20"), binCount > 0 else {
  fail("samples: BINS must be at least 1 (got \(arguments[2]))")
}

do {
  let asset = try Asset(url: url(arguments[1]))
  let tracks = try await asset.load(.tracks)
  guard let track = tracks.first(where: \.isAudible) else { fail("samples: the file has no audio track") }

  let reader = AssetReader(asset: asset)
  // One channel: the channels are mixed. The sample rate stays.
  let output = AssetReaderTrackOutput(
    trackID: track.id, settings: AudioReadSettings(.signed16, channelCount: 1))
  try reader.add(output)
  try reader.startReading()

  var samples: [Int16] = []
  while let buffer = output.copyNextSampleBuffer() {
    buffer.data.withUnsafeBytes { bytes in
      for offset in stride(from: 0, to: bytes.count, by: 2) {
        samples.append(Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int16.self)))
      }
    }
  }
  // `copyNextSampleBuffer` also returns nil after an error.
  if let error = reader.error { throw error }
  print("\(samples.count) samples, status: \(reader.status.rawValue)")

  for bin in 0..<binCount {
    let range = bin * samples.count / binCount..<(bin + 1) * samples.count / binCount
    let peak = samples[range].map { Int($0).magnitude }.max() ?? 0
    print(String(repeating: "#", count: Int(peak) * 60 / 32_768), peak)
  }
} catch {
  fail("samples: \(error)")
}
