import PlayheadMediaCore

@testable import PlayheadWireProtocol

extension ArgumentCase {
  static let players = [
    ArgumentCase("player.create a-b_c.9", PlayerCreateCommand.self) {
      $0.name == "a-b_c.9" && !$0.ifMissing && !$0.temporary
    },
    ArgumentCase("player.create a temporary", PlayerCreateCommand.self) { !$0.ifMissing && $0.temporary },
    ArgumentCase("player.create a if-missing", PlayerCreateCommand.self) { $0.ifMissing && !$0.temporary },
    ArgumentCase("player.create a if-missing=false", PlayerCreateCommand.self) { !$0.ifMissing },
    ArgumentCase("player.close x", PlayerCloseCommand.self) { $0.name == "x" },
    ArgumentCase("player.list", PlayerListCommand.self),
    ArgumentCase("output.status", OutputStatusCommand.self) { $0.player == "main" },
    ArgumentCase("output.status player=b", OutputStatusCommand.self) { $0.player == "b" },
    ArgumentCase("output.list", OutputListCommand.self),
    ArgumentCase("output.set", OutputSetCommand.self) { $0.device == nil && $0.preferred == nil && $0.lost == nil },
    ArgumentCase("output.set headset preferred=headset,speakers lost=hold", OutputSetCommand.self) {
      $0.device == "headset" && $0.preferred == ["headset", "speakers"] && $0.lost == .hold
    },
    ArgumentCase("output.set preferred=''", OutputSetCommand.self) { $0.device == nil && $0.preferred == [] },
  ]
}
