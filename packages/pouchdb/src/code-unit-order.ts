/** PouchDB compares strings of keys by their UTF-16 code units, and the library by code points. They differ beyond U+D7FF. */
import { registerCollation } from 'pannier'

/** The name of the collation whose order is PouchDB's. */
export const CODE_UNIT_ORDER = 'pouchdb'

let isRegistered = false

/** Call it before a database is opened. The library drops indexes whose collation it does not know with the first write. */
export function registerCodeUnitOrder(): void {
  if (!isRegistered) registerCollation({ name: CODE_UNIT_ORDER, key: keyOf })
  isRegistered = true
}

const SURROGATES = 0xd800
const AFTER_SURROGATES = 0xe000
const MOVED_UP = 0x10_0000

/** Halves of pairs take the place of the characters after them, which move to the end of Unicode. */
function keyOf(text: string): string {
  return text.replace(/[\ud800-\uffff]/g, (unit) => {
    const code = unit.charCodeAt(0)
    return String.fromCodePoint(code < AFTER_SURROGATES ? code - SURROGATES + AFTER_SURROGATES : code + MOVED_UP)
  })
}
