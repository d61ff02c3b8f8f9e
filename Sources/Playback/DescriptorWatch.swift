// Descriptors that a control loop watches: for who serves sockets on it.
import CMediaShims

/// What can happen at a descriptor (epoll_ctl(2)).
package struct DescriptorEvents: OptionSet, Sendable {
  package var rawValue: UInt32

  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// There is something to be read, or the other end sends no more.
  package static let readable = DescriptorEvents(rawValue: UInt32(MEDIA_SHIMS_POLL_IN))
  /// There is room for something to be written.
  package static let writable = DescriptorEvents(rawValue: UInt32(MEDIA_SHIMS_POLL_OUT))
  /// Unasked: it has failed, or nothing can be said to the other end nor will be heard from it.
  package static let gone = DescriptorEvents(rawValue: UInt32(MEDIA_SHIMS_POLL_ERROR | MEDIA_SHIMS_POLL_HANG_UP))
}

/// Who is told what happens at a descriptor.
package protocol DescriptorHandler: AnyObject {
  /// Something has happened. On the loop. What of it is not taken is told again.
  func descriptorIsReady(_ events: DescriptorEvents)
}

/// A descriptor that a loop watches. Confined to the loop.
package final class DescriptorWatch {
  let descriptor: Int32
  let token: UInt64
  private var core: LoopCore?

  /// What is waited for.
  package var events: DescriptorEvents {
    didSet { if events != oldValue { core?.change(self, to: events) } }
  }

  init(core: LoopCore, descriptor: Int32, token: UInt64, events: DescriptorEvents) {
    self.core = core
    self.descriptor = descriptor
    self.token = token
    self.events = events
  }

  /// Nothing is told any more. Without effect afterwards.
  package func cancel() {
    core?.end(self)
    core = nil
  }
}
