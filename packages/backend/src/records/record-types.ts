/** Records as clients see them, and what they ask for. */

/** Fields by name, with `id`, `collectionId`, `collectionName`, and `expand` if it was asked for. */
export type RecordJson = Readonly<Record<string, unknown>>

/** What stands in a body: values by field, with modifiers such as `total+` in the keys. */
export type RecordInput = Readonly<Record<string, unknown>>

/** A file that is uploaded, as a value of a file field in a `RecordInput`. */
export interface UploadedFile {
  readonly name: string
  readonly size: number
  /** May be asked for more than once. */
  stream(): ReadableStream<Uint8Array>
}

/** What is shown of a record. */
export interface ShowOptions {
  /** `author,comments_via_post.author` */
  readonly expand?: string
  /** `id,title:excerpt(20,true)` */
  readonly fields?: string
}

export interface ListOptions extends ShowOptions {
  /** From 1. */
  readonly page?: number
  readonly perPage?: number
  /** `-created,author.name` */
  readonly sort?: string
  readonly filter?: string
  readonly skipTotal?: boolean
}

export interface RecordPage {
  readonly page: number
  readonly perPage: number
  /** -1 if it was skipped. */
  readonly totalItems: number
  readonly totalPages: number
  readonly items: readonly RecordJson[]
}
