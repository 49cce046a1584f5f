/** Messages between the pages and the process that starts browsers. */
import type { Person } from '../../documents.ts'

export const DATABASE = 'people'

/** The message of a page that is done. */
export type Report = Visit | Filled | { readonly error: string }

/** The marks of a start, in milliseconds since the navigation began. */
export interface Marks {
  /** The time when the first scripts were downloaded. */
  readonly downloaded: number
  /** The time when the page and its imports were compiled and run, down to the first line of the app. */
  readonly ran: number
  readonly opened: number
  readonly read: number
  /** The rows are in the document, and laid out. */
  readonly shown: number
  /** The time when the second frame after that was painted. */
  readonly painted: number
}

export interface Visit {
  readonly agent: string
  /** As the page shows them. */
  readonly rows: readonly string[]
  readonly marks: Marks
}

export interface Filled {
  readonly filled: true
}

/** The page's next step: stay, or close its window after a while. */
export type Order = '' | 'close'

/** Engines write a little later what they keep of a page. */
export const LINGER_MS = 1_000

/** No update changes any of it. */
export function rowText({ name, email, created }: Person): string {
  return `${name}, ${email}, ${created}`
}

export async function post(report: Report): Promise<void> {
  const response = await fetch('/report', { method: 'POST', body: JSON.stringify(report) })
  const order = (await response.text()) as Order
  if (order === 'close') setTimeout(() => globalThis.close(), LINGER_MS)
}
