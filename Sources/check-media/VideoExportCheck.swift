import PlayheadMediaAssets
import PlayheadMediaCore

/// Copies the whole file with its video. `scripts/check-media` compares the video frames of the copies with those of
/// the file.
struct VideoExportCheck: Sendable {
  let options: CheckOptions
  let properties: AssetProperties
  let report: CheckReport

  /// Containers for copies, by FFmpeg's names of codecs. All of them can be copied to Matroska.
  private static let movies: [String: WritableContainer] = [
    "h264": .mp4, "hevc": .mp4, "av1": .mp4, "vp9": .mp4, "mpeg4": .mp4, "mpeg2video": .mp4, "mpeg1video": .mp4,
    "mjpeg": .mov,
  ]
  private static let matroskaOnly: Set<String> = ["vp8", "theora", "ffv1"]

  /// Copies the file into each container that supports the codec.
  func run() async {
    guard let track = properties.tracks.first(where: { $0.mediaType == .video }) else { return }
    guard properties.formatName != "hls" else { return report.note("streams are not copied") }
    let movie = Self.movies[track.codecName]
    guard movie != nil || Self.matroskaOnly.contains(track.codecName) else {
      return report.note("no container for a copy of \(track.codecName)")
    }
    for container in [movie, .matroska].compactMap(\.self) { await copy(to: container) }
  }

  private func copy(to container: WritableContainer) async {
    report.countComparison()
    let path = "\(options.scratch)/video.\(container == .matroska ? "mkv" : container.rawValue)"
    var settings = ExportSettings.passthrough(container)
    settings.metadataFilter = .none
    do throws(MediaError) {
      do throws(MediaError) {
        try await export(to: path, settings)
      } catch {
        // The container may not support the codec of the audio.
        guard error.code == .invalidArgument else { throw error }
        settings.audio = .none
        try await export(to: path, settings)
      }
      report.copy(path)
    } catch {
      report.fail(.exportVideo, expected: "a copy to \(container.rawValue)", found: "\(error)")
    }
  }

  private func export(to path: String, _ settings: ExportSettings) async throws(MediaError) {
    let session = AssetExportSession(
      Asset(path: options.path), to: path, settings, replacesFile: true)
    _ = try await session.outcome()
  }
}
