// Parses TOML (https://toml.io/en/v1.0.0) with toml++.
#ifndef PLAYHEAD_CTOML_H
#define PLAYHEAD_CTOML_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A parsed text, or the error in it.
typedef struct toml_document toml_document;

typedef enum {
  toml_kind_table,
  toml_kind_array,
  toml_kind_string,
  toml_kind_integer,
  toml_kind_float,
  toml_kind_boolean,
  /// A date, a time, or both.
  toml_kind_date,
} toml_kind;

/// Line and column count from 1. Columns are in characters. Line 0: no location.
typedef struct {
  uint32_t line;
  uint32_t column;
} toml_location;

/// A value. Its texts belong to the document, and need not end with NUL.
typedef struct {
  toml_kind kind;
  toml_location location;
  /// The name, for a member of a table. Otherwise null.
  const char *name;
  size_t name_length;
  toml_location name_location;
  /// The contents of a string, or another value without members in TOML, with numbers in decimal. A float has a point,
  /// an exponent or letters.
  const char *text;
  size_t text_length;
  /// The number of members of a table or an array.
  size_t count;
} toml_value;

/// The error in a text.
typedef struct {
  toml_location location;
  /// One line. Ends with NUL. Belongs to the document.
  const char *message;
} toml_error;

/// Parses a text of `length` bytes, which need not end with NUL. The document does not use the text afterwards.
///
/// An error in the text is a result, not a failure. Because toml++ recurses into tables, arrays and the parts of names,
/// a text also has an error if arrays and inline tables are nested more than 8 deep, or if a line has more than 64
/// points outside strings.
///
/// Returns null if memory is exhausted. `toml_document_free` frees the document.
toml_document *toml_document_parse(const char *text, size_t length);

/// Frees a document. Null is allowed.
void toml_document_free(toml_document *document);

/// The error in the text; null if there is none. Belongs to the document.
const toml_error *toml_document_error(const toml_document *document);

/// All values: first the table of the text, then its members in the order of their names. The members of each value
/// follow it directly. Empty after an error. Belongs to the document.
const toml_value *toml_document_values(const toml_document *document, size_t *count);

#ifdef __cplusplus
}
#endif

#endif
