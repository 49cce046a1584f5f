/** Numbers and strings that must not be confused with one another. The brand exists only in the types. */

declare const brand: unique symbol
type Brand<T, Name extends string> = T & { readonly [brand]: Name }

/**
 * Names one page of one database for ever. A page never changes after its write, and its id is never used for another
 * page. So a cached page can never be stale, in any tab. Positive safe integer.
 */
export type PageId = Brand<number, 'PageId'>

/** Numbers the commits of one database: 1, 2, 3, … without gaps. */
export type CommitSequence = Brand<number, 'CommitSequence'>

/** Numbers the meta records of one database: each storage checkpoint raises it by one. 0: nothing was written yet. */
export type Generation = Brand<number, 'Generation'>

/**
 * A key of an ordered tree, as a *byte string*: each UTF-16 unit is one byte, 0..255. JavaScript compares and sorts such
 * strings natively, in byte order, and much faster than any loop over a Uint8Array.
 */
export type Key = Brand<string, 'Key'>
