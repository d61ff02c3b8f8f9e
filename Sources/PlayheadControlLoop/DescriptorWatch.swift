// Descriptors that a control loop watches, for servers of sockets.
import CPlayheadMediaShims

/// The events of a descriptor (epoll_ctl(2)).
package struct DescriptorEvents: OptionSet, Sendable {
  package var rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Data can be read, or the peer sends no more.
  package static let readable = DescriptorEvents(rawValue: UInt32(MEDIA_SHIMS_POLL_IN))
  /// Data can be written.
  package static let writable = DescriptorEvents(rawValue: UInt32(MEDIA_SHIMS_POLL_OUT))
  /// An error, or a closed connection in both directions. Reported even if not requested.
  package static let hangUp = DescriptorEvents(rawValue: UInt32(MEDIA_SHIMS_POLL_ERROR | MEDIA_SHIMS_POLL_HANG_UP))
}

/// A handler of a descriptor's events.
package protocol DescriptorHandler: AnyObject {
  /// Handles events, on the loop. Events that are not consumed are reported again.
  func descriptorIsReady(_ events: DescriptorEvents)
}

/// A descriptor that a loop watches. Confined to the loop.
package final class DescriptorWatch {
  let descriptor: Int32
  let token: UInt64
  private var core: LoopCore?

  /// The events that are watched.
  package var events: DescriptorEvents {
    didSet { if events != oldValue { core?.change(self, to: events) } }
  }

  init(core: LoopCore, descriptor: Int32, token: UInt64, events: DescriptorEvents) {
    self.core = core
    self.descriptor = descriptor
    self.token = token
    self.events = events
  }

  /// Ends the watch; no more events are reported. No effect after the first call.
  package func cancel() {
    core?.remove(self)
    core = nil
  }
}
