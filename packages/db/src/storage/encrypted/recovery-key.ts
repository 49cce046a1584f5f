/**
 * Recovery keys as people write them down: 32 random bytes and a checksum of 20 bits, in 14 groups of four letters and digits
 * of Crockford's base 32 (no I, L, O, U).
 */
import { PannierError } from '../../base/errors.ts'
import { checksum } from '../../codec/checksum.ts'
import { KEY_BYTES } from './platform.ts'

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const GROUP_CHARS = 4
const KEY_CHARS = 52
const CHECK_CHARS = 4

export function formatRecoveryKey(key: Uint8Array): string {
  const text = encodeBase32(key) + checkChars(key)
  return Array.from({ length: text.length / GROUP_CHARS }, (_, at) =>
    text.slice(at * GROUP_CHARS, (at + 1) * GROUP_CHARS),
  ).join('-')
}

/** Forgives case, missing or other separators, and O, I, L for digits. Throws PANNIER_WRONG_KEY for what can't be one. */
export function parseRecoveryKey(text: string): Uint8Array {
  const plain = text.toUpperCase().replace(/[\s-]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1')
  const key = plain.length === KEY_CHARS + CHECK_CHARS ? decodeBase32(plain.slice(0, KEY_CHARS)) : undefined
  if (key === undefined || checkChars(key) !== plain.slice(KEY_CHARS)) {
    throw new PannierError('PANNIER_WRONG_KEY', 'The recovery key is misspelt or incomplete.')
  }
  return key
}

function encodeBase32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    for (; bits >= 5; bits -= 5) text += ALPHABET[(value >>> (bits - 5)) & 31]!
    value &= (1 << bits) - 1
  }
  return bits > 0 ? text + ALPHABET[(value << (5 - bits)) & 31]! : text
}

function decodeBase32(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(KEY_BYTES)
  let at = 0
  let bits = 0
  let value = 0
  for (const char of text) {
    const digit = ALPHABET.indexOf(char)
    if (digit < 0) return undefined
    value = (value << 5) | digit
    bits += 5
    if (bits < 8) continue
    bits -= 8
    if (at < KEY_BYTES) bytes[at++] = value >>> bits
    value &= (1 << bits) - 1
  }
  return value === 0 ? bytes : undefined
}

function checkChars(key: Uint8Array): string {
  const check = checksum(key)
  return Array.from({ length: CHECK_CHARS }, (_, at) => ALPHABET[(check >>> (5 * at)) & 31]!).join('')
}
