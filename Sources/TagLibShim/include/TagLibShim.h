// The reader over TagLib. CTags defines its types.
#ifndef PLAYHEAD_TAGLIBSHIM_H
#define PLAYHEAD_TAGLIBSHIM_H

#include "../../CTags/shim.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Reads all tags of a file; see `tags_read_function`.
tags_outcome playhead_tags_read(
    const tags_source *source, tags_container container, const char *charset, const tags_limits *limits,
    const tags_sink *sink);

#ifdef __cplusplus
}
#endif

#endif
