// A C target needs a source file; the function lies in the fuzzer's runtime.
