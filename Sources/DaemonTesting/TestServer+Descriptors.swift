import Glibc
import RigSupport

extension TestServer {
  /// The path of the socket that receives descriptors.
  package var handoffSocket: String { folder.file("handoff.sock") }

  /// Sends a descriptor to the server. Returns its name: `fd:TOKEN`.
  package func passDescriptor(_ descriptor: Int32) throws -> String {
    let reply = try passDescriptors([descriptor])
    guard reply.hasPrefix("ok path=fd:"), let path = field("path", reply), path.utf8.count == 35 else {
      throw Program.Failure(description: "no path of a descriptor: \(reply)")
    }
    return path
  }

  /// Sends descriptors to the server in one packet. Returns the reply.
  package func passDescriptors(_ descriptors: [Int32]) throws -> String {
    let descriptor = try connectToHandoff()
    defer { close(descriptor) }
    var byte: UInt8 = 0
    // struct cmsghdr { size_t cmsg_len; int cmsg_level; int cmsg_type; }, then the descriptors (cmsg(3)).
    var control: [UInt8] = []
    func append(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value) { control += Array($0) } }
    append(Int(16 + 4 * descriptors.count))
    append(Int32(SOL_SOCKET))
    append(Int32(1))
    for descriptor in descriptors { append(descriptor) }
    while control.count % 8 != 0 { control.append(0) }
    let sent = withUnsafeMutablePointer(to: &byte) { byte in
      var vector = iovec(iov_base: byte, iov_len: 1)
      return withUnsafeMutablePointer(to: &vector) { vector in
        control.withUnsafeMutableBytes { control in
          var message = msghdr()
          message.msg_iov = vector
          message.msg_iovlen = 1
          if !descriptors.isEmpty {
            (message.msg_control, message.msg_controllen) = (control.baseAddress, control.count)
          }
          return sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
        }
      }
    }
    guard sent == 1 else { throw RigError.system(call: "sendmsg", errno: errno) }
    var reply: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1_024)
    while true {
      let count = recv(descriptor, &chunk, chunk.count, 0)
      guard count > 0 else { return String(decoding: reply.dropLast(), as: UTF8.self) }
      reply += chunk.prefix(count)
    }
  }

  /// Connects to the socket that receives descriptors. Returns the socket, which the caller closes.
  package func connectToHandoff() throws -> Int32 {
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(handoffSocket.utf8)) }
    let status = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard status == 0 else { throw RigError.system(call: "connect", errno: errno) }
    return descriptor
  }
}
