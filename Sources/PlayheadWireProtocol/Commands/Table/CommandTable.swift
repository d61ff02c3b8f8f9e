import PlayheadMediaCore
import Synchronization

/// The table of all commands. Both forms, `help`, the client's completion and the reference derive from it.
package enum CommandTable {
  /// A command whose definition is created when it is first used: one call of the client uses one or two commands.
  package final class Entry: Sendable {
    let name: CommandName
    private let create: @Sendable () -> CommandSpec
    /// The bits of a retained reference; 0 for none. `AtomicLazyReference` would look up its generic type at each use.
    private let created = Atomic<UInt>(0)

    var spec: CommandSpec { Self.spec(created.load(ordering: .acquiring)) ?? store(create()) }

    private static func spec(_ bits: UInt) -> CommandSpec? {
      UnsafeRawPointer(bitPattern: bits).map { Unmanaged<CommandSpec>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Stores the definition, unless another thread was first. It lives as long as the program, like the table.
    private func store(_ spec: CommandSpec) -> CommandSpec {
      let retained = Unmanaged.passRetained(spec)
      let (isStored, original) = created.compareExchange(
        expected: 0, desired: UInt(bitPattern: retained.toOpaque()), ordering: .acquiringAndReleasing)
      if !isStored { retained.release() }
      return Self.spec(original) ?? spec
    }

    init<Definition: Command>(_: Definition.Type) {
      name = Definition.name
      create = { Definition.definition.spec }
    }
  }

  /// Every command, sorted by name.
  private static let entries: [Entry] = families.joined().sorted { $0.name.rawValue < $1.name.rawValue }

  /// The sort key of each entry.
  private static let keys: [UInt64] = entries.map { key($0.name.rawValue.utf8) }

  /// The first eight bytes of a name as a number. Different keys are in the order of their names.
  private static func key(_ name: some Collection<UInt8>) -> UInt64 {
    var (key, count) = (UInt64(0), 0)
    for byte in name.prefix(8) {
      key = key << 8 | UInt64(byte)
      count += 1
    }
    return key << UInt64(8 * (8 - count))
  }

  /// The definition of every command, sorted by name.
  package static let all: [CommandSpec] = entries.map(\.spec)

  /// The definition of the command at an index of `all`.
  package static func spec(at index: Int) -> CommandSpec { entries[index].spec }

  /// The number of commands.
  package static var count: Int { entries.count }

  /// The parameter that selects the player, which most commands have.
  static let player = ParameterSpec(.player, .playerName, .option, "NAME", "which player; default: `main`")

  /// The parameter that selects one player or all players.
  static let playerOrAll = ParameterSpec(
    .player, .playerNameOrAll, .option, "NAME|*", "which player, or `*` for all players; default: `main`")

  /// An entry of the queue: its id, from 1, or its position.
  static let item = ParameterSpec.Kind.entry

  /// The definition of a command.
  package static func spec(_ name: CommandName) -> CommandSpec? { spec(named: name.rawValue.utf8) }

  /// The command with this name. Nil if there is none.
  static func spec(named name: some Collection<UInt8>) -> CommandSpec? {
    index(named: name).map(spec(at:))
  }

  /// The index in `all` of the command with this name. Nil if there is none.
  package static func index(named name: some Collection<UInt8>) -> Int? {
    let (keys, key) = (keys, key(name))
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      var isBefore = keys[middle] < key
      if keys[middle] == key {
        let middleName = entries[middle].name.rawValue.utf8
        if middleName.elementsEqual(name) { return middle }
        isBefore = middleName.lexicographicallyPrecedes(name)
      }
      if isBefore { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  /// The error for an unknown command, with the most similar command name as a hint.
  static func unknownCommand(_ text: String, operation: String? = nil) -> MediaError {
    let hint =
      Nearest.name(to: text, among: entries.lazy.map(\.name.rawValue)).map { "; did you mean \($0)?" }
      ?? "; `help` lists the commands"
    return MediaError(.unknownCommand, "unknown command \(Excerpt.quoted(text))\(hint)", operation: operation)
  }
}
