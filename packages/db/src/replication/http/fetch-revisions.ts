/**
 * Reads revisions from a CouchDB server: by `_bulk_get`, or one document at a time from a server without it. Small
 * attachments come inside the answer. Others are read as streams when the revision is written.
 */
import { isPlainObject } from '../../codec/collation.ts'
import { fromCouchAttachment } from '../../document/attachments/couch-attachments.ts'
import { incomplete, isAboutContent, refusalStatus, refused, replaced } from '../errors.ts'
import type { PeerAttachment, PeerRevision, RevisionFailure, RevisionName, RevisionsRead } from '../peer.ts'
import { bulkGetOf, objectOf, openRevisionsOf, type BulkGetEntry, type Fields } from './answers.ts'
import type { HttpClient } from './http-client.ts'
import { attachmentPath, documentPath } from './names.ts'

/** Largest attachment inside an answer, and limit of all attachments in one answer. */
const INLINE_BYTES_MAX = 64 * 1024
const INLINE_ANSWER_BYTES_MAX: number = 4 * 1024 * 1024
/** Requests at a time where a document is one. */
const SINGLE_REQUESTS = 6
/** Statuses of a server without `_bulk_get`. */
const NOT_THERE: ReadonlySet<number | undefined> = new Set([400, 404, 405, 501])

interface Collected {
  readonly revisions: PeerRevision[]
  readonly failures: RevisionFailure[]
  bytes: number
}

export class RevisionFetcher {
  readonly #client: HttpClient
  #hasBulkGet: boolean | undefined

  constructor(client: HttpClient) {
    this.#client = client
  }

  async read(names: readonly RevisionName[], signal: AbortSignal): Promise<RevisionsRead> {
    const collected: Collected = { revisions: [], failures: [], bytes: 0 }
    const withSmall: RevisionName[] = []
    let smallBytes = 0
    for (const entry of await this.#entries(names, false, signal)) {
      for (const one of entry.documents) {
        if (!('ok' in one)) {
          this.#fail(collected, entry.id, one)
          continue
        }
        const small = smallAttachments(one.ok)
        if (small > 0 && smallBytes + small <= INLINE_ANSWER_BYTES_MAX) {
          smallBytes += small
          withSmall.push({ id: entry.id, rev: one.ok['_rev'] as string })
        } else this.#take(collected, entry.id, one.ok)
      }
    }
    if (withSmall.length > 0) {
      for (const entry of await this.#entries(withSmall, true, signal)) {
        for (const one of entry.documents) {
          if ('ok' in one) this.#take(collected, entry.id, one.ok)
          else this.#fail(collected, entry.id, one)
        }
      }
    }
    return collected
  }

  async #entries(names: readonly RevisionName[], attachments: boolean, signal: AbortSignal): Promise<BulkGetEntry[]> {
    if (this.#hasBulkGet !== false) {
      try {
        const entries = await this.#bulkGet(names, attachments, signal)
        this.#hasBulkGet = true
        return entries
      } catch (error) {
        const isAbsent = this.#hasBulkGet === undefined && NOT_THERE.has(refusalStatus(error))
        if (!isAbsent && !isAboutContent(error)) throw error
        if (isAbsent) this.#hasBulkGet = false
      }
    }
    const entries: BulkGetEntry[] = []
    const byId = [...grouped(names)]
    const next = async (): Promise<void> => {
      for (let one = byId.pop(); one !== undefined; one = byId.pop())
        entries.push(await this.#openRevisions(...one, attachments, signal))
    }
    await Promise.all(Array.from({ length: SINGLE_REQUESTS }, next))
    return entries
  }

  async #bulkGet(names: readonly RevisionName[], attachments: boolean, signal: AbortSignal): Promise<BulkGetEntry[]> {
    const answer = await this.#client.json({
      path: '_bulk_get',
      method: 'POST',
      query: { revs: 'true', latest: 'true', ...(attachments && { attachments: 'true' }) },
      body: JSON.stringify({ docs: names.map(({ id, rev }) => ({ id, rev })) }),
      signal,
    })
    return bulkGetOf(
      this.#client.url,
      answer,
      names.map(({ id }) => id),
    )
  }

  async #openRevisions(
    id: string,
    revs: readonly string[],
    attachments: boolean,
    signal: AbortSignal,
  ): Promise<BulkGetEntry> {
    const { url } = this.#client
    const path = documentPath(id)
    if (path === undefined) {
      const reason = 'The server has no _bulk_get, and no URL can name this document.'
      return { id, documents: revs.map((rev) => ({ error: 'bad_request', reason, rev })) }
    }
    try {
      const answer = await this.#client.json({
        path,
        query: {
          revs: 'true',
          latest: 'true',
          open_revs: JSON.stringify(revs),
          ...(attachments && { attachments: 'true' }),
        },
        signal,
      })
      return openRevisionsOf(url, answer, id)
    } catch (error) {
      const status = refusalStatus(error)
      if (status === undefined || status === 401) throw error
      const { error: name, reason } = (error as { details: Record<string, string> }).details
      return { id, documents: revs.map((rev) => ({ error: name!, reason: reason!, rev })) }
    }
  }

  #take(collected: Collected, id: string, fields: Fields): void {
    const { _attachments, ...document } = fields
    const attachments = isPlainObject(_attachments)
      ? this.#attachments(id, fields['_rev'] as string, _attachments)
      : undefined
    collected.revisions.push({ document: document as PeerRevision['document'], attachments })
    collected.bytes += textLength(document)
    for (const { inline } of attachments?.values() ?? []) collected.bytes += inline?.length ?? 0
  }

  #fail(
    { failures }: Collected,
    id: string,
    { error, reason, rev }: { readonly error: string; readonly reason: string; readonly rev: string },
  ): void {
    // It was replaced or purged: the feed names what is there now.
    if (error === 'not_found') return
    const status = error === 'unauthorized' ? 401 : error === 'forbidden' ? 403 : 500
    failures.push({ id, rev, error: refused(this.#client.url, status, error, reason) })
  }

  #attachments(id: string, rev: string, attachments: Fields): Map<string, PeerAttachment> {
    const { url } = this.#client
    return new Map(
      Object.entries(attachments).map(([name, value]) => {
        const { contentType, revpos, digest, length, data } = fromCouchAttachment(objectOf(url, value))
        const inline = typeof data === 'string' ? data : undefined
        const bytes = typeof length === 'number' ? length : inline === undefined ? undefined : base64Length(inline)
        if (bytes === undefined || !Number.isSafeInteger(bytes) || bytes < 0)
          throw incomplete(url, `the attachment '${name}' of '${id}' has no length`)
        return [
          name,
          {
            contentType:
              typeof contentType === 'string' && contentType !== '' ? contentType : 'application/octet-stream',
            revpos: typeof revpos === 'number' ? revpos : undefined,
            digest: typeof digest === 'string' ? digest : undefined,
            length: bytes,
            ...(inline === undefined ? {} : { inline }),
            open: (signal) => this.#open(id, rev, name, bytes, signal),
          },
        ]
      }),
    )
  }

  /** The content inside the document, for a name that no URL can hold. */
  async #inline(
    id: string,
    rev: string,
    name: string,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const entries = await this.#entries([{ id, rev }], true, signal)
    const documents = entries.flatMap((entry) => entry.documents.flatMap((one) => ('ok' in one ? [one.ok] : [])))
    const attachments = documents.find(({ _rev }) => _rev === rev)?.['_attachments']
    const found = isPlainObject(attachments) && Object.hasOwn(attachments, name) ? attachments[name] : undefined
    const data = isPlainObject(found) ? found['data'] : undefined
    if (typeof data !== 'string') throw replaced(this.#client.url, `the attachment '${name}' of '${id}'`)
    return new Response(bytesOfBase64(this.#client.url, data)).body!
  }

  /** Fails unless exactly this number of bytes comes. */
  async #open(
    id: string,
    rev: string,
    name: string,
    length: number,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const { url } = this.#client
    const path = attachmentPath(id, name)
    const stream =
      path === undefined
        ? await this.#inline(id, rev, name, signal)
        : await this.#client.stream({ path, query: { rev }, accept: '*/*', signal }).catch((error: unknown) => {
            throw refusalStatus(error) === 404 ? replaced(url, `the attachment '${name}' of '${id}'`, error) : error
          })
    let received = 0
    return stream.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        transform(chunk, controller) {
          received += chunk.length
          if (received > length)
            throw incomplete(url, `of the attachment '${name}' of '${id}' came more than ${length} bytes`)
          controller.enqueue(chunk)
        },
        flush() {
          if (received !== length)
            throw incomplete(url, `of the attachment '${name}' of '${id}' came ${received} of ${length} bytes`)
        },
      }),
    )
  }
}

/** Bytes of the attachments if all are small and came with this revision. 0: do not read them inside the answer. */
function smallAttachments({ _rev, _attachments }: Fields): number {
  if (!isPlainObject(_attachments)) return 0
  const generation = Number.parseInt(String(_rev), 10)
  let bytes = 0
  for (const value of Object.values(_attachments)) {
    if (!isPlainObject(value)) return 0
    const { length, revpos } = value
    // The target may already have an attachment of an earlier revision.
    if (typeof length !== 'number' || length > INLINE_BYTES_MAX || revpos !== generation) return 0
    bytes += length
  }
  return bytes
}

/** 0 for what is nested too deep to be measured: its writing refuses it. */
function textLength(document: Fields): number {
  try {
    return JSON.stringify(document).length
  } catch {
    return 0
  }
}

function bytesOfBase64(url: string, text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  } catch (error) {
    throw incomplete(url, `an attachment is not base64: ${String(error)}`)
  }
}

function base64Length(text: string): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return (text.length / 4) * 3 - padding
}

function grouped(names: readonly RevisionName[]): Map<string, string[]> {
  const byId = new Map<string, string[]>()
  for (const { id, rev } of names) {
    const revs = byId.get(id)
    if (revs === undefined) byId.set(id, [rev])
    else revs.push(rev)
  }
  return byId
}
