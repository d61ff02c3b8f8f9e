import CPulse
import RealtimeAudio

/// Standing still on the server's word (`module-role-cork`), and what else roles bring about.
///
/// The server mutes the stream at once and then asks for it to be corked: whatever it reads until then is lost to the ear.
/// So it is corked here, in the callback; and where a block was read in between, the stream goes on before that.
extension PulseStreamDriver {
  /// The server asks for something.
  func eventArrived(_ name: UnsafePointer<CChar>?) {
    guard phase != .failed, let name else { return }
    switch String(cString: name) {
    case PA_STREAM_EVENT_REQUEST_CORK: interrupt()
    case PA_STREAM_EVENT_REQUEST_UNCORK: serverLetGo()
    default: break
    }
  }

  private func interrupt() {
    guard !hold.isHeld || hold.isInQuestion else { return hold.noteEnd(false) }
    if phase == .running {
      let heardFrame = isClockRunning ? heard.heardFrame(at: .now).map { Int64($0) } : nil
      // What the server has taken and the device has not is muted, too.
      let overtaken = blocks.overtakenCount(heldCount: bufferFrameCount, whereUnknown: sampleRateHz / 100)
      hold.begin(unreadFrame: max(floorFrame, unreadFrame - Int64(overtaken)), heardFrame: heardFrame)
      isSpliceWanted = false
      hasCommandsAfterCork = true
      cork()
    } else {
      hold.begin(unreadFrame: nil)
    }
    tell(.interruptionBegan)
  }

  private func serverLetGo() {
    guard hold.isHeld, !hold.hasEnded else { return }
    hold.noteEnd(true)
    tell(.interruptionEnded)
    // Where nobody decides, it goes on.
    if onSharing == nil { release(overrulesServer: false) }
  }

  /// The stream was muted when it was made: by a role, the request having been lost, or by somebody who wants it muted.
  func beginMuted() { hold.beginInQuestion() }

  func rolesChanged(_ state: RoleWatch.State, isNew: Bool) {
    if hold.isInQuestion {
      if state.isCorked { interrupt() } else { release(overrulesServer: false) }
    } else if isNew, state.isCorked, !hold.isHeld {
      // PulseAudio does not cork a stream that was created corked during a call.
      interrupt()
    } else if state.canCork, !state.isCorked {
      // PulseAudio does not ask a stream to resume that was not corked yet when the call ended.
      serverLetGo()
    }
    guard state.isDucked != isDucked else { return }
    isDucked = state.isDucked
    tell(isDucked ? .duckingBegan : .duckingEnded)
  }

  private func tell(_ notice: SharingNotice) { onSharing?(notice) }

  // MARK: - What the sink asks

  func takeRequests() {
    let taken = requests.take()
    if let role = taken.role { update(role) }
    if let overrules = taken.release { release(overrulesServer: overrules) }
  }

  /// The server's modules look at a stream's role again when it changes.
  private func update(_ role: StreamRole) {
    guard phase != .failed, let properties = pa_proplist_new() else { return }
    defer { pa_proplist_free(properties) }
    pa_proplist_sets(properties, PA_PROP_MEDIA_ROLE, role.rawValue)
    guard let operation = pa_stream_proplist_update(stream, PA_UPDATE_REPLACE, properties, nil, nil) else {
      return fail("the stream's role cannot be changed")
    }
    pa_operation_unref(operation)
  }

  private func release(overrulesServer: Bool) {
    guard hold.isHeld, phase != .failed else { return }
    if overrulesServer { unmute() }
    let standing = hold
    hold.end()
    switch phase {
    case .corked(let readFrame): startIfActive(readFrame: readFrame)
    case .corking:
      // Where it stood is still to be known.
      hold = standing.released
      hasCommandsAfterCork = true
    case .running, .failed: break
    }
  }

  private func unmute() {
    let operation = pa_context_set_sink_input_mute(context, pa_stream_get_index(stream), 0, nil, nil)
    guard let operation else { return fail("the stream cannot be heard again") }
    pa_operation_unref(operation)
  }

  // MARK: - Where it stands

  /// Where the stream that was corked at `readFrame` goes on. What was read while it was muted gets its frames again: the
  /// stream's bytes then stand for earlier ones.
  func standingFrame(readFrame: Int64) -> Int64 {
    let wanted = hold.standingFrame(readFrame: readFrame)
    guard wanted < readFrame else { return readFrame }
    let frame = min(readFrame, core.rewind(toFrame: wanted))
    renumber(byFrames: frame - readFrame)
    return frame
  }

  /// The stream's bytes stand for other frames from now on.
  func renumber(byFrames movement: Int64) {
    baseFrame += movement
    writtenFrame += movement
    lastReadFrame += movement
    heard.move(byFrames: movement)
  }
}
