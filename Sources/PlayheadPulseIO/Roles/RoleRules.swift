/// Derives the effect of a PulseAudio server's role modules on a stream from the modules' arguments.
///
/// `module-role-cork` mutes a stream and requests its cork while a stream with a trigger role plays;
/// `module-role-ducking` lowers its volume. Clients cannot observe either reliably: a cork request to a stream that is
/// being created is lost, and the server does not report the ducked volume.
///
/// This type therefore implements the modules' rules: src/modules/stream-interaction.c of PulseAudio 16.1. (PipeWire
/// has no such modules.)
struct RoleRules: Equatable {
  /// One group of a module's arguments: streams of the trigger roles affect streams of the affected roles.
  struct Group: Equatable {
    var triggerRoles: Set<String>
    var affectedRoles: Set<String>
  }

  enum Effect: Equatable {
    case corks, ducks
  }

  /// The properties of a stream that the rules need.
  struct Stream: Equatable {
    var index: UInt32
    /// The index of the sink or the source.
    var device: UInt32
    var isRecording = false
    /// The role; nil for a stream without one.
    var role: String?
    var isCorked: Bool
    var isMuted: Bool
  }

  var effect: Effect
  var groups: [Group]
  /// Whether streams of other devices, and recordings, count too.
  var isGlobal: Bool

  /// Parses the rules of a module from its name and arguments; nil for any other module.
  init?(module: String, arguments: String) {
    switch module {
    case "module-role-cork": effect = .corks
    case "module-role-ducking": effect = .ducks
    default: return nil
    }
    let values = Self.values(arguments)
    let triggers = Self.roles(values["trigger_roles"]) ?? [["phone"]]
    let affected = Self.roles(values[effect == .corks ? "cork_roles" : "ducking_roles"]) ?? [["music", "video"]]
    groups = zip(triggers, affected).map { Group(triggerRoles: $0, affectedRoles: $1) }
    isGlobal = ["1", "y", "yes", "t", "true", "on"].contains(values["global", default: "no"].lowercased())
  }

  /// Returns whether these rules cork or duck stream `index` among the existing `streams`.
  func affects(_ index: UInt32, among streams: [Stream]) -> Bool {
    guard let affected = streams.first(where: { $0.index == index && !$0.isRecording }) else { return false }
    return groups.contains { group in
      let role = affected.role ?? "no_role"
      guard
        group.affectedRoles.contains(role)
          || group.affectedRoles.contains("any_role") && !group.triggerRoles.contains(role)
      else { return false }
      return streams.contains { isTrigger($0, in: group, for: affected) }
    }
  }

  private func isTrigger(_ stream: Stream, in group: Group, for affected: Stream) -> Bool {
    guard stream != affected, !stream.isCorked, !stream.isMuted,
      group.triggerRoles.contains(stream.role ?? "no_role")
    else { return false }
    return isGlobal || !stream.isRecording && stream.device == affected.device
  }

  // MARK: - Arguments

  /// Parses `a=b c="d e"`, as PulseAudio does.
  private static func values(_ arguments: String) -> [String: String] {
    var values: [String: String] = [:]
    var rest = Substring(arguments)
    while true {
      rest = rest.drop { $0.isWhitespace }
      guard let equals = rest.firstIndex(of: "=") else { return values }
      let key = String(rest[..<equals])
      rest = rest[rest.index(after: equals)...]
      if let quote = rest.first, quote == "\"" || quote == "'" {
        let value = rest.dropFirst().prefix { $0 != quote }
        values[key] = String(value)
        rest = rest[value.endIndex...].dropFirst()
      } else {
        let value = rest.prefix { !$0.isWhitespace }
        values[key] = String(value)
        rest = rest[value.endIndex...]
      }
    }
  }

  /// Parses `a,b/c`: groups of roles; nil for an empty or missing argument.
  private static func roles(_ text: String?) -> [Set<String>]? {
    guard let text, !text.isEmpty else { return nil }
    return text.split(separator: "/").map { Set($0.split(separator: ",").map(String.init)) }
  }
}
