import Foundation
import PlayheadMediaAssets
import PlayheadMediaCore
import RigSupport

@testable import PlayheadPlayback

extension Rig {
  /// Returns the code of the error that `body` throws; nil without an error.
  func error(_ body: @Sendable (isolated QueuePlayer) throws -> Void) async -> MediaError.Code? {
    do {
      try await body(player)
      return nil
    } catch { return (error as? MediaError)?.code }
  }

  /// Creates an item with a constant value, -1 to 1, on both channels.
  func level(_ level: Double, frames: Int, rate: Int = 48_000) throws -> PlayerItem {
    let value = Int16(clamping: Int((level * 32_768).rounded()))
    return try wave("level-\(value)-\(frames)-\(rate).wav", frames: frames, rate: rate) { _ in
      StereoFrame(left: value, right: value)
    }
  }

  /// Returns the content of an item's file.
  func bytes(of item: PlayerItem) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: item.asset.path ?? ""))
  }

  /// Creates an item from the content of a file.
  func write(_ data: Data, as name: String) throws -> PlayerItem {
    let path = files.file(name)
    try data.write(to: URL(fileURLWithPath: path))
    return item(path)
  }

  /// Creates an item from arbitrary frames.
  func wave(
    _ name: String, frames: Int, rate: Int = 48_000, frame: (_ index: Int) -> StereoFrame
  ) throws -> PlayerItem {
    let path = files.file(name)
    try TimeCode.writeWAV(path: path, frameCount: frames, sampleRateHz: rate, frame: frame)
    return item(path)
  }
}
