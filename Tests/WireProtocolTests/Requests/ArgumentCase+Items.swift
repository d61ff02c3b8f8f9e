import PlayheadMediaCore

@testable import PlayheadWireProtocol

extension ArgumentCase {
  static let items: [Self] = states + settings + volumes + copies + itemTracks + itemTags

  private static let states: [Self] = [
    Self("item.status", ItemStatusCommand.self) { $0.id == .current && $0.player == "main" },
    Self("item.status 9", ItemStatusCommand.self) { $0.id == 9 && $0.player == "main" },
    Self("item.log 2", ItemLogCommand.self) { $0.id == 2 && $0.player == "main" },
  ]

  private static let settings: [Self] = [
    Self("item.buffer 2", ItemBufferCommand.self) { $0.id == 2 && $0.duration == nil && $0.player == "main" },
    Self("item.buffer 2 3", ItemBufferCommand.self) { try $0.id == 2 && $0.duration == seconds("3") },
    Self("item.end-time 2", ItemEndTimeCommand.self) { $0.id == 2 && $0.forward == nil && $0.reverse == nil },
    Self("item.end-time 2 forward=1:30 reverse=none", ItemEndTimeCommand.self) {
      try $0.id == 2 && $0.forward == seconds("90") && $0.reverse == .invalid && $0.player == "main"
    },
    Self("item.pitch 9", ItemPitchCommand.self) { $0.id == 9 && $0.algorithm == nil && $0.player == "main" },
    Self("item.pitch 9 varispeed", ItemPitchCommand.self) {
      $0.algorithm == .varispeed && $0.algorithm?.algorithm == .varispeed
    },
    Self("item.pitch 9 player", ItemPitchCommand.self) { $0.algorithm == .player && $0.algorithm?.algorithm == nil },
  ]

  private static func volume(_ line: String, clears: Bool = false, _ expected: VolumeStep?) -> Self {
    Self(line, ItemVolumeCommand.self) {
      try $0.id == 9 && $0.clear == clears && $0.step() == expected && $0.player == "main"
    }
  }

  private static let volumes: [Self] = [
    volume("item.volume 9", nil), volume("item.volume 9 clear", clears: true, nil),
    volume("item.volume 9 0.25", VolumeStep(volume: 0.25, time: .zero, ramp: nil)),
    Self("item.volume 9 0.5 at=4 to=0.2 over=5", ItemVolumeCommand.self) {
      let ramp = VolumeStep.Ramp(volume: 0.2, duration: try seconds("5"))
      return try !$0.clear && $0.step() == VolumeStep(volume: 0.5, time: seconds("4"), ramp: ramp)
    },
  ]

  private static let copies: [Self] = [
    Self("item.copy 2", ItemCopyCommand.self) {
      try $0.id == 2 && $0.position() == .after(item: 2) && $0.ifVersion == nil && $0.player == "main"
    },
    Self("item.copy 9 after=4", ItemCopyCommand.self) { try $0.id == 9 && $0.position() == .after(item: 4) },
    Self("item.copy 9 before=2 if-version=3", ItemCopyCommand.self) {
      try $0.id == 9 && $0.position() == .before(item: 2) && $0.ifVersion == 3 && $0.player == "main"
    },
  ]

  private static let itemTracks: [Self] = [
    Self("item.tracks 9", ItemTracksCommand.self) { $0.id == 9 && $0.player == "main" },
    Self("item.selection 3 player=x", ItemSelectionCommand.self) { $0.id == 3 && $0.player == "x" },
    Self("item.chapters 9", ItemChaptersCommand.self) {
      $0.id == 9 && $0.offset == 0 && $0.languages.isEmpty && $0.player == "main"
    },
    Self("item.chapters 9 language=de,en-GB", ItemChaptersCommand.self) {
      $0.id == 9 && $0.offset == 0 && $0.languages == ["de", "en-GB"] && $0.player == "main"
    },
    Self("item.chapters 9 offset=4 player=b", ItemChaptersCommand.self) {
      $0.id == 9 && $0.offset == 4 && $0.languages.isEmpty && $0.player == "b"
    },
    Self("item.select 9", ItemSelectCommand.self) { $0.id == 9 && $0.audio == nil && $0.subtitles == nil },
    Self("item.select 9 audio=2", ItemSelectCommand.self) {
      $0.id == 9 && $0.audio == .track(2) && $0.subtitles == nil && $0.player == "main"
    },
    Self("item.select 9 audio=en-GB subtitles=none", ItemSelectCommand.self) {
      $0.audio == .language("en-GB") && $0.subtitles == TrackChoice.none
    },
    Self("item.select 9 subtitles=auto", ItemSelectCommand.self) { $0.audio == nil && $0.subtitles == .automatic },
  ]

  private static let itemTags: [Self] = [
    Self("item.metadata 9 player=b", ItemMetadataCommand.self) {
      $0.id == 9 && $0.query == MetadataQuery() && $0.player == "b"
    },
    Self("item.artwork 9 index=1 offset=5 limit=6", ItemArtworkCommand.self) {
      try $0.id == 9 && $0.artworkQuery() == .part(index: 1, offset: 5, limit: 6) && $0.player == "main"
    },
  ]
}
