import MediaAssets
import MediaCore
import Playback
import WireProtocol

/// The command for the criteria by which a player selects tracks automatically.
extension Connection {
  /// Changes the criteria of a group and the automatic selection, if given. Returns the criteria of all groups.
  func changeMediaSelection(
    _ change: MediaSelectionChange, of target: NamedPlayer
  ) throws(MediaError) -> Reply {
    if let group = change.group, change.criteria != nil || change.clears {
      let criteria = change.criteria.map(MediaSelectionCriteria.init)
      try target.player.tryOnLoop { player throws(MediaError) in
        try player.setMediaSelectionCriteria(criteria, for: MediaCharacteristic(group))
      }
    }
    if let automatic = change.automatic {
      target.player.onLoop { player in
        player.setAppliesMediaSelectionCriteriaAutomatically(
          automatic.isOn(current: player.appliesMediaSelectionCriteriaAutomatically))
      }
    }
    let rows = MediaSelectionChange.Group.allCases.compactMap { group -> Fields? in
      let criteria = target.player.onLoop { $0.mediaSelectionCriteria(for: MediaCharacteristic(group)) }
      guard let criteria else { return nil }
      return [
        "group": .string(group.rawValue), "languages": .strings(criteria.preferredLanguages),
        "characteristics": Self.names(criteria.preferredCharacteristics),
        "principal": Self.names(criteria.principalCharacteristics),
      ]
    }
    let isApplied = target.player.onLoop { $0.appliesMediaSelectionCriteriaAutomatically }
    return .ok(["automatic": .bool(isApplied)], rows: rows)
  }

  private static func names(_ characteristics: Set<MediaCharacteristic>) -> FieldValue {
    .strings(characteristics.map(\.rawValue).sorted())
  }
}

extension MediaCharacteristic {
  fileprivate init(_ group: MediaSelectionChange.Group) {
    self =
      switch group {
      case .audible: .audible
      case .legible: .legible
      }
  }
}

extension MediaSelectionCriteria {
  /// The criteria in the form of `media-selection`, without the group.
  var wireText: String {
    func names(_ characteristics: Set<MediaCharacteristic>) -> [String] { characteristics.map(\.rawValue).sorted() }
    let parts = [
      ("language", preferredLanguages), ("characteristics", names(preferredCharacteristics)),
      ("principal", names(principalCharacteristics)),
    ]
    return parts.filter { !$0.1.isEmpty }.map { "\($0.0)=\($0.1.joined(separator: ","))" }.joined(separator: " ")
  }

  fileprivate init(_ criteria: MediaSelectionChange.Criteria) {
    func characteristics(_ names: Set<MediaSelectionChange.Characteristic>) -> Set<MediaCharacteristic> {
      Set(names.compactMap { MediaCharacteristic(rawValue: $0.rawValue) })
    }
    self.init(
      preferredLanguages: Array(criteria.languages),
      preferredCharacteristics: characteristics(criteria.characteristics),
      principalCharacteristics: characteristics(criteria.principal))
  }
}
