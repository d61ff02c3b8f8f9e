"""Edits media files: damages bytes, rewrites timestamps, trims pages, patches headers.

Every function takes the bytes of a file and returns those of another one. The same arguments give the same bytes.
Functions for one format check what they edit, and raise `PatchError` for a file of another structure.
"""

from .base import (
    PatchError,
    require,
)
from .damage import (
    append,
    append_apev2,
    append_id3v1,
    drop_last,
    flip_bits,
    garbage,
    insert_garbage,
    overwrite_garbage,
    prepend,
    remove_range,
    repeat_block,
    replace_first,
    set_bytes,
    swap_blocks,
    truncate,
    wav_lengths,
    zero_range,
)
from .dsd import (
    dsdiff,
)
from .flac import (
    crc16,
    crc8,
    flac_parts,
    flac_sample_count,
    flac_with_variable_blocks,
    flac_without_first_frames,
)
from .matroska import (
    matroska_blocks,
    matroska_gap,
    matroska_jitter,
    matroska_step,
    matroska_without_blocks,
)
from .monkeys_audio import (
    monkeys_audio,
)
from .mp4 import (
    mp4_box_length,
    mp4_boxes,
    mp4_first_delta,
    mp4_gap,
    mp4_jitter,
    mp4_without_edits,
    mp4_without_media,
)
from .mpeg_audio import (
    mp3_frames,
    mp3_info_frame_count,
    mp3_with_vbri,
    mp3_without_info_frame,
)
from .ogg import (
    OggPage,
    chain,
    ogg_end_granule,
    ogg_granule,
    ogg_granules,
    ogg_pages,
    ogg_serial,
    ogg_without_end_flag,
    ogg_without_pages,
)
from .tags import (
    append_ape_items,
    append_chunk,
    id3v2,
    prepend_id3v2,
)
from .transport import (
    ts_clock,
    ts_irregular,
    ts_jitter,
    ts_step,
    ts_wrap,
)
from .windows import (
    asf_packet_times,
    avi_stream_header,
    avi_without_index,
)

__all__ = [
    "OggPage",
    "PatchError",
    "append",
    "append_ape_items",
    "append_apev2",
    "append_chunk",
    "append_id3v1",
    "asf_packet_times",
    "avi_stream_header",
    "avi_without_index",
    "chain",
    "crc16",
    "crc8",
    "drop_last",
    "dsdiff",
    "flac_parts",
    "flac_sample_count",
    "flac_with_variable_blocks",
    "flac_without_first_frames",
    "flip_bits",
    "garbage",
    "id3v2",
    "insert_garbage",
    "matroska_blocks",
    "matroska_gap",
    "matroska_jitter",
    "matroska_step",
    "matroska_without_blocks",
    "monkeys_audio",
    "mp3_frames",
    "mp3_info_frame_count",
    "mp3_with_vbri",
    "mp3_without_info_frame",
    "mp4_box_length",
    "mp4_boxes",
    "mp4_first_delta",
    "mp4_gap",
    "mp4_jitter",
    "mp4_without_edits",
    "mp4_without_media",
    "ogg_end_granule",
    "ogg_granule",
    "ogg_granules",
    "ogg_pages",
    "ogg_serial",
    "ogg_without_end_flag",
    "ogg_without_pages",
    "overwrite_garbage",
    "prepend",
    "prepend_id3v2",
    "remove_range",
    "repeat_block",
    "replace_first",
    "require",
    "set_bytes",
    "swap_blocks",
    "truncate",
    "ts_clock",
    "ts_irregular",
    "ts_jitter",
    "ts_step",
    "ts_wrap",
    "wav_lengths",
    "zero_range",
]
