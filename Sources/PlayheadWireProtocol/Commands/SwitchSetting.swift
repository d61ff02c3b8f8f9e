/// A change of a setting that is on or off.
package enum SwitchSetting: String, Sendable, Hashable, CaseIterable {
  case on
  case off
  case toggle

  /// The new state, given the current one.
  package func isOn(current: Bool) -> Bool {
    switch self {
    case .on: true
    case .off: false
    case .toggle: !current
    }
  }
}
