/** Records as clients see them, and what they ask for. */

/** Fields by name, with `id`, `collectionId`, `collectionName`, and `expand` if it was asked for. */
export type RecordJson = Readonly<Record<string, unknown>>

/** The values of a body by field, with modifiers such as `total+` in the keys. */
export type RecordInput = Readonly<Record<string, unknown>>

/** A file that is uploaded, as a value of a file field in a `RecordInput`. */
export interface UploadedFile {
  /** The name that the client gave. */
  readonly name: string
  /** The size in bytes. */
  readonly size: number
  /** The content as a stream. May be asked for more than once. */
  stream(): ReadableStream<Uint8Array>
}

/** Options for the shown form of a record. */
export interface ShowOptions {
  /** Paths to expand: `author,comments_via_post.author` */
  readonly expand?: string
  /** The fields of the answer: `id,title:excerpt(20,true)` */
  readonly fields?: string
}

/** The page, order and filter of a list. */
export interface ListOptions extends ShowOptions {
  /** The number of the page, from 1. */
  readonly page?: number
  /** 1 to 1000 records; more means 1000. 30 when left out or not positive. */
  readonly perPage?: number
  /** `-created,author.name`; of groups `-count,group.author`. */
  readonly sort?: string
  /** `created > @now && author.name ~ "ann"` */
  readonly filter?: string
  /** True: does not count the records. */
  readonly skipTotal?: boolean
  /** `author,status`: the items are groups of the records that agree in these fields. */
  readonly group?: string
  /** `count,sum:votes,avg:votes,min:created,max:created`: what is computed of each group; `count` when left out. */
  readonly aggregate?: string
  /** The `nextCursor` of the page before. The empty text asks for the first page with a cursor. */
  readonly after?: string
}

/** A page of a list of records. */
export interface RecordPage {
  /** The number of the page, from 1. */
  readonly page: number
  /** The most records of a page: 1 to 1000. */
  readonly perPage: number
  /** The number of all items; -1 if it was skipped. */
  readonly totalItems: number
  /** The number of all pages; -1 if the count was skipped. */
  readonly totalPages: number
  /** The records of the page, in order. */
  readonly items: readonly RecordJson[]
  /** For `after` of the next page; null on the last one. It is there if the list was asked for with `after`. */
  readonly nextCursor?: string | null
}
