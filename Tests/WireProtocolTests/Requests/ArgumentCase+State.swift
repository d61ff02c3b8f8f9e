import PlayheadMediaCore

@testable import PlayheadWireProtocol

extension ArgumentCase {
  static let state = [
    ArgumentCase("state", StateCommand.self), ArgumentCase("state.save", StateSaveCommand.self),
    ArgumentCase("queue.save 'a b' player=x", QueueSaveCommand.self) { $0.name == "a b" && $0.player == "x" },
    ArgumentCase("queue.load a if-version=3", QueueLoadCommand.self) {
      $0.name == "a" && $0.ifVersion == 3 && $0.player == "main"
    },
    ArgumentCase("queue.load a", QueueLoadCommand.self) { $0.ifVersion == nil },
    ArgumentCase("queue.saved", QueueSavedCommand.self),
    ArgumentCase("queue.forget a", QueueForgetCommand.self) { $0.name == "a" },
    ArgumentCase("bookmark.add", BookmarkAddCommand.self) {
      $0.time == nil && $0.name == nil && $0.player == "main"
    },
    ArgumentCase("bookmark.add 2.5 name=x player=b", BookmarkAddCommand.self) {
      try $0.time == seconds("2.5") && $0.name == "x" && $0.player == "b"
    },
    ArgumentCase("bookmark.go", BookmarkGoCommand.self) {
      $0.bookmark == nil && $0.name == nil && $0.player == "main"
    },
    ArgumentCase("bookmark.go 7", BookmarkGoCommand.self) { $0.bookmark == 7 && $0.name == nil },
    ArgumentCase("bookmark.go name=x", BookmarkGoCommand.self) { $0.bookmark == nil && $0.name == "x" },
    ArgumentCase("bookmark.list", BookmarkListCommand.self) {
      $0.item == nil && $0.offset == 0 && $0.limit == 1_000 && $0.player == "main"
    },
    ArgumentCase("bookmark.list item=3 offset=2 limit=5", BookmarkListCommand.self) {
      $0.item == 3 && $0.offset == 2 && $0.limit == 5
    },
    ArgumentCase("bookmark.remove 7", BookmarkRemoveCommand.self) { $0.bookmark == 7 },
  ]
}
