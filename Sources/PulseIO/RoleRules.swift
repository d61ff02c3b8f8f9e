/// What the modules of a PulseAudio server that go by roles do to a stream, worked out from their arguments.
///
/// `module-role-cork` mutes a stream and asks it to stand still while another with a trigger role sounds; `module-role-ducking`
/// lowers it. Neither is told apart from outside: a request to a stream that is being made is lost, and what ducking does to
/// the volume is not in what the server says of a stream. So their rules are followed here: src/modules/stream-interaction.c of
/// PulseAudio 16.1. (PipeWire has no such modules.)
struct RoleRules: Equatable {
  /// One line of a module's argument: which roles have which others do something.
  struct Group: Equatable {
    var triggerRoles: Set<String>
    var affectedRoles: Set<String>
  }

  enum Effect: Equatable {
    case corks, ducks
  }

  /// A stream as far as roles go.
  struct Stream: Equatable {
    var index: UInt32
    /// The sink's index, or the source's.
    var device: UInt32
    var isRecording = false
    /// Nil: it has none.
    var role: String?
    var isCorked: Bool
    var isMuted: Bool
  }

  var effect: Effect
  var groups: [Group]
  /// Streams of other devices, and recordings, count too.
  var isGlobal: Bool

  /// The rules of a module by its name and arguments; nil for any other module.
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

  /// Whether stream `index` is corked or ducked by these rules, as long as `streams` are what there is.
  func affects(_ index: UInt32, among streams: [Stream]) -> Bool {
    guard let own = streams.first(where: { $0.index == index && !$0.isRecording }) else { return false }
    return groups.contains { group in
      let role = own.role ?? "no_role"
      guard
        group.affectedRoles.contains(role)
          || group.affectedRoles.contains("any_role") && !group.triggerRoles.contains(role)
      else { return false }
      return streams.contains { isTrigger($0, in: group, for: own) }
    }
  }

  private func isTrigger(_ stream: Stream, in group: Group, for own: Stream) -> Bool {
    guard stream != own, !stream.isCorked, !stream.isMuted, group.triggerRoles.contains(stream.role ?? "no_role") else {
      return false
    }
    return isGlobal || !stream.isRecording && stream.device == own.device
  }

  // MARK: - Arguments

  /// `a=b c="d e"`, as PulseAudio reads them.
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

  /// `a,b/c`: roles in groups; nil where none are said.
  private static func roles(_ text: String?) -> [Set<String>]? {
    guard let text, !text.isEmpty else { return nil }
    return text.split(separator: "/").map { Set($0.split(separator: ",").map(String.init)) }
  }
}
