import PlayheadWireProtocol

extension CommandSpec {
  /// Whether the client accepts `--format` for this command.
  var acceptsTemplate: Bool { name == StatusCommand.name || name == ListCommand.name }
}

extension Invocation {
  /// Checks that no other form is selected, if there is a template.
  func checkForm(with template: ValueTemplate?) throws(Misuse) {
    guard template == nil || outputFormat == nil else {
      throw Misuse(message: "--format cannot be combined with --json, --raw or --human")
    }
  }

  /// The action of `status` or `list` with a template.
  func parseFormatted(_ words: [[UInt8]], _ template: ValueTemplate) throws(Misuse) -> Action {
    try checkForm(with: template)
    if words.first?.elementsEqual("list".utf8) == true {
      try FormattedList.names.check(template.names)
      return .list(ListOptions(words: words, template: template))
    }
    let prefix = "player="
    let players = words.dropFirst().filter { $0.starts(with: prefix.utf8) }
    guard words.count == 1 + players.count else {
      throw Misuse(message: "status --format can be combined only with --player")
    }
    try Get.check(template.names)
    return .get(GetOptions(template: template, player: players.last.map { Array($0.dropFirst(prefix.utf8.count)) }))
  }
}
