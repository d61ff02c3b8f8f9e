import PlayheadMediaAssets
import PlayheadMediaCore
import PlayheadPlayerModel

/// The titles and the timed metadata of streams, which are reported when they are heard.
final class StreamMetadata: PlayerFeature {
  /// A title or metadata of a stream that has not been heard yet.
  struct Pending {
    enum Content {
      /// The time at which it begins, and the title.
      case title(MediaTime, StreamTitle)
      case timedMetadata(TimedMetadataGroup)
    }

    var streamID: UInt64
    var streamFrame: Int64
    var itemID: PlayerItem.ID
    var content: Content

    /// Whether the content is timed metadata, which the decode thread reports again when decoding restarts.
    var isTimedMetadata: Bool { if case .timedMetadata = content { true } else { false } }
  }

  private unowned let player: PlayerCore
  /// In the order of their frames.
  private var pending: [Pending] = []

  init(_ player: PlayerCore) { self.player = player }

  /// Stores a title or metadata until it is heard, in the order of frames within a stream.
  func add(_ metadata: Pending) {
    let index = pending.lastIndex {
      $0.streamID != metadata.streamID || $0.streamFrame <= metadata.streamFrame
    }
    pending.insert(metadata, at: index.map { $0 + 1 } ?? 0)
  }

  func findNextMilestone() -> Int64? {
    pending.first.flatMap { player.timeline.outputFrame(streamID: $0.streamID, streamFrame: $0.streamFrame) }
  }

  func milestoneHeard(at frame: Int64) {
    guard !pending.isEmpty else { return }
    report(pending.removeFirst())
  }

  /// Applies and reports a title or metadata that is heard now.
  private func report(_ metadata: Pending) {
    switch metadata.content {
    case .title(let time, let streamTitle):
      player.items[metadata.itemID]?.setStreamTitle((time, streamTitle))
      player.send(.streamTitle(metadata.itemID, time, streamTitle))
    case .timedMetadata(let group):
      // Metadata that was already reported before decoding restarted is not reported again.
      guard let item = player.items[metadata.itemID], item.addTimedMetadata(group) else { return }
      player.send(.timedMetadata(metadata.itemID, group))
    }
  }

  /// Discards titles and metadata of streams that are no longer used. The newest title of the current item is applied,
  /// because it is still valid.
  func update() {
    guard !pending.isEmpty else { return }
    let streams = Set(player.chain.generations.map(\.stream.id))
    let lost = pending.filter { !streams.contains($0.streamID) }
    guard !lost.isEmpty else { return }
    pending.removeAll { !streams.contains($0.streamID) }
    if let title = lost.last(where: { !$0.isTimedMetadata }), title.itemID == player.machine.entries.first?.id {
      report(title)
    }
  }
}
