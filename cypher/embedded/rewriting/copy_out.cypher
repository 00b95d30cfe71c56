// Copy all rows of a table into a file; what stands in braces is filled in from the engine's catalogue, for links
// the keys of the joined nodes first. The file is not compressed, so that it can be searched for stored texts.
COPY (MATCH {pattern} RETURN {columns}) TO '{file}' (compression='uncompressed')
