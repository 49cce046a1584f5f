/**
 * Writes a replica file: all documents of a collection at one moment, with all leaf revisions, histories, attachments
 * and tombstones. docs/internals/replication.md is normative. Loaded on first use.
 */
import { RunningWork, type WorkOptions } from '../../base/long-work.ts'
import { BodyView } from '../../document/body.ts'
import { BATCH_BYTES_MAX } from '../../document/document-reader.ts'
import { toCouchDocument } from '../../document/attachments/couch-attachments.ts'
import { RevisionReader } from '../../document/revision-reads.ts'
import type { QuerySource } from '../../query/query-source.ts'
import { PART_CHARS, PartChecksum } from './replica-parts.ts'

export const REPLICA_FORMAT = 'pannier-replica'
export const REPLICA_VERSION = 2

/** Documents looked up at once. */
const BODIES_AT_ONCE = 256

export async function* replicaChunks(
  source: QuerySource,
  toJson: (document: Readonly<Record<string, unknown>>) => string,
  options: WorkOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { documents: reader } = source
  const work = new RunningWork(options)
  const encoder = new TextEncoder()
  const sum = new PartChecksum()
  const revisions = new RevisionReader(reader)
  const documents = await source.attempt(() => reader.bodies.count())
  const update_seq = `${reader.bodies.lastNumber}-${reader.collection.epoch}`
  let text = `${JSON.stringify({ format: REPLICA_FORMAT, version: REPLICA_VERSION, update_seq, documents })}\n`
  let done = 0
  let lines = 0
  const cursor = reader.bodies.cursor()
  for (let ended = false; !ended;) {
    await work.pause()
    const bodies: BodyView[] = []
    let bytes = 0
    await source.attempt(() => {
      while (bodies.length < BODIES_AT_ONCE && bytes < BATCH_BYTES_MAX && !ended) {
        ended = !cursor.next()
        if (ended) return
        bodies.push(new BodyView().load(cursor.value, cursor.keyNumber))
        bytes += cursor.value.length
      }
    })
    for (const body of bodies) {
      for (const leaf of await source.attempt(() => revisions.leaves(body))) {
        text += `${toJson(toCouchDocument(leaf))}\n`
        lines++
        if (text.length < PART_CHARS) continue
        const part = encoder.encode(text)
        yield part
        yield encoder.encode(`{"check":"${sum.add(part)}"}\n`)
        text = ''
      }
      done++
    }
    work.report(done, documents)
  }
  const rest = encoder.encode(text)
  yield rest
  const end = { end: true, documents: done, revisions: lines, check: sum.add(rest) }
  yield encoder.encode(`${JSON.stringify(end)}\n`)
  work.complete()
}
