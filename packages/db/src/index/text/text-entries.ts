/**
 * The entries of a text index, for each document that has any words in the fields:
 *
 *   word (codec/key-encoding.ts), byte 255 - f, byte l, number     nothing              a posting, for each distinct word
 *   l as a number, number                                          nothing              its length
 *   missing, number                                                byte l, then for each word:
 *                                                                  varint length of its WTF-8, that, byte f
 *
 * f is how often the document has the word, at most 255. l is its number of words, in 256 steps (`lengthCode`). So the
 * count of a range is the number of documents with a word, or with a length, and a posting has all that ranking needs.
 * The last entry lists the document's words in the tree, so that they can be removed even if another engine would find
 * other words.
 */
import type { Key } from '../../base/brand.ts'
import { byteStringOf, ByteReader, ByteWriter } from '../../codec/bytes.ts'
import { isArrayLike } from '../../codec/collation.ts'
import { encodeKey, numberKey } from '../../codec/key-encoding.ts'
import { byteStringToText, textToByteString } from '../../codec/text.ts'
import type { IndexDefinition } from '../../document/catalog.ts'
import type { ReadPath } from '../index-key.ts'
import { wordFinder } from './words.ts'

/** By word, how often the document has it (at most FREQUENCY_MAX). */
export interface TextContent {
  readonly frequencies: ReadonlyMap<string, number>
  readonly lengthCode: number
}

export const FREQUENCY_MAX = 255
/** The rest of a posting after the word: frequency, length and number. */
export const POSTING_SUFFIX_BYTES: number = 2 + 6

/** The content that an index stores for a document; undefined if it has no words. */
export function textContent({ fields, text }: IndexDefinition, read: ReadPath): TextContent | undefined {
  const frequencies = new Map<string, number>()
  let length = 0
  const findWords = wordFinder(text!.language)
  const add = (value: string): void => {
    for (const word of findWords(value)) {
      length++
      frequencies.set(word, Math.min(FREQUENCY_MAX, (frequencies.get(word) ?? 0) + 1))
    }
  }
  for (const { path } of fields) eachText(read(path), add)
  return length === 0 ? undefined : { frequencies, lengthCode: lengthCode(length) }
}

/** A string, or the strings in an array. */
export function eachText(value: unknown, add: (text: string) => void): void {
  if (typeof value === 'string') add(value)
  else if (isArrayLike(value)) for (const element of Array.from(value)) if (typeof element === 'string') add(element)
}

/** Keys of all entries but the one that lists them. */
export function textKeys(content: TextContent, documentNumber: number): string[] {
  const number = numberKey(documentNumber)
  return keyPrefixes(content).map((prefix) => prefix + number)
}

/** The keys up to the document's number. */
function keyPrefixes({ frequencies, lengthCode: code }: TextContent): string[] {
  const prefixes = [lengthPrefix(code)]
  for (const [word, frequency] of frequencies) prefixes.push(postingPrefix(encodeKey(word), frequency, code))
  return prefixes
}

export function postingPrefix(wordKey: string, frequency: number, code: number): string {
  return wordKey + String.fromCharCode(FREQUENCY_MAX - frequency, code)
}

export function listKey(documentNumber: number): Key {
  return (encodeKey(undefined) + numberKey(documentNumber)) as Key
}

export function encodeList({ frequencies, lengthCode: code }: TextContent): Uint8Array {
  return encodeListed(
    code,
    Array.from(frequencies, ([word, frequency]) => ({ listed: listedWord(word), frequency })),
  )
}

/** A word as lists have it, without its frequency. */
export function listedWord(word: string): string {
  const bytes = textToByteString(word)
  const writer = new ByteWriter()
  writer.varint(bytes.length)
  return String.fromCharCode(...writer.finish()) + bytes
}

interface ListedWord {
  readonly listed: string
  readonly frequency: number
}

export function encodeListed(code: number, words: readonly ListedWord[]): Uint8Array {
  let length = 1
  for (const { listed } of words) length += listed.length + 1
  const bytes = new Uint8Array(length)
  bytes[0] = code
  let at = 1
  for (const { listed, frequency } of words) {
    for (let i = 0; i < listed.length; i++) bytes[at++] = listed.charCodeAt(i)
    bytes[at++] = frequency
  }
  return bytes
}

export function decodeList(bytes: Uint8Array): TextContent {
  const reader = new ByteReader(bytes, 1)
  const frequencies = new Map<string, number>()
  while (!reader.done) {
    const word = byteStringToText(byteStringOf(reader, reader.varint()))
    frequencies.set(word, reader.u8())
  }
  return { frequencies, lengthCode: bytes[0]! }
}

/** The keys of the entries of all documents with that length start with it. */
export function lengthPrefix(code: number): string {
  return encodeKey(code)
}

/** Up to 15 words exactly, beyond that in steps of an eighth. */
export function lengthCode(words: number): number {
  if (words < 16) return words
  const exponent = Math.floor(Math.log2(words))
  return Math.min(255, (exponent - 3) * 8 + Math.floor(words / 2 ** (exponent - 3)))
}

/** The fewest words that have this code. */
export function lengthOf(code: number): number {
  return code < 16 ? code : (8 + (code % 8)) * 2 ** (Math.floor(code / 8) - 1)
}
