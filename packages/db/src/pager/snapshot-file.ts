/**
 * Snapshot files: a database as one portable stream of bytes. docs/internals/snapshot-format.md is normative.
 *
 * A file is a prelude of fixed size, then blocks: one with the meta page, any number with pages, and the trailer at the
 * end. Every byte is under a checksum, whose seed binds a block to its file and to its place in it. So a reader detects
 * bytes that were cut, flipped, reordered, or mixed from two files, before it uses them.
 */
import type { PageId } from '../base/brand.ts'
import { PannierError } from '../base/errors.ts'
import { ByteQueue, isSealedSnapshot } from '../codec/byte-queue.ts'
import { ByteReader, ByteWriter, fromHex, readU32, writeU32 } from '../codec/bytes.ts'
import { checksum } from '../codec/checksum.ts'
import { PAGE_BYTES_MAX, type Page } from '../storage/page-store.ts'

/** Raised whenever files written from then on can't be read by earlier versions. The pages inside have a version of their own. */
export const SNAPSHOT_VERSION = 1

/** Pages of one block. */
export const BLOCK_PAGES_MAX = 32

export type SnapshotBlock =
  | { readonly kind: 'meta'; readonly bytes: Uint8Array }
  | { readonly kind: 'pages'; readonly pages: readonly Page[] }
  | { readonly kind: 'end' }

const MAGIC = 'PNNRSNAP'
const ID_BYTES = 16
const PRELUDE_BYTES = 32
const PRELUDE_CHECKSUM_AT = 28
const BLOCK_HEADER_BYTES = 9

const BLOCK_META = 1
const BLOCK_PAGES = 2
const BLOCK_END = 3

/** The most bytes of a block. Bounds what a damaged length can make a reader wait for. */
const BLOCK_BYTES_MAX: number = 64 * 1024 * 1024

/** Makes the parts of a file, in the order of the calls: prelude, meta, pages, end. */
export class SnapshotEncoder {
  #seed = 0
  #pages = 0
  #bytes = 0

  /** `id`: 32 random hex digits. */
  prelude(id: string): Uint8Array {
    const bytes = new Uint8Array(PRELUDE_BYTES)
    for (let i = 0; i < MAGIC.length; i++) bytes[i] = MAGIC.charCodeAt(i)
    bytes[8] = SNAPSHOT_VERSION
    bytes.set(fromHex(id, ID_BYTES), 12)
    this.#seed = checksum(bytes, 0, PRELUDE_CHECKSUM_AT)
    writeU32(bytes, PRELUDE_CHECKSUM_AT, this.#seed)
    return bytes
  }

  meta(metaPage: Uint8Array): Uint8Array {
    return this.#block(BLOCK_META, metaPage.length, (writer) => writer.raw(metaPage))
  }

  pages(pages: readonly Page[]): Uint8Array {
    const capacity = pages.reduce((sum, { bytes }) => sum + bytes.length + 12, 0)
    this.#pages += pages.length
    return this.#block(BLOCK_PAGES, capacity, (writer) => {
      for (const { id, bytes } of pages) {
        writer.varint(id)
        writer.varint(bytes.length)
        writer.raw(bytes)
        this.#bytes += bytes.length
      }
    })
  }

  end(): Uint8Array {
    return this.#block(BLOCK_END, 16, (writer) => {
      writer.varint(this.#pages)
      writer.varint(this.#bytes)
    })
  }

  #block(kind: number, capacity: number, write: (writer: ByteWriter) => void): Uint8Array {
    const writer = new ByteWriter(BLOCK_HEADER_BYTES + capacity)
    writer.u32(0)
    writer.u8(kind)
    writer.u32(0)
    write(writer)
    const block = writer.finish()
    writeU32(block, 5, block.length - BLOCK_HEADER_BYTES)
    this.#seed = (this.#seed + 1) >>> 0
    writeU32(block, 0, checksum(block, 4, block.length, this.#seed))
    return block
  }
}

/**
 * The verified blocks of a file. Ends after the last block, and only if the file ends there too.
 *
 * @throws PANNIER_FORMAT_WRONG, PANNIER_FORMAT_NEWER, PANNIER_CORRUPT, errors of the source
 */
export async function* readSnapshotFile(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<SnapshotBlock, void, undefined> {
  const input = new ByteQueue(source)
  try {
    let seed = checkPrelude(await input.take(PRELUDE_BYTES))
    let pages = 0
    let bytes = 0
    for (let first = true; ; first = false) {
      seed = (seed + 1) >>> 0
      const { kind, payload } = await readBlock(input, seed)
      if (first !== (kind === BLOCK_META)) throw damaged('its blocks are out of order')
      if (kind === BLOCK_META) {
        yield { kind: 'meta', bytes: payload }
      } else if (kind === BLOCK_PAGES) {
        const block = parsePages(payload)
        pages += block.length
        for (const page of block) bytes += page.bytes.length
        yield { kind: 'pages', pages: block }
      } else if (kind === BLOCK_END) {
        const reader = new ByteReader(payload)
        if (reader.varint() !== pages || reader.varint() !== bytes) throw damaged('pages are missing')
        if ((await input.take(1)).length > 0) throw damaged('something follows its end')
        yield { kind: 'end' }
        return
      } else {
        throw damaged('it has a block of an unknown kind')
      }
    }
  } finally {
    await input.close()
  }
}

/** Gives the seed of the checksums of blocks. */
function checkPrelude(bytes: Uint8Array): number {
  if (isSealedSnapshot(bytes))
    throw new PannierError('PANNIER_ENCRYPTED', 'The snapshot is sealed: it needs the password or key of its database.')
  for (let i = 0; i < MAGIC.length; i++) {
    if (bytes[i] !== MAGIC.charCodeAt(i)) {
      throw new PannierError('PANNIER_FORMAT_WRONG', 'The source is not a Pannier snapshot.')
    }
  }
  if (bytes.length < PRELUDE_BYTES) throw damaged('it ends in its prelude')
  const seed = checksum(bytes, 0, PRELUDE_CHECKSUM_AT)
  if (readU32(bytes, PRELUDE_CHECKSUM_AT) !== seed) throw damaged('the checksum of its prelude does not match')
  const version = bytes[8]! | (bytes[9]! << 8)
  if (version > SNAPSHOT_VERSION) {
    throw new PannierError(
      'PANNIER_FORMAT_NEWER',
      `The snapshot has format ${version}; this version of Pannier reads formats up to ${SNAPSHOT_VERSION}. Update Pannier.`,
      { details: { version } },
    )
  }
  return seed
}

async function readBlock(input: ByteQueue, seed: number): Promise<{ kind: number; payload: Uint8Array }> {
  const header = await input.take(BLOCK_HEADER_BYTES)
  if (header.length < BLOCK_HEADER_BYTES) throw damaged('it is cut off')
  const length = readU32(header, 5)
  if (length > BLOCK_BYTES_MAX) throw damaged('a block has an impossible length')
  const payload = await input.take(length)
  if (payload.length < length) throw damaged('it is cut off')
  const block = new Uint8Array(BLOCK_HEADER_BYTES + length)
  block.set(header)
  block.set(payload, BLOCK_HEADER_BYTES)
  if (readU32(block, 0) !== checksum(block, 4, block.length, seed))
    throw damaged('the checksum of a block does not match')
  return { kind: block[4]!, payload: block.subarray(BLOCK_HEADER_BYTES) }
}

function parsePages(payload: Uint8Array): Page[] {
  const reader = new ByteReader(payload)
  const pages: Page[] = []
  while (reader.at < payload.length) {
    const id = reader.varint() as PageId
    const length = reader.varint()
    if (length > PAGE_BYTES_MAX) throw damaged(`page ${id} is too large`)
    pages.push({ id, bytes: reader.raw(length) })
  }
  return pages
}

function damaged(what: string): PannierError {
  return new PannierError('PANNIER_CORRUPT', `The snapshot is damaged: ${what}.`)
}
