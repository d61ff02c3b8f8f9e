// An HLS stream may be heard in several ways: in other languages, with comments. Each is a stream of its own beside the first one, with
// a playlist and variants of its own, which is loaded once it is wanted. Their times are the same.
import LibAV
import MediaCore
import NetworkIO
import Playlists

extension StreamSession {
  /// What there is to choose from in a stream.
  struct Options: Sendable {
    let choice: HLSVariantChoice
    /// Where the master playlist is.
    let place: PlaylistPlace
    /// In the order of their numbers, which are those of the asset's tracks.
    let audio: [HLSRendition]
    let subtitles: [HLSRendition]
    /// What is heard unless something else is wanted; nil: the variants' own sound, and there is nothing else.
    let defaultIndex: Int?

    init(_ choice: HLSVariantChoice, at place: PlaylistPlace, candidates: [HLSVariantChoice.Candidate]) {
      self.choice = choice
      self.place = place
      subtitles = choice.subtitleOptions
      let options = choice.audioOptions
      let first = candidates.lazy.compactMap(\.rendition).first
      defaultIndex = first.flatMap { first in options.firstIndex(where: first.isSame) }
      audio = defaultIndex == nil ? [] : options
    }
  }

  /// The stream that a track of the asset is: this one, or a rendition of it. Blocks where that was not read before.
  ///
  /// - Parameters:
  ///   - trackID: nil: what the stream would have.
  ///   - fetcher: that of the reader who wants it.
  ///
  /// Errors: `noSuchTrack`; those of opening a playlist.
  func rendition(
    _ trackID: AssetTrack.ID?, fetcher: StreamFetcher, interrupt: Interrupt
  ) throws(MediaError) -> StreamSession {
    guard let options, let defaultIndex = options.defaultIndex, let trackID, trackID != defaultIndex else {
      return self
    }
    guard options.audio.indices.contains(trackID) else {
      throw MediaError(.noSuchTrack, "there is no sound track \(trackID) in \(name)")
    }
    if let known = signal.withState({ $0.renditions[trackID] }) {
      known.describe(to: fetcher)
      return known
    }
    let candidates = options.choice.candidates(
      peakBitRateLimit: self.fetcher.options.preferredPeakBitRate, option: options.audio[trackID])
    let fresh = try StreamSession(
      rendition: trackID, of: self, candidates: candidates, at: options.place, interrupt: interrupt)
    let session = signal.withState { state in
      let known = state.renditions[trackID] ?? fresh
      state.renditions[trackID] = known
      return known
    }
    session.describe(to: fetcher)
    return session
  }
}

extension AssetProperties {
  /// The same with the renditions of a stream as its tracks, instead of those that its own segments have.
  func withRenditions(_ options: StreamSession.Options?) -> AssetProperties {
    guard let options else { return self }
    let heard = audioTrack
    var list: [AssetTrack] = []
    if let defaultIndex = options.defaultIndex {
      list = options.audio.enumerated().map { index, rendition in
        AssetTrack(rendition, id: index, like: heard, isHeard: index == defaultIndex)
      }
      let others = tracks.filter { $0.mediaType != .audio }
      list += others.enumerated().map { $1.numbered(options.audio.count + $0) }
    } else {
      list = tracks
    }
    let first = (list.map(\.id).max() ?? -1) + 1
    list += options.subtitles.enumerated().map { index, rendition in
      AssetTrack(rendition, id: first + index, lasting: heard?.timeRange)
    }
    return withTracks(list, audioTrackID: heard == nil ? nil : options.defaultIndex ?? audioTrackID)
  }
}

extension MediaCharacteristic {
  /// What a playlist's name for it means; nil for what there is no word for.
  init?(ofStream name: String) {
    switch name {
    case "public.original-content": self = .isOriginalContent
    case "public.translation.dubbed", "public.translation": self = .isDubbedTranslation
    case "public.auxiliary-content": self = .isAuxiliaryContent
    case "public.subtitles.forced-only": self = .containsOnlyForcedSubtitles
    case "public.accessibility.transcribes-spoken-dialog": self = .transcribesSpokenDialog
    case "public.accessibility.describes-video": self = .describesVideo
    default: return nil
    }
  }
}

extension HLSRendition {
  /// What it is for, as far as there are words for it.
  var mediaCharacteristics: Set<MediaCharacteristic> {
    Set(characteristics.compactMap { MediaCharacteristic(ofStream: $0) }).union(
      isForced ? [.containsOnlyForcedSubtitles] : [])
  }
}
