"""Every codec and container that Debian's FFmpeg writes: (encoder, muxer, extension, signal, options)."""

ROWS: list[tuple[str, str, str, str, str]] = []
