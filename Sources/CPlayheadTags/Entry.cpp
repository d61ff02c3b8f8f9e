#include <new>

#include "Readers.hpp"

using namespace playhead;

tags_outcome tags_read(
    const tags_source *source, tags_container container, const char *charset, const tags_limits *limits,
    const tags_sink *sink) {
  try {
    BoundedStream stream(*source, *limits);
    ItemSink items(*sink, *limits);
    switch (container) {
      case tags_container_edges: readEdges(stream, false, items); break;
      case tags_container_ape_edges: readEdges(stream, true, items); break;
      case tags_container_flac: readFLAC(stream, items); break;
      case tags_container_ogg: readOgg(stream, items); break;
      case tags_container_mp4: readMP4(stream, items); break;
      case tags_container_wav: readRIFF(stream, false, items); break;
      case tags_container_aiff: readRIFF(stream, true, items); break;
      case tags_container_asf: readASF(stream, items); break;
      case tags_container_dsd: readDSD(stream, items); break;
    }
    items.decodeLegacyTexts(charset);
    if (stream.hasFailed()) return tags_outcome_read_failed;
    return stream.isExhausted() || items.isFull() ? tags_outcome_limit : tags_outcome_complete;
  } catch (const std::bad_alloc &) {
    return tags_outcome_out_of_memory;
  } catch (...) {
    return tags_outcome_failed;
  }
}
