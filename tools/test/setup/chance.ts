/**
 * The chance of the platform comes from the seed too: the ids that a database makes, jitter, what libraries draw. The order of new ids,
 * for example, is the same in every run.
 */
import { RandomBits } from '../../../packages/db/testing/random.ts'
import { FIRST_SEED } from '../seeds.ts'

let bits = new RandomBits(FIRST_SEED, false)

/** From now on this file draws: each has a stream of its own, whatever ran before in the process. */
export function seedPlatform(file: string): void {
  let seed = FIRST_SEED
  for (let at = 0; at < file.length; at++) seed = Math.imul(seed ^ file.charCodeAt(at), 0x01000193)
  bits = new RandomBits(seed, false)
}

function getRandomValues<T extends ArrayBufferView>(array: T): T {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
  for (let at = 0; at < bytes.length; at++) bytes[at] = bits.next() >>> 24
  return array
}

function randomUUID(): string {
  const bytes = getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return Buffer.from(bytes)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

Object.assign(crypto, { getRandomValues, randomUUID })
Object.assign(Math, { random: () => ((bits.next() >>> 5) * 2 ** 26 + (bits.next() >>> 6)) / 2 ** 53 })
