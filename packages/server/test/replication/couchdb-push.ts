/**
 * What CouchDB's replicator does with a target, as far as the target sees it. It asks `_revs_diff` with a name for each change. It
 * sends `_bulk_docs` in batches that it halves when they are too large, and a PUT for each design document and each document with
 * attachments. It skips what is refused with 401, 403, 413 or 415, with 400 for the name of an attachment, or as a row of
 * `_bulk_docs`. Anything else ends the replication, and each later try too.
 */
import { createHash } from 'node:crypto'
import { send } from '../test-server.ts'

export interface PushedDocument {
  /** JSON without `_attachments`. */
  readonly document: Readonly<Record<string, unknown>> & { readonly _id: string; readonly _rev: string }
  /** Sent instead of `document`, for numbers that JavaScript can't write. */
  readonly json?: string
  readonly attachments?: Readonly<Record<string, { readonly type: string; readonly content: Uint8Array }>>
}

export interface PushResult {
  readonly written: readonly string[]
  /** Ids with the reason. */
  readonly passedOver: ReadonlyMap<string, string>
}

const BATCH_BYTES = 512 * 1024
const JSON_TYPE = { 'content-type': 'application/json' }

/** `changes` may have one document several times. @throws if the replication would have ended */
export async function pushLikeCouchDB(
  url: string,
  database: string,
  changes: readonly PushedDocument[],
): Promise<PushResult> {
  const members = changes.map(({ document: { _id, _rev } }) => `${JSON.stringify(_id)}:[${JSON.stringify(_rev)}]`)
  const diff = await send(url, `POST /${database}/_revs_diff`, `{${members.join(',')}}`, JSON_TYPE)
  if (diff.status !== 200) throw new Error(`revs_diff_failed, ${diff.status}: ${diff.text}`)
  const push = new Push(url, database)
  const seen = new Set<PushedDocument>()
  let batch: PushedDocument[] = []
  let bytes = 0
  for (const change of changes) {
    const { _id, _rev } = change.document
    const { missing = [] } = (diff.json[_id] ?? {}) as { missing?: string[] }
    if (!missing.includes(_rev) || seen.has(change)) continue
    seen.add(change)
    if (_id.startsWith('_design/') || change.attachments !== undefined) await push.one(change)
    else {
      batch.push(change)
      bytes += textOf(change).length
    }
    if (bytes > BATCH_BYTES) {
      await push.many(batch)
      batch = []
      bytes = 0
    }
  }
  if (batch.length > 0) await push.many(batch)
  const checkpoint = await send(url, `PUT /${database}/_local/checkpoint`, { source_last_seq: changes.length })
  if (checkpoint.status !== 201) throw new Error(`checkpoint_commit_failure, ${checkpoint.status}`)
  return push
}

class Push implements PushResult {
  readonly written: string[] = []
  readonly passedOver = new Map<string, string>()
  readonly #url: string
  readonly #database: string

  constructor(url: string, database: string) {
    this.#url = url
    this.#database = database
  }

  async one(change: PushedDocument): Promise<void> {
    const { _id } = change.document
    const path = _id.startsWith('_design/')
      ? `_design/${encodeURIComponent(_id.slice('_design/'.length))}`
      : encodeURIComponent(_id)
    const { body, headers } = related(change)
    const answer = await send(this.#url, `PUT /${this.#database}/${path}?new_edits=false`, body, headers)
    const reason = String(answer.json['reason'])
    const isPassedOver =
      [401, 403, 413, 415].includes(answer.status) || (answer.status === 400 && reason.startsWith('Attachment name '))
    if (answer.status === 201 || answer.status === 200) this.written.push(_id)
    else if (isPassedOver) this.passedOver.set(_id, reason)
    else throw new Error(`doc_write_failed ${_id.slice(0, 40)}, ${answer.status}: ${answer.text}`)
  }

  async many(batch: readonly PushedDocument[]): Promise<void> {
    const text = `{"new_edits":false,"docs":[${batch.map(textOf).join(',')}]}`
    const answer = await send(this.#url, `POST /${this.#database}/_bulk_docs`, text, JSON_TYPE)
    if (answer.status === 413) {
      if (batch.length === 1) {
        this.passedOver.set(batch[0]!.document._id, answer.text)
        return
      }
      const half = Math.floor(batch.length / 2)
      await this.many(batch.slice(0, half))
      await this.many(batch.slice(half))
      return
    }
    if (answer.status !== 201 && answer.status !== 417)
      throw new Error(`bulk_docs_failed, ${answer.status}: ${answer.text}`)
    const rows = answer.json as unknown as { id: string; reason: string }[]
    const failed = new Map(rows.map(({ id, reason }) => [id, reason]))
    for (const [id, reason] of failed) this.passedOver.set(id, reason)
    for (const { document } of batch) if (!failed.has(document._id)) this.written.push(document._id)
  }
}

function textOf({ document, json }: PushedDocument): string {
  return json ?? JSON.stringify(document)
}

function related({ document, json, attachments }: PushedDocument): {
  body: string | Uint8Array
  headers: Readonly<Record<string, string>>
} {
  if (attachments === undefined) return { body: json ?? JSON.stringify(document), headers: JSON_TYPE }
  const stubs = Object.entries(attachments).map(([name, { type, content }]) => {
    const digest = `md5-${createHash('md5').update(content).digest('base64')}`
    return [name, { content_type: type, revpos: 1, digest, length: content.length, follows: true }]
  })
  const parts: (string | Uint8Array)[] = [
    '--frontier\r\nContent-Type: application/json\r\n\r\n',
    JSON.stringify({ ...document, _attachments: Object.fromEntries(stubs) }),
  ]
  for (const [name, { type, content }] of Object.entries(attachments)) {
    parts.push(
      `\r\n--frontier\r\nContent-Disposition: attachment; filename="${name}"\r\nContent-Type: ${type}\r\n` +
        `Content-Length: ${content.length}\r\n\r\n`,
      content,
    )
  }
  parts.push('\r\n--frontier--')
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
  return { body, headers: { 'content-type': 'multipart/related; boundary="frontier"' } }
}
