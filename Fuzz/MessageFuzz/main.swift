import Fuzzing
import PlayheadMediaCore
import PlayheadTags

@testable import PlayheadIsolation
@testable import PlayheadMediaAssets

// The results of a worker process that a hostile file controls: any bytes. The first byte of an input selects the type
// of the result. Decoding must not trap or hang, and its memory is bounded by the number of bytes. A decoded value is
// the same after another round trip. Every check of its numbers returns.

/// Decodes a value, encodes it, and decodes it again.
func checkRoundTrip<Value: Codable>(_ type: Value.Type, _ bytes: [UInt8], _ use: (Value) -> Void = { _ in }) {
  guard let value = try? MessageDecoder.value(type, from: bytes) else { return }
  use(value)
  let encoded = MessageEncoder.bytes(of: value)
  guard let decoded = try? MessageDecoder.value(type, from: encoded) else {
    preconditionFailure("a \(type) was decoded, and its encoded form was not")
  }
  precondition(MessageEncoder.bytes(of: decoded) == encoded, "a \(type) changed during a round trip")
}

let checks: [([UInt8]) -> Void] = [
  { checkRoundTrip(AssetProperties.self, $0) { _ = $0.isPlausible } },
  { checkRoundTrip(AssetMetadata.self, $0) { _ = ($0.commonMetadata, $0.replayGain) } },
  { checkRoundTrip(TagReading.self, $0) },
  { checkRoundTrip(AudioDescription.self, $0) { _ = $0.format.isSupported } },
  { checkRoundTrip(AudioReading.self, $0) },
  { checkRoundTrip(ImageDescription.self, $0) },
  { checkRoundTrip(ImageFault.self, $0) },
  { checkRoundTrip(TimeRange.self, $0) { _ = $0.duration.isNumeric } },
  { checkRoundTrip(ReadRequest.self, $0) },
  { checkRoundTrip([UInt8].self, $0) },
  { checkRoundTrip(MediaError.self, $0) },
]

fuzz { input in
  guard let first = input.first else { return }
  checks[Int(first) % checks.count](Array(input.dropFirst()))
}
