import MediaCore
import RealtimeAudio
import Recording
import WireProtocol

/// A recorder with its number, and those who watch it.
///
/// Threading: confined to the control loop.
final class NumberedRecorder {
  let number: Int
  let recorder: AudioRecorder
  let file: FilePath
  private var watchers: [Int: (Event.Recording) -> Void] = [:]
  private var closeHandlers: [Int: () -> Void] = [:]
  private var next = 1

  init(number: Int, recorder: AudioRecorder, file: FilePath) {
    (self.number, self.recorder, self.file) = (number, recorder, file)
  }

  /// Has `body` told what happens, and `onClose` that the recorder is gone.
  func watch(_ body: @escaping (Event.Recording) -> Void, onClose: @escaping () -> Void) -> Int {
    defer { next += 1 }
    (watchers[next], closeHandlers[next]) = (body, onClose)
    return next
  }

  func unwatch(_ watcher: Int) {
    watchers[watcher] = nil
    closeHandlers[watcher] = nil
  }

  /// Tells them how it is.
  func tell(_ state: AudioRecorder.State, error: MediaError? = nil) {
    let event = event(state, error: error)
    for (_, body) in watchers.sorted(by: { $0.key < $1.key }) { body(event) }
  }

  func event(_ state: AudioRecorder.State, error: MediaError? = nil) -> Event.Recording {
    let status = recorder.status
    return Event.Recording(
      subscription: 0, recorder: number, state: state.rawValue, time: status.currentTime,
      lostFrameCount: status.outcome?.lostFrameCount ?? status.lostFrameCount, error: error)
  }

  func close() {
    let handlers = closeHandlers.sorted { $0.key < $1.key }
    watchers = [:]
    closeHandlers = [:]
    for (_, handler) in handlers { handler() }
  }
}

/// The daemon's recorders.
///
/// Threading: confined to the control loop.
final class RecorderRegistry {
  /// How many there are at most.
  static let limit = 16

  private(set) var recorders: [NumberedRecorder] = []
  private var lastNumber = 0
  /// Those that the session's interruption paused.
  private var interrupted: [NumberedRecorder] = []

  var isRecording: Bool { recorders.contains { $0.recorder.status.state == .recording } }

  /// The one of a number; nil: the newest. Errors: `no-such-recorder`.
  func recorder(_ number: Int?) throws(MediaError) -> NumberedRecorder {
    guard let number else {
      guard let newest = recorders.last else { throw MediaError(.noSuchRecorder, "nothing has been recorded") }
      return newest
    }
    guard let found = recorders.first(where: { $0.number == number }) else {
      throw MediaError(.noSuchRecorder, "there is no recorder \(number)")
    }
    return found
  }

  /// Adds one. Errors: `too-many-recorders` when none could make room.
  ///
  /// - Parameter make: makes it, with its number.
  func add(_ file: FilePath, _ make: (Int) -> AudioRecorder) throws(MediaError) -> NumberedRecorder {
    if recorders.count >= Self.limit {
      guard let oldest = recorders.first(where: { $0.recorder.status.state == .stopped }) else {
        throw MediaError(.tooManyRecorders, "there are \(Self.limit) recorders at work already")
      }
      remove(oldest)
    }
    lastNumber += 1
    let added = NumberedRecorder(number: lastNumber, recorder: make(lastNumber), file: file)
    recorders.append(added)
    return added
  }

  func remove(_ recorder: NumberedRecorder) {
    recorders.removeAll { $0 === recorder }
    recorder.close()
  }

  /// Something happened to one.
  func happened(_ event: AudioRecorder.Event, to number: Int) {
    guard let found = recorders.first(where: { $0.number == number }) else { return }
    switch event {
    case .state(.stopped): break
    case .state(let state): found.tell(state)
    case .lost: found.tell(found.recorder.status.state)
    case .finished(let outcome): found.tell(.stopped, error: outcome.error)
    }
  }

  /// Something else is to be heard: those that record pause.
  func interruptionBegan() {
    for numbered in recorders where numbered.recorder.status.state == .recording {
      do throws(MediaError) {
        try numbered.recorder.pause()
        interrupted.append(numbered)
      } catch {
        // It came to its end just now, which is told.
      }
    }
  }

  /// Those that an interruption paused go on, if they are to and nobody has decided otherwise.
  func interruptionEnded(shouldResume: Bool) {
    defer { interrupted = [] }
    for numbered in interrupted where shouldResume && numbered.recorder.status.state == .paused {
      do throws(MediaError) { try numbered.recorder.startRecording() } catch {
        // It is being stopped, which is told.
      }
    }
  }

  /// The session is for something else now, and does not record: what records comes to its end, and its file is whole.
  func sessionForbidsRecording() {
    interrupted = []
    for numbered in recorders where numbered.recorder.status.state == .recording {
      do throws(MediaError) { try numbered.recorder.stop { _ in } } catch {
        // It came to its end just now, which is told.
      }
    }
  }

  /// Stops all of them; `completion` is called when the last file is whole, on any thread or at once.
  func stopAll(_ completion: @escaping @Sendable () -> Void) {
    let rest = WakeSignal(recorders.count)
    guard !recorders.isEmpty else { return completion() }
    for numbered in recorders {
      do throws(MediaError) {
        try numbered.recorder.stop { _ in
          if rest.update({ rest in
            rest -= 1
            return rest
          }) == 0 {
            completion()
          }
        }
      } catch {
        // It was never begun.
        if rest.update({ rest in
          rest -= 1
          return rest
        }) == 0 {
          completion()
        }
      }
    }
  }
}
