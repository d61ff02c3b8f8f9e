import PlayheadMediaCore
import PlayheadRealtimeAudio

/// A part of a player with separate state, for example its meters or its chapters.
///
/// A player has one object of each feature, and calls them in the order of `PlayerCore.features`. A new feature is a
/// property of the player and an element of that list. A feature reads its player, passes inputs to the state machine,
/// and uses the player's streams. Other objects change a feature's state only through its methods.
///
/// After the actions of an input were performed, all features get `prepareCommands`, then all get `update`, and then
/// all get `stateDidPublish`. All methods have default implementations without effect.
///
/// Threading: confined to the control loop, like the player. A player outlives the job of the loop in which it is
/// closed (see `Player.deinit`), so `unowned` references of its features are valid.
protocol PlayerFeature: AnyObject {
  // MARK: - After the actions of an input

  /// Passes commands for the mixer, which the player posts together with those of the machine's actions. Calls of
  /// observers are only collected. Returns whether there are commands to post.
  func prepareCommands() -> Bool
  /// Follows the machine's new state. Calls of observers are only collected.
  func update()
  /// Called at each `publish`, before the state is compared with the published one.
  func stateWillPublish()
  /// Called after `publish`. Observers may have been called, and may have called the player.
  func stateDidPublish()

  // MARK: - Milestones

  /// Determines the feature's next milestone and returns its output frame; nil: none, or not known yet. Of two
  /// milestones at one frame, that of the earlier feature is handled first.
  func findNextMilestone() -> Int64?
  /// The earliest time at which that milestone is handled; nil: when it is heard.
  var earliestMilestoneTime: HostTime? { get }
  /// Handles the milestone that `findNextMilestone` found last. It is heard at `frame`.
  func milestoneHeard(at frame: Int64)

  // MARK: - Render events

  /// Called when a run has begun in the timeline.
  func runBegan(_ event: RenderEvent)
  /// The audio from an output frame on is rendered and reported again.
  func rewound(toFrame frame: Int64)
  /// The events of a batch are in the timeline, and the output's clock may have started to run or become more precise.
  func clockMayHaveChanged()

  // MARK: - The output

  /// The player has an input of the mixer of a new device.
  func outputDidStart(_ core: RenderCore, input: Int)
  /// The device and its frame count are about to be lost.
  func outputWillStop()
  /// The machine has paused the player, or lets it wait, because the device was lost.
  func outputDidStop()

  // MARK: - The end

  /// Called before the machine is closed. Observers still get calls.
  func playerWillClose()
  /// Releases everything that the feature retains.
  func playerDidClose()
}

extension PlayerFeature {
  func prepareCommands() -> Bool { false }
  func update() {}
  func stateWillPublish() {}
  func stateDidPublish() {}
  func findNextMilestone() -> Int64? { nil }
  var earliestMilestoneTime: HostTime? { nil }
  func milestoneHeard(at frame: Int64) {}
  func runBegan(_ event: RenderEvent) {}
  func rewound(toFrame frame: Int64) {}
  func clockMayHaveChanged() {}
  func outputDidStart(_ core: RenderCore, input: Int) {}
  func outputWillStop() {}
  func outputDidStop() {}
  func playerWillClose() {}
  func playerDidClose() {}
}
