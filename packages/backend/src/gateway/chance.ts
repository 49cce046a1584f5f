/** Texts and numbers that nobody can guess, drawn from an environment. */
import type { Environment } from 'pannier/types'

/** The source of chance. */
export type Chance = Pick<Environment, 'randomBytes'>

/** Letters and digits of ids. */
export const LOWER = 'abcdefghijklmnopqrstuvwxyz0123456789'
const LETTERS = `${LOWER}ABCDEFGHIJKLMNOPQRSTUVWXYZ`

/** Characters of an alphabet, each as likely as the others. It has at most 256. */
export function randomText(chance: Chance, length: number, alphabet: string = LETTERS): string {
  const limit = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length)
    for (const byte of chance.randomBytes(length - text.length))
      if (byte < limit) text += alphabet[byte % alphabet.length]
  return text
}

/** This number of bytes, in base64url. */
export function randomSecret(chance: Chance, bytes: number): string {
  return Buffer.from(chance.randomBytes(bytes)).toString('base64url')
}

/** A random fraction, from 0 to less than 1. */
export function randomFraction(chance: Chance): number {
  const { buffer, byteOffset } = chance.randomBytes(8)
  const bytes = new DataView(buffer, byteOffset)
  return (bytes.getUint32(0) * 2 ** 21 + (bytes.getUint32(4) >>> 11)) / 2 ** 53
}
