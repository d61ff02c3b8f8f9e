import Testing

@testable import PlayheadPulseIO

/// The effects of PulseAudio's role modules, by their arguments.
@Suite struct RoleRulesTests {
  private typealias Stream = RoleRules.Stream

  private func stream(
    _ index: UInt32, _ role: String?, device: UInt32 = 0, isRecording: Bool = false, isCorked: Bool = false,
    isMuted: Bool = false
  ) -> RoleRules.Stream {
    Stream(
      index: index, device: device, isRecording: isRecording, role: role, isCorked: isCorked, isMuted: isMuted)
  }

  private func rules(_ arguments: String, module: String = "module-role-ducking") throws -> RoleRules {
    try #require(RoleRules(module: module, arguments: arguments))
  }

  @Test("without arguments, calls affect music and video")
  func callsAffectMusicAndVideoByDefault() throws {
    for (module, effect) in [("module-role-cork", RoleRules.Effect.corks), ("module-role-ducking", .ducks)] {
      let rules = try rules("", module: module)
      #expect(rules.effect == effect)
      #expect(rules.groups == [.init(triggerRoles: ["phone"], affectedRoles: ["music", "video"])])
      #expect(!rules.isGlobal)
    }
    #expect(RoleRules(module: "module-native-protocol-unix", arguments: "") == nil)
  }

  @Test("arguments are parsed as PulseAudio parses them: groups, lists, quotes, spaces")
  func argumentsAreParsedAsPulseAudioParsesThem() throws {
    let rules = try rules(
      "  trigger_roles=\"phone,event/a11y\"  ducking_roles='music/any_role' volume=40%/-10dB global=yes")
    #expect(
      rules.groups == [
        .init(triggerRoles: ["phone", "event"], affectedRoles: ["music"]),
        .init(triggerRoles: ["a11y"], affectedRoles: ["any_role"]),
      ])
    #expect(rules.isGlobal)
    #expect(try self.rules("cork_roles=game", module: "module-role-cork").groups.first?.affectedRoles == ["game"])
  }

  @Test("truncated arguments do not trap")
  func truncatedArgumentsDoNotTrap() {
    let arguments = "trigger_roles=\"phone,event/a11y\" ducking_roles='music/any_role' global=yes"
    for count in 0...arguments.utf8.count {
      _ = RoleRules(module: "module-role-ducking", arguments: String(arguments.prefix(count)))
    }
    for arguments in ["=", "a=", "a=\"", "==", "trigger_roles=/,/ ducking_roles=,"] {
      _ = RoleRules(module: "module-role-ducking", arguments: arguments)
    }
  }

  @Test("a trigger counts while it is audible on the same device")
  func triggerCountsWhileAudibleOnTheSameDevice() throws {
    let rules = try rules("")
    let affected = stream(7, "music")
    #expect(!rules.affects(7, among: [affected]))
    #expect(rules.affects(7, among: [affected, stream(8, "phone")]))
    #expect(!rules.affects(7, among: [affected, stream(8, "event")]))
    #expect(!rules.affects(7, among: [affected, stream(8, nil)]))
    #expect(!rules.affects(7, among: [affected, stream(8, "phone", isCorked: true)]))
    #expect(!rules.affects(7, among: [affected, stream(8, "phone", isMuted: true)]))
    #expect(!rules.affects(7, among: [affected, stream(8, "phone", device: 1)]))
    #expect(!rules.affects(7, among: [affected, stream(8, "phone", isRecording: true)]))
    #expect(!rules.affects(9, among: [affected, stream(8, "phone")]))
    #expect(!rules.affects(8, among: [affected, stream(8, "phone")]))
  }

  @Test("global rules include other devices and recordings")
  func globalRulesIncludeOtherDevicesAndRecordings() throws {
    let rules = try rules("global=true")
    let affected = stream(7, "video")
    #expect(rules.affects(7, among: [affected, stream(8, "phone", device: 1)]))
    #expect(rules.affects(7, among: [affected, stream(7, "phone", isRecording: true)]))
  }

  @Test("any_role is every role except triggers, and no_role is no role")
  func anyRoleIsEveryRoleExceptTriggers() throws {
    let any = try rules("trigger_roles=phone ducking_roles=any_role")
    #expect(any.affects(7, among: [stream(7, nil), stream(8, "phone")]))
    #expect(any.affects(7, among: [stream(7, "game"), stream(8, "phone")]))
    #expect(!any.affects(7, among: [stream(7, "phone"), stream(8, "phone")]))
    let none = try rules("trigger_roles=no_role ducking_roles=music")
    #expect(none.affects(7, among: [stream(7, "music"), stream(8, nil)]))
  }
}

/// The position at which a stream resumes after the server muted it and requested a cork.
@Suite struct StreamHoldTests {
  @Test("a stream of which nothing was read while muted resumes at its position")
  func streamResumesAtItsPositionIfNothingWasReadWhileMuted() {
    var interruption = StreamInterruption()
    interruption.begin(unreadFrame: 4_800, heardFrame: 4_000)
    #expect(interruption.isPaused)
    #expect(interruption.resumeFrame(readFrame: 4_800) == 4_800)
  }

  @Test("frames that were read while muted are replayed once")
  func framesReadWhileMutedAreReplayedOnce() {
    var interruption = StreamInterruption()
    interruption.begin(unreadFrame: 4_800, heardFrame: 4_000)
    #expect(interruption.resumeFrame(readFrame: 5_824) == 4_800)
    #expect(interruption.resumeFrame(readFrame: 6_000) == 6_000)
  }

  @Test("a device that returns frames played muted from the frame heard then")
  func returnedFramesMeanThatPlaybackWasMutedFromTheHeardFrame() {
    var interruption = StreamInterruption()
    interruption.begin(unreadFrame: 4_800, heardFrame: 4_000)
    #expect(interruption.resumeFrame(readFrame: 4_100) == 4_000)
    var unknown = StreamInterruption()
    unknown.begin(unreadFrame: 4_800)
    #expect(unknown.resumeFrame(readFrame: 4_100) == 4_100)
  }

  @Test("frames that a jump moved are counted at their new positions")
  func movedFramesAreCountedAtTheirNewPositions() {
    var interruption = StreamInterruption()
    interruption.begin(unreadFrame: 4_800, heardFrame: 4_000)
    interruption.renumber(byFrames: -480)
    var other = interruption
    #expect(interruption.resumeFrame(readFrame: 5_000) == 4_320)
    #expect(other.resumeFrame(readFrame: 4_000) == 3_520)
  }

  @Test("a paused stream keeps its position, also when released before it is known")
  func pausedStreamKeepsItsPositionAlsoWhenReleasedEarly() {
    var interruption = StreamInterruption()
    interruption.begin(unreadFrame: nil)
    #expect(interruption.resumeFrame(readFrame: 100) == 100)
    var early = StreamInterruption()
    early.begin(unreadFrame: 4_800)
    early = early.unpaused
    #expect(!early.isPaused)
    early.begin(unreadFrame: nil)
    #expect(early.resumeFrame(readFrame: 5_000) == 4_800)
  }
}
