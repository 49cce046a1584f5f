/** Registers SQLite's collation NOCASE. */
import { registerCollation, type Collation } from './registered-collation.ts'

/** SQLite's collation NOCASE: letters of ASCII count as their small ones, others as they are. It is known once this is loaded. */
export const NOCASE: Collation = registered({
  name: 'nocase',
  key: (text) => (/[A-Z]/.test(text) ? text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()) : text),
})

function registered(collation: Collation): Collation {
  registerCollation(collation)
  return collation
}
