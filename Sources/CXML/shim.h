// What Swift sees of libxml2: its pulling reader. Only Playlists imports it. It is in the process anyway, with FFmpeg's DASH.
#ifndef PLAYHEAD_CXML_SHIM_H
#define PLAYHEAD_CXML_SHIM_H

#include <libxml/xmlversion.h>
// Without the headers of ICU: they contradict those of Foundation, which tests import as well. Only members of encoders
// depend on them, and Playhead uses no encoder.
#undef LIBXML_ICU_ENABLED
#include <libxml/parser.h>
#include <libxml/xmlreader.h>

#endif
