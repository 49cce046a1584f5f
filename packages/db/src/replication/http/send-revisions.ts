/**
 * Writes revisions to a CouchDB server: many in one `_bulk_docs`, bounded by bytes and count. A document with long
 * attachments goes alone, as multipart/related, unless no URL can name it. An error for one document is that document's failure. If a request is
 * refused for its content, it is split until the document is found.
 */
import type { PannierError } from '../../base/errors.ts'
import { plainArrays } from '../../codec/bytes.ts'
import { toCouchAttachment } from '../../document/attachments/couch-attachments.ts'
import { isAboutContent, refusalStatus, refused } from '../errors.ts'
import type { PeerAttachment, PeerRevision, RevisionFailure, RevisionsWritten } from '../peer.ts'
import { bulkFailuresOf } from './answers.ts'
import type { HttpClient } from './http-client.ts'
import { multipartRelated } from './multipart.ts'
import { documentPath } from './names.ts'

/** A request of `_bulk_docs`. */
const REQUEST_BYTES_MAX: number = 2 * 1024 * 1024
const REQUEST_DOCUMENTS_MAX = 1000
/** Attachments of a document that together have more go as multipart/related. */
const INLINE_BYTES_MAX = 128 * 1024

interface Line {
  readonly revision: PeerRevision
  readonly text: string
}

export class RevisionSender {
  readonly #client: HttpClient
  readonly #randomId: () => string

  constructor(client: HttpClient, randomId: () => string) {
    this.#client = client
    this.#randomId = randomId
  }

  async write(revisions: readonly PeerRevision[], signal: AbortSignal): Promise<RevisionsWritten> {
    const failures: RevisionFailure[] = []
    let lines: Line[] = []
    let bytes = 0
    const flush = async (): Promise<void> => {
      const batch = lines
      lines = []
      bytes = 0
      if (batch.length > 0) failures.push(...(await this.#bulk(batch, signal)))
    }
    for (const revision of revisions) {
      const path = totalLength(revision) > INLINE_BYTES_MAX ? documentPath(revision.document._id) : undefined
      if (path !== undefined) {
        failures.push(...(await this.#multipart(path, revision, signal)))
        continue
      }
      const text = JSON.stringify(await withInline(revision, signal), plainArrays)
      if (bytes + text.length > REQUEST_BYTES_MAX || lines.length >= REQUEST_DOCUMENTS_MAX) await flush()
      lines.push({ revision, text })
      bytes += text.length
    }
    await flush()
    return { failures, conflicts: [] }
  }

  async #bulk(lines: readonly Line[], signal: AbortSignal): Promise<RevisionFailure[]> {
    const body = `{"new_edits":false,"docs":[${lines.map(({ text }) => text).join(',')}]}`
    try {
      const answer = await this.#client.json({ path: '_bulk_docs', method: 'POST', body, signal })
      return bulkFailuresOf(this.#client.url, answer).flatMap(({ id, rev, error, reason, status }) => {
        // For a replicated revision, an existing one is not a conflict.
        if (typeof id !== 'string' || error === 'conflict') return []
        const name = typeof error === 'string' ? error : 'unknown_error'
        const code =
          typeof status === 'number' ? status : name === 'unauthorized' ? 401 : name === 'forbidden' ? 403 : 400
        const named = lines.find(({ revision }) => revision.document._id === id)
        const known = typeof rev === 'string' ? rev : (named?.revision.document._rev ?? '')
        return [
          { id, rev: known, error: refused(this.#client.url, code, name, typeof reason === 'string' ? reason : '') },
        ]
      })
    } catch (error) {
      if (!isAboutContent(error)) throw error
      if (lines.length === 1) return [failureOf(lines[0]!.revision, error as PannierError)]
      const half = lines.length >> 1
      return [...(await this.#bulk(lines.slice(0, half), signal)), ...(await this.#bulk(lines.slice(half), signal))]
    }
  }

  async #multipart(path: string, revision: PeerRevision, signal: AbortSignal): Promise<RevisionFailure[]> {
    const { body, contentType } = await multipartRelated(revision, plainArrays, this.#randomId(), signal)
    try {
      await this.#client.json({ path, method: 'PUT', query: { new_edits: 'false' }, body, contentType, signal })
      return []
    } catch (error) {
      const status = refusalStatus(error)
      if (status === 409) return []
      if (status !== 401 && status !== 403 && !isAboutContent(error)) throw error
      return [failureOf(revision, error as PannierError)]
    }
  }
}

function failureOf({ document }: PeerRevision, error: PannierError): RevisionFailure {
  return { id: document._id, rev: document._rev, error }
}

function totalLength({ attachments }: PeerRevision): number {
  let length = 0
  for (const attachment of attachments?.values() ?? []) length += attachment.length
  return length
}

/** The document with its attachments in base64. */
async function withInline({ document, attachments }: PeerRevision, signal: AbortSignal): Promise<object> {
  if (attachments === undefined) return document
  const entries: [string, object][] = []
  for (const [name, attachment] of attachments) {
    const { contentType, revpos } = attachment
    const data = await base64Of(attachment, signal)
    entries.push([name, toCouchAttachment({ contentType, revpos, data })])
  }
  return { ...document, _attachments: Object.fromEntries(entries) }
}

async function base64Of({ inline, open }: PeerAttachment, signal: AbortSignal): Promise<string> {
  if (typeof inline === 'string') return inline
  let text = ''
  for (const byte of inline ?? new Uint8Array(await new Response(await open(signal)).arrayBuffer()))
    text += String.fromCharCode(byte)
  return btoa(text)
}
