import PlayheadMediaCore

extension Asset {
  /// Creates an asset from a composition. Performs no I/O: the composition's assets are opened during reading, each
  /// when it is needed.
  public convenience init(composition: Composition) { self.init(composition: composition, workers: .shared) }

  /// Creates an asset from a composition, with the threads that load it for asynchronous requests.
  package convenience init(composition: Composition, workers: AssetWorkers) {
    self.init(location: .composition(composition), workers: workers)
  }

  /// The composition of the asset; nil for other assets.
  public var composition: Composition? { if case .composition(let composition) = location { composition } else { nil } }
}

extension Composition {
  /// The number of nested compositions, including this one.
  var depth: Int { 1 + (assets.map(\.compositionDepth).max() ?? 0) }

  /// The assets of the composition, each once, without the assets of nested compositions.
  var assets: [Asset] {
    var seen: Set<ObjectIdentifier> = []
    return tracks.flatMap { track in
      track.segments.compactMap { $0.source?.asset }.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }
  }

  /// The format in which audio is read; nil if there is no audio.
  var audioFormat: AudioFormat? {
    let formats = tracks.filter { $0.mediaType == .audio }.flatMap { track in
      track.segments.compactMap { $0.source?.track.audioFormat }
    }
    guard let first = formats.first, let channelCount = formats.map(\.channelCount).max() else { return nil }
    return AudioFormat(sampleRateHz: first.sampleRateHz, channelCount: channelCount)
  }

  /// The channel mask of the audio with the most channels; nil if it is unspecified, or if sources with as many
  /// channels have different masks.
  var channelMask: UInt64? {
    guard let count = audioFormat?.channelCount else { return nil }
    let masks = tracks.flatMap { track in
      track.segments.compactMap { $0.source?.track }.filter { $0.audioFormat?.channelCount == count }.map(\.channelMask)
    }
    guard let first = masks.first, masks.allSatisfy({ $0 == first }) else { return nil }
    return first
  }

  /// Returns the properties of an asset of this composition.
  ///
  /// - Throws: `noPlayableTracks` for an empty composition.
  func properties() throws(MediaError) -> AssetProperties {
    guard duration > .zero else {
      throw MediaError(.noPlayableTracks, "the composition is empty", operation: "load")
    }
    return AssetProperties(composition: self)
  }
}
