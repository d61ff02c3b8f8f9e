// Reads XML node by node with libxml2. The header includes no header of libxml2, so that programs that import
// Foundation as well can import Playhead.
#ifndef PLAYHEAD_CXML_H
#define PLAYHEAD_CXML_H

#include <stddef.h>

/// A reader of one document. One thread at a time.
typedef struct cxml_reader cxml_reader;

typedef enum cxml_node {
  CXML_NODE_ELEMENT,
  CXML_NODE_END_ELEMENT,
  /// Text, CDATA or significant white space.
  CXML_NODE_TEXT,
  CXML_NODE_ENTITY_REFERENCE,
  CXML_NODE_DOCUMENT_TYPE,
  CXML_NODE_OTHER,
} cxml_node;

/// Opens a reader of `count` bytes, which must outlive it. It opens no files and no connections, and prints nothing.
/// `encoding`: the name of the encoding; null: as declared by the document. Returns null without memory or bytes.
cxml_reader *cxml_reader_open(const char *bytes, int count, const char *encoding);

/// Closes the reader.
void cxml_reader_close(cxml_reader *reader);

/// Advances to the next node. Returns 1, 0 at the end, or -1 if the document is not well formed.
int cxml_reader_next(cxml_reader *reader);

/// The line of the current node, from 1.
int cxml_reader_line(cxml_reader *reader);

cxml_node cxml_reader_node(cxml_reader *reader);

/// The text of the node in UTF-8; null without text. Valid until the next call of `cxml_reader_next`.
const unsigned char *cxml_reader_text(cxml_reader *reader);

/// The name of the element without its prefix; null without name. Valid until the next call of `cxml_reader_next`.
const char *cxml_reader_name(cxml_reader *reader);

/// 1 for an element of the form `<a/>`, which has no end node.
int cxml_reader_is_empty(cxml_reader *reader);

#endif
