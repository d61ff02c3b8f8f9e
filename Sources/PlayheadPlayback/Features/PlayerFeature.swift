import PlayheadMediaCore
import PlayheadRealtimeAudio

/// A part of a player that has its own state, for example its meters or its chapters.
///
/// A player has one object of each feature. It calls them in the order of `PlayerCore.features`, so a new feature only
/// adds itself to that list. A feature reads its player and calls the player's requests. No other object changes the
/// feature's state.
///
/// After each input of the state machine, all features get `prepareCommands`, then all get `update`, and then all get
/// `stateDidPublish`. All methods have default implementations without effect.
///
/// Threading: confined to the control loop, like the player.
protocol PlayerFeature: AnyObject {
  // MARK: - After each input of the state machine

  /// Passes commands for the mixer, which the player posts together with those of the machine's actions. Observers are
  /// not called until `stateDidPublish`. Returns whether there are commands to post.
  func prepareCommands() -> Bool
  /// Follows the machine's new state. Observers are not called until `stateDidPublish`.
  func update()
  /// Called before observers get a change of the player's state.
  func stateWillPublish()
  /// Called after observers got the change. They may have called the player.
  func stateDidPublish()

  // MARK: - Milestones

  /// The output frame of the feature's next milestone; nil: none, or not known yet. Of two milestones at one frame,
  /// that of the earlier feature is handled first.
  var milestoneFrame: Int64? { get }
  /// The earliest time at which the milestone is handled; nil: when it is heard.
  var earliestMilestoneTime: HostTime? { get }
  /// Handles the feature's next milestone, which is heard at `frame`.
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
  /// Releases everything that the feature holds.
  func playerDidClose()
}

extension PlayerFeature {
  func prepareCommands() -> Bool { false }
  func update() {}
  func stateWillPublish() {}
  func stateDidPublish() {}
  var milestoneFrame: Int64? { nil }
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
