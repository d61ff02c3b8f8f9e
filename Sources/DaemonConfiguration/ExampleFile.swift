/// The example configuration file that is installed with the daemon. It contains every option as a comment, with its
/// accepted values and its default.
public enum ExampleFile {
  /// The text of the file.
  public static var text: String {
    var text = """
      # Playhead's configuration: $XDG_CONFIG_HOME/playhead/playheadd.toml, or what `playheadd --config` names.
      #
      # Every option is here with its default. Take the # away before what you change. What is said on the command line goes before the file.
      # `playheadd --check-config` says what is wrong with it, and where. SIGHUP has it read again: what is marked (start) holds from the
      # next start on, everything else at once.

      """
    let defaults = DaemonOptions()
    for table in OptionTable.tables {
      text += "\n# \(table.summary)\n[\(table.name)]\n"
      for option in OptionTable.all where option.table == table.name {
        let flag = option.flag.map { " (\($0))" } ?? ""
        let summary = option.summary.isEmpty ? "" : option.summary + " "
        text += "# \(summary)Takes \(option.kind.accepted)\(flag)\(option.isReloadable ? "" : " (start)").\n"
        text += "#\(option.key) = \(option.value(in: defaults))\n"
      }
    }
    return text
  }
}
