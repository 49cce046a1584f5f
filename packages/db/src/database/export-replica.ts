/**
 * Writes a replica file: all documents of a collection with all leaf revisions, their histories and attachments, tombstones too, as of
 * one moment. docs/replication.md is normative. Loaded when it is asked for.
 */
import { throwIfAborted } from '../base/abort.ts'
import { BodyView } from '../document/body.ts'
import { RevisionReader } from '../document/revision-reads.ts'
import type { QuerySource } from '../query/query-source.ts'
import type { LongWork } from './byte-stream.ts'

export const REPLICA_FORMAT = 'pannier-replica'
export const REPLICA_VERSION = 1

/** Chars gathered before they are handed on, and documents looked up at once. */
const CHUNK_CHARS = 64 * 1024
const BODIES_AT_ONCE = 256

export async function* replicaChunks(
  source: QuerySource,
  toJson: (document: Readonly<Record<string, unknown>>) => string,
  { signal, onProgress }: LongWork,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { documents: reader } = source
  const encoder = new TextEncoder()
  const revisions = new RevisionReader(reader)
  const documents = await source.attempt(() => reader.bodies.count())
  const update_seq = `${reader.bodies.lastNumber}-${reader.collection.epoch}`
  let text = `${JSON.stringify({ format: REPLICA_FORMAT, version: REPLICA_VERSION, update_seq, documents })}\n`
  let done = 0
  let lines = 0
  const cursor = reader.bodies.cursor()
  for (let ended = false; !ended;) {
    throwIfAborted(signal, 'The export')
    const bodies: BodyView[] = []
    await source.attempt(() => {
      while (bodies.length < BODIES_AT_ONCE && !ended) {
        if (cursor.next()) bodies.push(new BodyView().load(cursor.value, cursor.keyNumber))
        else ended = true
      }
    })
    for (const body of bodies) {
      for (const leaf of await source.attempt(() => revisions.leaves(body))) {
        text += `${toJson(leaf)}\n`
        lines++
      }
      done++
      if (text.length < CHUNK_CHARS) continue
      yield encoder.encode(text)
      text = ''
    }
    onProgress?.(Math.min(done / documents, 0.999))
  }
  yield encoder.encode(`${text}${JSON.stringify({ end: true, documents: done, revisions: lines })}\n`)
  onProgress?.(1)
}
