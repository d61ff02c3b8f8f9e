import PlayheadMediaCore

@testable import PlayheadWireProtocol

extension ArgumentCase {
  static let synchronized: [Self] = [
    Self("play-at +0.5 a b", PlayAtCommand.self) {
      try $0.time == .after(seconds("0.5")) && Array($0.players) == ["a", "b"]
    },
    Self("play-at now main", PlayAtCommand.self) { $0.time == .now && Array($0.players) == ["main"] },
    Self("play-at 83.5 x", PlayAtCommand.self) { try $0.time == .instant(seconds("83.5")) },
    Self("play-at 2026-12-24T18:00:00+01:00 x", PlayAtCommand.self) {
      try $0.time == .date(DateExpression(parsing: "2026-12-24T17:00Z"))
    },
    Self("play-at 2026-12-24T18:00:00 x", PlayAtCommand.self) {
      try $0.time == .date(DateExpression(parsing: "2026-12-24T18:00"))
    },
    Self("play-at 18:00:30.5 x", PlayAtCommand.self) {
      try $0.time == .date(DateExpression(parsing: "18:00:30.500"))
    },
    Self("play-at +1:30 x", PlayAtCommand.self) { try $0.time == .after(seconds("90")) },
    Self("play-at 1e-3 x", PlayAtCommand.self) { try $0.time == .instant(seconds("0.001")) },
    Self("play-at frame:480 x", PlayAtCommand.self) { $0.time == .frame(480) },
    Self("rate-together 0.75 a b", RateTogetherCommand.self) { $0.rate == 0.75 && Array($0.players) == ["a", "b"] },
  ]
}
