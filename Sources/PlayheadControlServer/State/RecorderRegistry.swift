import PlayheadMediaCore
import PlayheadRealtimeAudio
import PlayheadRecording
import PlayheadWireProtocol

/// A recorder with its number and its observers.
///
/// Threading: confined to the control loop.
final class NumberedRecorder {
  let number: Int
  let recorder: AudioRecorder
  let file: FilePath
  private var observers: [Int: (RecordingEvent) -> Void] = [:]
  private var closeHandlers: [Int: () -> Void] = [:]
  private var nextObserverID = 1

  init(number: Int, recorder: AudioRecorder, file: FilePath) {
    (self.number, self.recorder, self.file) = (number, recorder, file)
  }

  /// Calls `body` with each event, and `onClose` when the recorder is removed. Returns the id for `removeObserver`.
  func addObserver(_ body: @escaping (RecordingEvent) -> Void, onClose: @escaping () -> Void) -> Int {
    defer { nextObserverID += 1 }
    (observers[nextObserverID], closeHandlers[nextObserverID]) = (body, onClose)
    return nextObserverID
  }

  func removeObserver(_ id: Int) {
    observers[id] = nil
    closeHandlers[id] = nil
  }

  /// Reports a state to all observers.
  func notifyObservers(_ state: AudioRecorder.State, error: MediaError? = nil) {
    let event = event(state, error: error)
    for (_, body) in observers.sorted(by: { $0.key < $1.key }) { body(event) }
  }

  func event(_ state: AudioRecorder.State, error: MediaError? = nil) -> RecordingEvent {
    let status = recorder.status
    return RecordingEvent(
      subscription: 0, recorder: number, state: state.rawValue, time: status.currentTime,
      lostFrameCount: status.outcome?.lostFrameCount ?? status.lostFrameCount, error: error)
  }

  /// Removes the observers, and calls the handlers of the end.
  func close() {
    let handlers = closeHandlers.sorted { $0.key < $1.key }
    observers = [:]
    closeHandlers = [:]
    for (_, handler) in handlers { handler() }
  }
}

/// The daemon's recorders.
///
/// Threading: confined to the control loop.
final class RecorderRegistry {
  /// The maximum number of recorders.
  static let limit = 16

  private(set) var recorders: [NumberedRecorder] = []
  private var lastNumber = 0
  /// The recorders that an interruption of the session paused.
  private var interrupted: [NumberedRecorder] = []

  var isRecording: Bool { recorders.contains { $0.recorder.status.state == .recording } }

  /// The recorder with this number. Nil: the newest.
  ///
  /// - Throws: `no-such-recorder`.
  func recorder(_ number: Int?) throws(MediaError) -> NumberedRecorder {
    guard let number else {
      guard let newest = recorders.last else { throw MediaError(.noSuchRecorder, "no recorder exists") }
      return newest
    }
    guard let found = recorders.first(where: { $0.number == number }) else {
      throw MediaError(.noSuchRecorder, "unknown recorder \(number)")
    }
    return found
  }

  /// Adds a recorder. At the limit, removes the oldest stopped recorder.
  ///
  /// - Parameter make: Creates the recorder with its number.
  /// - Throws: `too-many-recorders` if no recorder is stopped.
  func add(_ file: FilePath, _ make: (Int) -> AudioRecorder) throws(MediaError) -> NumberedRecorder {
    if recorders.count >= Self.limit {
      guard let oldest = recorders.first(where: { $0.recorder.status.state == .stopped }) else {
        throw MediaError(
          .tooManyRecorders, "the limit of \(Self.limit) recorders is reached, and none is stopped")
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

  /// Handles an event of a recorder.
  func handle(_ event: AudioRecorder.Event, ofRecorder number: Int) {
    guard let found = recorders.first(where: { $0.number == number }) else { return }
    switch event {
    case .state(.stopped): break
    case .state(let state): found.notifyObservers(state)
    case .lost: found.notifyObservers(found.recorder.status.state)
    case .finished(let outcome): found.notifyObservers(.stopped, error: outcome.error)
    }
  }

  /// Pauses the running recordings at the beginning of an interruption.
  func interruptionBegan() {
    for numbered in recorders where numbered.recorder.status.state == .recording {
      do throws(MediaError) {
        try numbered.recorder.pause()
        interrupted.append(numbered)
      } catch {
        // The recorder has just stopped, which is reported separately.
      }
    }
  }

  /// Ends an interruption. If `shouldResume` is true, resumes the recorders that it paused and that are still paused.
  func interruptionEnded(shouldResume: Bool) {
    defer { interrupted = [] }
    for numbered in interrupted where shouldResume && numbered.recorder.status.state == .paused {
      do throws(MediaError) { try numbered.recorder.startRecording() } catch {
        // The recorder is being stopped, which is reported separately.
      }
    }
  }

  /// Stops the running recordings and finalizes their files, because the new session category does not allow recording.
  func stopForbiddenRecordings() {
    interrupted = []
    for numbered in recorders where numbered.recorder.status.state == .recording {
      do throws(MediaError) { try numbered.recorder.stop { _ in } } catch {
        // The recorder has just stopped, which is reported separately.
      }
    }
  }

  /// Stops all recorders. Calls `completion` on any thread when the last file is finalized. If there are no recorders,
  /// calls it before returning.
  func stopAll(_ completion: @escaping @Sendable () -> Void) {
    let remainingCount = ConditionMutex(recorders.count)
    guard !recorders.isEmpty else { return completion() }
    for numbered in recorders {
      do throws(MediaError) {
        try numbered.recorder.stop { _ in
          if remainingCount.update({ remainingCount in
            remainingCount -= 1
            return remainingCount
          }) == 0 {
            completion()
          }
        }
      } catch {
        // The recorder was never prepared.
        if remainingCount.update({ remainingCount in
          remainingCount -= 1
          return remainingCount
        }) == 0 {
          completion()
        }
      }
    }
  }
}
