// The alternative renditions of an HLS stream, such as other languages or commentary. Each is a separate session with
// its own playlist and variants, which is loaded when it is first used. All renditions share one timeline.
import PlayheadLibAV
import PlayheadMediaCore
import PlayheadNetworkIO
import PlayheadPlaylists

extension StreamSession {
  /// The renditions that a master playlist offers.
  struct Options: Sendable {
    let choice: HLSVariantChoice
    /// The location of the master playlist.
    let location: PlaylistLocation
    /// The audio renditions. Their indices are the IDs of the asset's tracks.
    let audio: [HLSRendition]
    let subtitles: [HLSRendition]
    /// The index of the default rendition; nil if the stream has only the audio of its variants.
    let defaultIndex: Int?

    init(_ choice: HLSVariantChoice, at location: PlaylistLocation, candidates: [HLSVariantChoice.Candidate]) {
      self.choice = choice
      self.location = location
      subtitles = choice.subtitleOptions
      let options = choice.audioOptions
      let first = candidates.lazy.compactMap(\.rendition).first
      defaultIndex = first.flatMap { first in options.firstIndex(where: first.isSame) }
      audio = defaultIndex == nil ? [] : options
    }
  }

  /// Returns the session of a track of the asset: this one, or that of a rendition. Blocks if the rendition has not
  /// been loaded before.
  ///
  /// - Parameters:
  ///   - trackID: The track; nil for the default one.
  ///   - fetcher: The fetcher of the reader.
  ///
  /// - Throws: `noSuchTrack`; the errors of opening a playlist.
  func rendition(
    _ trackID: AssetTrack.ID?, fetcher: StreamFetcher, interrupt: Interrupt
  ) throws(MediaError) -> StreamSession {
    guard let options, let defaultIndex = options.defaultIndex, let trackID, trackID != defaultIndex else {
      return self
    }
    guard options.audio.indices.contains(trackID) else {
      throw MediaError(.noSuchTrack, "there is no audio track \(trackID) in \(name)")
    }
    if let known = signal.withState({ $0.renditions[trackID] }) {
      known.logProperties(to: fetcher)
      return known
    }
    let candidates = options.choice.candidates(
      peakBitRateLimit: self.fetcher.options.preferredPeakBitRate, option: options.audio[trackID])
    let fresh = try StreamSession(
      rendition: trackID, of: self, candidates: candidates, at: options.location, interrupt: interrupt)
    let session = signal.withState { state in
      let known = state.renditions[trackID] ?? fresh
      state.renditions[trackID] = known
      return known
    }
    session.logProperties(to: fetcher)
    return session
  }
}

extension AssetProperties {
  /// Returns the properties with the renditions of a stream as tracks instead of the audio tracks of its segments.
  func withRenditions(_ options: StreamSession.Options?) -> AssetProperties {
    guard let options else { return self }
    let playingTrack = audioTrack
    var list: [AssetTrack] = []
    if let defaultIndex = options.defaultIndex {
      list = options.audio.enumerated().map { index, rendition in
        AssetTrack(rendition, id: index, like: playingTrack, isDefaultTrack: index == defaultIndex)
      }
      let others = tracks.filter { $0.mediaType != .audio }
      list += others.enumerated().map { $1.numbered(options.audio.count + $0) }
    } else {
      list = tracks
    }
    let first = (list.map(\.id).max() ?? -1) + 1
    list += options.subtitles.enumerated().map { index, rendition in
      AssetTrack(rendition, id: first + index, lasting: playingTrack?.timeRange)
    }
    return withTracks(list, audioTrackID: playingTrack == nil ? nil : options.defaultIndex ?? audioTrackID)
  }
}

extension MediaCharacteristic {
  /// Returns the characteristic for the name in a playlist; nil if there is none.
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
  /// The characteristics of the rendition for which `MediaCharacteristic` has a case.
  var mediaCharacteristics: Set<MediaCharacteristic> {
    Set(characteristics.compactMap { MediaCharacteristic(ofStream: $0) }).union(
      isForced ? [.containsOnlyForcedSubtitles] : [])
  }
}
