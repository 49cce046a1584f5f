/** The contract of Pannier and SQLite, which answer the questions. */
import type { Blog, Post } from './blog.ts'
import type { Question } from './workloads.ts'

export interface Answer {
  readonly total: number
  /** Whole documents, as an application gets them. */
  readonly rows: readonly { readonly _id: string }[]
}

export interface Contender {
  /** Makes the collections or tables at this place, with what is in the blog. */
  open(place: string, blog: Blog): Promise<void>
  answer(question: Question): Answer | Promise<Answer>
  /** Inserts the post, or updates the one with its id. */
  write?(post: Post): Promise<unknown>
  close(): Promise<void>
}
