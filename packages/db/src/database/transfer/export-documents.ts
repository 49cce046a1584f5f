/** Writes documents as JSON text in pieces. Loaded on first use; docs/internals/import-export.md defines the formats. */
import { RunningWork, type WorkOptions } from '../../base/long-work.ts'
import { holdsTypedArray, plainArrays } from '../../codec/bytes.ts'
import { toCouchDocument } from '../../document/attachments/couch-attachments.ts'
import { RevisionReader } from '../../document/revision-reads.ts'
import { createQuery, type Selector } from '../../query/query.ts'
import type { QueryRelations } from '../../query/query-run.ts'
import type { QuerySource } from '../../query/query-source.ts'
import { chunkStream } from './byte-streams.ts'
import { replicaChunks } from './export-replica.ts'

/**
 * - 'ndjson': a document a line.
 * - 'json': an array of documents.
 * - 'couchdb': what CouchDB answers to `_all_docs?include_docs=true`.
 * - 'couchdb-bulk': what CouchDB's `_bulk_docs` takes, so that it keeps the revisions.
 * - 'replica': everything that a replica has, all leaf revisions, tombstones and attachments too; not with a selector.
 */
export type ExportFormat = 'ndjson' | 'json' | 'couchdb' | 'couchdb-bulk' | 'replica'

/** Chars gathered before they are handed on. */
const CHUNK_CHARS = 64 * 1024

interface Layout {
  readonly head: string
  readonly separator: string
  readonly tail: (count: number) => string
  readonly row: (document: ExportedDocument) => string
}

type ExportedDocument = Readonly<Record<string, unknown>>

const LAYOUTS: Readonly<Record<Exclude<ExportFormat, 'replica'>, Layout>> = {
  ndjson: { head: '', separator: '\n', tail: (count) => (count > 0 ? '\n' : ''), row: toJson },
  json: { head: '[\n', separator: ',\n', tail: () => '\n]\n', row: toJson },
  couchdb: {
    head: '{"rows":[\n',
    separator: ',\n',
    tail: (count) => `\n],"offset":0,"total_rows":${count}}\n`,
    row: allDocsRow,
  },
  'couchdb-bulk': { head: '{"new_edits":false,"docs":[\n', separator: ',\n', tail: () => '\n]}\n', row: toCouchJson },
}

interface ExportWork extends WorkOptions {
  readonly selector?: Selector<Readonly<Record<string, unknown>>> | undefined
  readonly format?: ExportFormat | undefined
  readonly attachments?: boolean | undefined
  readonly relations: QueryRelations | undefined
}

/** A stream of the source's documents. Its end releases the source. */
export function exportStream(source: QuerySource, work: ExportWork): ReadableStream<Uint8Array> {
  const { format = 'ndjson' } = work
  const chunks = format === 'replica' ? replicaChunks(source, toJson, work) : exportDocuments(source, format, work)
  return chunkStream({ chunks, release: () => source.release() })
}

async function* exportDocuments(
  source: QuerySource,
  format: Exclude<ExportFormat, 'replica'>,
  { selector = {}, attachments = false, relations, ...options }: ExportWork,
): AsyncGenerator<Uint8Array, void, undefined> {
  const work = new RunningWork(options)
  work.throwIfCancelled()
  const { head, separator, tail, row } = LAYOUTS[format]
  const unreleased = (): QuerySource => ({ ...source, release: () => {} })
  // It reads from the source once for the count, once for the documents.
  const query = createQuery<ExportedDocument>(unreleased, selector, undefined, {}, relations)
  const expected = options.onProgress === undefined ? 0 : await query.count()
  let text = head
  let count = 0
  for await (const document of query) {
    const shown = attachments && document['_attachments'] !== undefined ? await whole(source, document) : document
    text += (count++ > 0 ? separator : '') + row(shown)
    if (text.length < CHUNK_CHARS) continue
    yield encoder.encode(text)
    text = ''
    work.report(count, expected)
    await work.pause()
  }
  yield encoder.encode(text + tail(count))
  work.complete()
}

/** The document with the content of its attachments. */
async function whole(source: QuerySource, { _id }: ExportedDocument): Promise<ExportedDocument> {
  const options = { attachments: 'base64' } as const
  return (await source.attempt(() => new RevisionReader(source.documents).read(_id as string, options)))!
}

const encoder = new TextEncoder()

function allDocsRow(document: ExportedDocument): string {
  const id = JSON.stringify(document['_id'])
  return `{"id":${id},"key":${id},"value":{"rev":${JSON.stringify(document['_rev'])}},"doc":${toCouchJson(document)}}`
}

function toCouchJson(document: ExportedDocument): string {
  return toJson(toCouchDocument(document))
}

/** Typed arrays, which JSON does not know, as arrays of numbers. */
function toJson(document: ExportedDocument): string {
  return holdsTypedArray(document) ? JSON.stringify(document, plainArrays) : JSON.stringify(document)
}
