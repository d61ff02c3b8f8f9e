import CPlayheadPulse
import PlayheadRealtimeAudio

/// Pausing on the server's request (`module-role-cork`), and the other effects of roles.
///
/// The server mutes the stream at once and then requests a cork: audio that the server reads in between is not heard.
/// The stream is therefore corked in the callback. If a block was read in between, the stream resumes before that
/// block.
extension PulseStreamDriver {
  /// Handles a request of the server.
  func eventArrived(_ name: UnsafePointer<CChar>?) {
    guard phase != .failed, let name else { return }
    switch String(cString: name) {
    case PA_STREAM_EVENT_REQUEST_CORK: interrupt()
    case PA_STREAM_EVENT_REQUEST_UNCORK: serverPermittedResume()
    default: break
    }
  }

  private func interrupt() {
    guard !interruption.isPaused || interruption.isUnconfirmed else { return interruption.setEnded(false) }
    if phase == .running {
      let heardFrame = clock.heardFrame(at: .now).map { Int64($0) }
      // Audio that the server has read and the device has not received yet is muted, too.
      let inTransit = splice.blocks.inTransitCount(
        bufferFrameCount: bufferFrameCount, fallback: clock.sampleRateHz / 100)
      interruption.begin(
        unreadFrame: max(clock.minimumHeardFrame, unreadFrame - Int64(inTransit)), heardFrame: heardFrame)
      cork(hasCommands: true)
    } else {
      interruption.begin(unreadFrame: nil)
    }
    notify(.interruptionBegan)
  }

  private func serverPermittedResume() {
    guard interruption.isPaused, !interruption.hasEnded else { return }
    interruption.setEnded(true)
    notify(.interruptionEnded)
    // Without an observer the stream resumes.
    if onSharing == nil { endInterruption(overrulesServer: false) }
  }

  func rolesChanged(_ state: RoleWatch.State, hasChanged: Bool) {
    if interruption.isUnconfirmed {
      if state.isCorked { interrupt() } else { endInterruption(overrulesServer: false) }
    } else if hasChanged, state.isCorked, !interruption.isPaused {
      // PulseAudio does not cork a stream that was created corked during a call.
      interrupt()
    } else if state.canCork, !state.isCorked {
      // If the call ended before the stream was corked, PulseAudio sends no request to resume.
      serverPermittedResume()
    }
    guard state.isDucked != isDucked else { return }
    isDucked = state.isDucked
    notify(isDucked ? .duckingBegan : .duckingEnded)
  }

  private func notify(_ notice: SharingNotice) { onSharing?(notice) }

  // MARK: - Requests of the sink

  func handleRequests() {
    let pending = requests.drain()
    if let role = pending.role { updateRole(role) }
    if let overrulesServer = pending.overrulesServer { endInterruption(overrulesServer: overrulesServer) }
  }

  /// Changes the stream's role. The server's modules evaluate it again.
  private func updateRole(_ role: StreamRole) {
    guard phase != .failed, let properties = pa_proplist_new() else { return }
    defer { pa_proplist_free(properties) }
    pa_proplist_sets(properties, PA_PROP_MEDIA_ROLE, role.rawValue)
    if !PulseOperation.start(pa_stream_proplist_update(pointer, PA_UPDATE_REPLACE, properties, nil, nil)) {
      fail("the stream's role cannot be changed")
    }
  }

  private func endInterruption(overrulesServer: Bool) {
    guard interruption.isPaused, phase != .failed else { return }
    if overrulesServer { unmute() }
    let previous = interruption
    interruption.end()
    switch phase {
    case .corked(let readFrame): startIfActive(readFrame: readFrame)
    case .corking(let timing, _):
      // The position at which the stream was corked is not known yet.
      interruption = previous.unpaused
      phase = .corking(timing: timing, hasCommands: true)
    case .running, .failed: break
    }
  }

  private func unmute() {
    if !PulseOperation.start(pa_context_set_sink_input_mute(context, pa_stream_get_index(pointer), 0, nil, nil)) {
      fail("the stream cannot be unmuted")
    }
  }

  // MARK: - Position of the corked stream

  /// Returns the frame at which the stream that was corked at `readFrame` resumes. Frames that were read while the
  /// stream was muted are rendered again: the stream's bytes then represent earlier frames.
  func resumeFrame(readFrame: Int64) -> Int64 {
    let target = interruption.resumeFrame(readFrame: readFrame)
    guard target < readFrame else { return readFrame }
    let frame = min(readFrame, core.rewind(toFrame: target))
    clock.renumber(byFrames: frame - readFrame)
    return frame
  }
}
