import Foundation
import MediaTesting
import Synchronization
import Testing

@testable import PlayheadPlayback

/// Audio whose samples encode their position: the two channels are a point that circles once in 1,000 frames.
enum Circle {
  static let round = 1_000.0

  /// The position of a frame within its round; infinity for silence.
  static func position(left: Float, right: Float) -> Double {
    if left == 0, right == 0 { return .infinity }
    return atan2(Double(right), Double(left)) / (2 * .pi) * round
  }

  /// The distance of `position` from `other`, from -500 to 500 frames.
  static func difference(_ position: Double, _ other: Double) -> Double {
    (position - other).remainder(dividingBy: round)
  }

  /// Not `Data`, whose pointers the leak sanitizer does not find.
  private static let files = Mutex<[String: [UInt8]]>([:])

  /// A WAV file of a circle, in float32.
  static func file(frames: Int, rate: Int) -> [UInt8] {
    files.withLock { files in
      let name = "\(frames) at \(rate)"
      if let cached = files[name] { return cached }
      var bytes = Array("RIFF".utf8)
      func append(_ value: Int, _ count: Int) {
        for byte in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * byte))) }
      }
      append(36 + frames * 8, 4)
      bytes += Array("WAVEfmt ".utf8)
      for (value, count) in [(16, 4), (3, 2), (2, 2), (rate, 4), (rate * 8, 4), (8, 2), (32, 2)] {
        append(value, count)
      }
      bytes += Array("data".utf8)
      append(frames * 8, 4)
      let samples = [Float](unsafeUninitializedCapacity: frames * 2) { buffer, count in
        for index in 0..<frames {
          let angle = Double(index % Int(round)) / round * 2 * Double.pi
          buffer[index * 2] = Float(0.8 * cos(angle))
          buffer[index * 2 + 1] = Float(0.8 * sin(angle))
        }
        count = frames * 2
      }
      samples.withUnsafeBytes { bytes.append(contentsOf: $0) }
      files[name] = bytes
      return bytes
    }
  }
}

extension HeardSamples {
  /// The positions of all heard frames within their rounds; infinity for silence.
  var positions: [Double] {
    zip(left, right).map { (left: Float, right: Float) -> Double in Circle.position(left: left, right: right) }
  }

  /// The heard positions within their rounds, without silence at the beginning.
  var positionsAfterSilence: [Double] { Array(positions.drop { $0 == .infinity }) }
}

extension Rig {
  /// Creates an item that circles, in float32.
  func circle(frames: Int, rate: Int = 48_000) throws -> PlayerItem {
    let path = files.file("circle-\(frames)-\(rate).wav")
    let bytes = Circle.file(frames: frames, rate: rate)
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    return item(path)
  }
}
