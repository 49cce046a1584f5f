/**
 * Snapshot files of encrypted databases: the keyring, so that everyone who can open the database can open the file,
 * then the plain file in sealed parts. docs/internals/encryption.md is normative.
 *
 *     0  'PNNRSEAL'
 *     8  u32  bytes of the keyring
 *        the keyring
 *        32 bytes, random: makes the key of this file, which no other file has
 *        parts: u32 bytes of what follows, the top bit set in the last one; ciphertext; tag of 16 bytes
 *
 * The nonce of a part is its number. Its tag authenticates the number and whether the part is the last one. So a reader
 * detects parts that were cut, swapped or flipped.
 */
import { PannierError } from '../../base/errors.ts'
import { ByteQueue, isSealedSnapshot, SEALED_SNAPSHOT_MAGIC } from '../../codec/byte-queue.ts'
import { readU32, writeU32 } from '../../codec/bytes.ts'
import { KEYRING_BYTES_MAX } from '../page-store.ts'
import { associatedData, KIND_SNAPSHOT } from './envelope.ts'
import { NONCE_BYTES, SALT_BYTES, TAG_BYTES, type Aead, type CryptoPlatform } from './platform.ts'

import type { Credential } from './slots.ts'
import { Vault } from './vault.ts'

const LAST = 0x80000000
/** Bounds what a damaged length can make a reader wait for; parts are some 2 MiB. */
const PART_BYTES_MAX: number = 64 * 1024 * 1024
const KEY_INFO = 'pannier snapshot'

/** The bytes of a snapshot file, sealed. */
export async function* sealSnapshot(
  vault: Vault,
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { keyringBytes, keyring, platform } = vault
  const salt = platform.random(SALT_BYTES)
  const prelude = new Uint8Array(12 + keyringBytes.length + SALT_BYTES)
  for (let i = 0; i < 8; i++) prelude[i] = SEALED_SNAPSHOT_MAGIC.charCodeAt(i)
  writeU32(prelude, 8, keyringBytes.length)
  prelude.set(keyringBytes, 12)
  prelude.set(salt, 12 + keyringBytes.length)
  yield prelude
  const aead = await vault.derive(salt, KEY_INFO)
  let number = 0
  const seal = async (chunk: Uint8Array, isLast: boolean): Promise<Uint8Array> => {
    const { nonce, associated } = placeOf(keyring.database, number++, isLast)
    const sealed = await aead.seal(nonce, associated, chunk)
    const part = new Uint8Array(4 + sealed.length)
    writeU32(part, 0, (sealed.length | (isLast ? LAST : 0)) >>> 0)
    part.set(sealed, 4)
    return part
  }
  for await (const chunk of chunks) yield await seal(chunk, false)
  yield await seal(new Uint8Array(0), true)
}

/**
 * The snapshot file in a sealed one; what is not a sealed one is passed on as it is.
 *
 * @throws PANNIER_KEY_WRONG, PANNIER_CORRUPT, and whatever the source throws.
 */
export async function* openSnapshot(
  platform: CryptoPlatform,
  credential: Credential,
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const input = new ByteQueue(source)
  try {
    const magic = await input.take(SEALED_SNAPSHOT_MAGIC.length)
    if (!isSealedSnapshot(magic)) {
      yield magic
      yield* input.rest()
      return
    }
    const length = readU32(await all(input, 4), 0)
    if (length > KEYRING_BYTES_MAX) throw damaged()
    const vault = new Vault(platform, credential)
    await vault.adopt(await all(input, length))
    const aead = await vault.derive(await all(input, SALT_BYTES), KEY_INFO)
    yield* openParts(input, aead, vault.keyring.database)
  } finally {
    await input.close()
  }
}

async function* openParts(
  input: ByteQueue,
  aead: Aead,
  database: Uint8Array,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (let number = 0; ; number++) {
    const head = readU32(await all(input, 4), 0)
    const isLast = head >= LAST
    const length = isLast ? head - LAST : head
    if (length < TAG_BYTES || length > PART_BYTES_MAX) throw damaged()
    const { nonce, associated } = placeOf(database, number, isLast)
    const plain = await aead.open(nonce, associated, await all(input, length))
    if (plain === undefined) throw damaged()
    if (plain.length > 0) yield plain
    if (!isLast) continue
    if ((await input.take(1)).length > 0) throw damaged()
    return
  }
}

async function all(input: ByteQueue, count: number): Promise<Uint8Array> {
  const bytes = await input.take(count)
  if (bytes.length < count) throw damaged()
  return bytes
}

function placeOf(
  database: Uint8Array,
  number: number,
  isLast: boolean,
): { readonly nonce: Uint8Array; readonly associated: Uint8Array } {
  const nonce = new Uint8Array(NONCE_BYTES)
  writeU32(nonce, 0, number >>> 0)
  const more = Uint8Array.of(isLast ? 1 : 0)
  return { nonce, associated: associatedData(database, 0, { kind: KIND_SNAPSHOT, number, more }) }
}

function damaged(): PannierError {
  return new PannierError(
    'PANNIER_CORRUPT',
    'The encrypted snapshot is damaged or incomplete, or somebody has changed it.',
  )
}
