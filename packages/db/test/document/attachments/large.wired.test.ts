/**
 * Goal: an attachment of any length takes bounded memory on its way in and out.
 * Method: the bytes of all array buffers that are still held are counted after a forced collection; on an SQLite file, whose
 * pages are not in memory.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { CHUNK_BYTES } from '../../../src/document/attachments/blob-store.ts'
import { UPLOAD_BYTES } from '../../../src/document/attachments/upload.ts'
import { openKeyValueStore } from '../../../src/kv/open.ts'
import { sqlite } from '../../../src/sqlite.ts'
import { AttachmentStore } from '../../../testing/attachment-fixture.ts'
import { countingEnvironment } from '../../../testing/model-database.ts'
import { soloCoordinator } from '../../kv/solo-coordinator.ts'
import { times } from '../../../../../tools/test/seeds.ts'

const LENGTH: number = times(16) * 1024 * 1024
const PIECE_BYTES = 64 * 1024
const CACHE_BYTES_MAX = 4 * 1024 * 1024
/** The cache, what one transaction holds twice over (as chunks and as pages), and what the collector is slow to see. */
const HELD_BYTES_MAX: number = CACHE_BYTES_MAX + 4 * UPLOAD_BYTES

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

test(`${LENGTH / 1024 / 1024} MiB in and out`, { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pannier-'))
  const kv = await openKeyValueStore({
    store: await sqlite().open(join(folder, 'large')),
    coordinator: soloCoordinator(),
    environment: countingEnvironment(),
    cacheBytesMax: CACHE_BYTES_MAX,
    durability: 'relaxed',
  })
  try {
    const store = new AttachmentStore(kv, countingEnvironment())
    const memory = new HeldMemory(await held())
    const sent = createHash('md5')
    await store.put('a', {
      x: {
        data: (async function* () {
          for (let at = 0; at < LENGTH; at += PIECE_BYTES) {
            // Each is another one: no two chunks are equal.
            const piece = new Uint8Array(PIECE_BYTES).fill(at / PIECE_BYTES)
            new DataView(piece.buffer).setFloat64(0, at)
            sent.update(piece)
            await memory.look(at)
            yield piece
          }
        })(),
      },
    })
    const attachment = (await store.get('a', 'x'))!
    expect(attachment.length).toBe(LENGTH)
    expect(attachment.digest).toBe(`md5-${sent.copy().digest('base64')}`)
    const memoryOut = new HeldMemory(await held())
    const received = createHash('md5')
    let bytes = 0
    for await (const piece of attachment.stream()) {
      received.update(piece)
      bytes += piece.length
      await memoryOut.look(bytes)
    }
    expect(received.digest('hex')).toBe(sent.digest('hex'))
    expect(memory.highest).toBeLessThanOrEqual(HELD_BYTES_MAX)
    expect(memoryOut.highest).toBeLessThanOrEqual(HELD_BYTES_MAX)
    // A range in the middle reads what it needs.
    const middle = Math.floor(LENGTH / 2 / CHUNK_BYTES) * CHUNK_BYTES
    expect(await attachment.bytes({ start: middle - 5, end: middle + 5 })).toHaveLength(10)
    await store.put('a', {})
    await store.check(true)
  } finally {
    await kv.close()
    rmSync(folder, { recursive: true })
  }
})

/** Bytes in array buffers beyond those at the start, looked at every 16 MiB. */
class HeldMemory {
  highest = 0
  #next = 0
  readonly #start: number

  constructor(start: number) {
    this.#start = start
  }

  async look(at: number): Promise<void> {
    if (at < this.#next) return
    this.#next = at + 16 * 1024 * 1024
    this.highest = Math.max(this.highest, (await held()) - this.#start)
  }
}

/** Buffers that were found to be free are let go of a little later, by another thread. */
async function held(): Promise<number> {
  let bytes = Infinity
  for (let before = Infinity, round = 0; round < 5; round++, before = bytes) {
    collectGarbage()
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    bytes = process.memoryUsage().arrayBuffers
    if (bytes === before) break
  }
  return bytes
}
