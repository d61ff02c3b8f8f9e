/// The example configuration file that is installed with the daemon. It contains every option as a comment, with its
/// accepted values and its default.
package enum ExampleFile {
  /// The text of the file.
  package static var text: String {
    var text = """
      # Playhead's configuration: $XDG_CONFIG_HOME/playhead/playheadd.toml, or else /etc/xdg/playhead/playheadd.toml, or
      # the file of `playheadd --config`.
      #
      # Contains every option with its default. Remove the # before an option to change it. Command-line options
      # override the file. `playheadd --check-config` reports errors and their locations. SIGHUP reloads the file:
      # options marked (start) take effect at the next start, all others at once.

      """
    let defaults = DaemonOptions()
    for table in OptionTable.tables {
      text += "\n# \(table.summary)\n[\(table.name)]\n"
      for option in OptionTable.all where option.table == table.name {
        let flag = option.flag.map { " (\($0))" } ?? ""
        let summary = option.summary.isEmpty ? "" : option.summary + " "
        text += "# \(summary)Accepts \(option.kind.accepted)\(flag)\(option.isReloadable ? "" : " (start)").\n"
        text += "#\(option.key) = \(option.value(in: defaults))\n"
      }
    }
    return text
  }
}
