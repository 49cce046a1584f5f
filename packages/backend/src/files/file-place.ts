/** A place for content beside the database, by keys such as `COLLECTION/RECORD/photo_x3k9.png`. */

/** Whole, or in pieces of any size. */
export type FileContent = Uint8Array | AsyncIterable<Uint8Array>

/** Bytes from `start` up to `end`, which is not among them. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** The facts of a key that its place knows. */
export interface FileInfo {
  readonly key: string
  readonly size: number
  /** When it was modified, in milliseconds since 1970. */
  readonly modifiedMs: number
}

/** The facts of one key that was asked about. */
export interface FileHead extends FileInfo {
  /** The media type, as it was put. */
  readonly type: string
}

/** A place may be slow, and may fail: then it throws an Error with the reason. */
export interface FilePlace {
  /** In place of what the key had. It is there whole, or not at all. */
  put(key: string, content: FileContent, type: string): Promise<void>
  /** Undefined if nothing has the key. */
  head(key: string): Promise<FileHead | undefined>
  /** All bytes, or those of a range. Undefined if nothing has the key. */
  get(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>
  /** Nothing happens if nothing has the key. */
  delete(key: string): Promise<void>
  /** Files whose keys begin with the prefix, in the order of the keys. */
  list(prefix: string): AsyncIterable<FileInfo>
}
