import PlayheadWireProtocol

extension Invocation {
  /// The files and options of `load`, `append`, `insert` and `play FILE...`.
  struct LoadOptions: Equatable {
    var edit: AddingEdit
    var paths: [[UInt8]] = []
    /// Whether to play after the edit.
    var plays = false
  }
}

extension Invocation.LoadOptions {
  /// The daemon's command that adds the files of `command`; nil if the command adds no files.
  static func spec(of command: String) -> CommandSpec? {
    guard let name = CommandName(rawValue: command) else { return nil }
    return switch name {
    case LoadCommand.name, AppendCommand.name, InsertCommand.name: CommandTable.spec(name)
    case PlayCommand.name: LoadCommand.definition.spec
    default: nil
    }
  }

  /// Separates the words of a request into options and paths. Nil if the command adds no files, as `play` alone.
  init?(_ words: [[UInt8]]) {
    guard let name = words.first, let spec = Self.spec(of: String(decoding: name, as: UTF8.self)) else { return nil }
    let options = spec.parameters.filter { $0.position == .option }
    func isOption(_ word: [UInt8]) -> Bool {
      let key = word.prefix { $0 != UInt8(ascii: "=") }
      return options.contains { option in
        key.elementsEqual(option.name.rawValue.utf8) && (key.count < word.count || option.kind == .flag)
      }
    }
    edit = AddingEdit(command: spec.name)
    plays = name.elementsEqual(PlayCommand.name.rawValue.utf8)
    var rest = words.dropFirst()
    while let word = rest.popFirst() {
      if word.elementsEqual("--".utf8) {
        paths += rest
        break
      }
      if isOption(word) { edit.options.append(word) } else { paths.append(word) }
    }
    if plays, paths.isEmpty { return nil }
  }
}
