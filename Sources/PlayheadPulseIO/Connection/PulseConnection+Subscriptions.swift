import CPlayheadPulse

/// Subscriptions to changes of a server. A context has one callback and one mask, which the subscribers share.
extension PulseConnection {
  /// The mask and the handler of one subscriber.
  struct Subscriber {
    var mask: UInt32
    var handler: (pa_subscription_event_type_t) -> Void
  }

  /// Calls `handler`, on the loop's thread, for each event of the facilities in `mask` (`PA_SUBSCRIPTION_MASK_…`),
  /// until `unsubscribe`. A second call of the same owner replaces its subscription. Call it under the loop's lock.
  func subscribe(
    _ owner: AnyObject, to mask: UInt32, _ handler: @escaping (pa_subscription_event_type_t) -> Void
  ) {
    let previousFacilities = watchedFacilities
    subscribers[ObjectIdentifier(owner)] = Subscriber(mask: mask, handler: handler)
    if watchedFacilities != previousFacilities { updateSubscription() }
  }

  /// Ends the owner's subscription. Call it under the loop's lock.
  func unsubscribe(_ owner: AnyObject) {
    let previousFacilities = watchedFacilities
    subscribers[ObjectIdentifier(owner)] = nil
    if watchedFacilities != previousFacilities { updateSubscription() }
  }

  private var watchedFacilities: UInt32 { subscribers.values.reduce(0) { $0 | $1.mask } }

  private func updateSubscription() {
    pa_context_set_subscribe_callback(
      context, { _, type, _, userdata in PulseConnection.from(userdata)?.dispatch(type) },
      Unmanaged.passUnretained(self).toOpaque())
    // A connection that is not ready cannot have subscriptions.
    guard pa_context_get_state(context) == PA_CONTEXT_READY else { return }
    let operation = pa_context_subscribe(
      context, pa_subscription_mask_t(watchedFacilities), nil, nil)
    if let operation { pa_operation_unref(operation) }
  }

  private func dispatch(_ type: pa_subscription_event_type_t) {
    let facility = type.rawValue & PA_SUBSCRIPTION_EVENT_FACILITY_MASK.rawValue
    for subscriber in Array(subscribers.values) where subscriber.mask & 1 << facility != 0 {
      subscriber.handler(type)
    }
  }
}
