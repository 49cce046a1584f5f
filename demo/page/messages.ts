/** Errors in plain words: what happened, and what one can do about it. */
import { isPannierError } from 'pannier'

export interface Message {
  readonly title: string
  readonly text: string
  /** For those who want to know exactly: the code and the message of the error. */
  readonly detail: string
  /** Deleting the stored copy would help. */
  readonly deletable: boolean
}

type Words = Pick<Message, 'title' | 'text'>

const HELPED_BY_DELETING: ReadonlySet<string> = new Set([
  'PANNIER_QUOTA_EXCEEDED',
  'PANNIER_CORRUPT',
  'PANNIER_FORMAT_WRONG',
  'PANNIER_FORMAT_NEWER',
  'PANNIER_IO_FAILED',
])

const BY_CODE: Readonly<Record<string, Words>> = {
  PANNIER_UNAVAILABLE: {
    title: 'This browser offers no storage here',
    text:
      'The page keeps its data in IndexedDB, which is switched off or not allowed in this window, as in some private modes. ' +
      'Open the page in an ordinary window, or allow this site to store data.',
  },
  PANNIER_QUOTA_EXCEEDED: {
    title: 'There is no room left',
    text:
      'The browser refused to store more for this site: the disk is nearly full or the site’s share is used up. ' +
      'Make some room and try again, or delete this browser’s copy.',
  },
  PANNIER_BLOCKED: {
    title: 'Another tab is in the way',
    text: 'A tab with an older version of this page keeps the database open. Close the other tabs of this page and try again.',
  },
  PANNIER_CLOSED: {
    title: 'The database was closed',
    text: 'The data was deleted in another tab, or the browser closed the database. Opening it again takes a moment.',
  },
  PANNIER_CORRUPT: {
    title: 'The stored copy is damaged',
    text: 'What is stored does not match its checksums, so nothing of it is shown. Delete the copy and make a new one.',
  },
  PANNIER_FORMAT_WRONG: {
    title: 'The stored copy can’t be read',
    text: 'What is stored here under this name is not a Pannier database. Delete the copy and make a new one.',
  },
  PANNIER_FORMAT_NEWER: {
    title: 'The stored copy is newer than this page',
    text: 'A newer version of this page has written it. Load the newer page, or delete the copy and make a new one.',
  },
  PANNIER_PEER_UNREACHABLE: {
    title: 'The server does not answer',
    text: 'The cities could not be copied to the end. Is npm start still running? What came by now is kept.',
  },
  PANNIER_PEER_REFUSED: {
    title: 'The server refuses',
    text: 'It does not let this page copy the cities. Starting npm start again may help.',
  },
  PANNIER_OPEN_FAILED: {
    title: 'The database did not open',
    text: 'The browser did not open its storage. Trying again often helps; so does closing other tabs of this page.',
  },
}

export function describe(error: unknown): Message {
  const detail = error instanceof Error ? error.message : String(error)
  if (isPannierError(error)) {
    const words = BY_CODE[error.code] ?? { title: 'The database reported a problem', text: 'Trying again may help.' }
    return { ...words, detail: `${error.code}: ${detail}`, deletable: HELPED_BY_DELETING.has(error.code) }
  }
  return {
    title: 'Something unexpected went wrong',
    text: 'Loading the page again may help.',
    detail,
    deletable: false,
  }
}
