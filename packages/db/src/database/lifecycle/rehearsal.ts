/**
 * A first query of a database of one document of constants. It runs while another process opens the real one: engines
 * compile code when it first runs, and this thread would only wait. Figures: docs/notes/2026-11-23-first-rows.md.
 */
import type { CommitSequence, Generation } from '../../base/brand.ts'
import { isChromium, type Environment } from '../../base/environment.ts'
import { asArray } from '../../codec/bytes.ts'
import type { DatabaseStorage, PageStore } from '../../storage/page-store.ts'
import type { Database } from '../database.ts'

/** Format 1, which every version reads: the meta record; pages of the bodies, of the ids, and of the index. */
const RECORDS: readonly string[] = [
  'PNNR\x01\x00\x1af2\x91\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x07\x06\x01\x02\x07catalog\x04\x0ccollection/a\xaa\x01{"number":1,"epoch":"","nextIndexNumber":2,"indexes":[{"number":1,"name":"b","fields":[{"path":"b","descending":false}],"multi":false}],"settings":{"revisionsLimit":200}}\x04next\x012\x09shape/1/0\x09\x04\x01b\x01e\x01f\x01g\x07version 00000000000000000000000000000000\x02\x01\x081/bodies\x01\x01\x01t\x02\x03\x00\x051/ids\x01\x02\x01 \x04\x00\x091/deleted\x00\x05\x00\x071/moved\x00\x06\x00\x051/i/1\x01\x03\x01.',
  "H\x8bH\xe7\x01\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00\x01\x12\x00\x00L\x00\x01\xd4R5\x0c\x02X\xc8\xc3'\x01F4\xeb\xaf\xcfn\x01c\x01\x01Ad\x01\xa3\x00\x00\x00\x00\x00\x00\xe0?\xa6\x02Ah",
  'g\xab\xf3h\x01\x00\x01\x00\x01\x00c\x0d\x00\x00\x02\x01',
  '\x0c_\xf5\xb4\x01\x00\x01\x00\x09\x008d\x00\x00\x00\x00\x00\x00\x01\x15\x00\x00\x00',
]

const store: Pick<PageStore, 'read' | 'readPages' | 'close'> = {
  read: () => ({
    meta: { generation: 2 as Generation, sequence: 1 as CommitSequence, bytes: asArray(RECORDS[0]!) },
    log: [],
    keyring: undefined,
    logSeal: undefined,
  }),
  readPages: async (ids) => ids.map((id) => asArray(RECORDS[id]!)),
  close: () => {},
}

/** Nothing else is asked of it. */
const storage = {
  scope: 'process',
  identify: (name: string) => name,
  open: async () => store,
} as unknown as DatabaseStorage

type Collections = Readonly<Record<'a', { readonly indexes: readonly 'b'[] }>>

/** As `open`. */
type Open = (storage: DatabaseStorage, name: string, options: { collections: Collections }) => Promise<Database>

/** The delay before a rehearsal: the request to open the real database needs this thread once more. */
const DELAY_MS = 1

/** Whether a rehearsal is wanted. Elsewhere opening takes less time than this. */
let isWanted = isChromium

/** Once in a page. Nobody waits for it, and what fails here fails again where somebody does. */
export function rehearseOnce(environment: Environment, open: Open): void {
  if (!isWanted) return
  isWanted = false
  environment.after(DELAY_MS, () => void rehearse(open).catch(() => {}))
}

/** Rehearses an open, and gives what was read. */
export async function rehearse(open: Open): Promise<unknown[]> {
  const database = await open(storage, 'rehearsal', { collections: { a: { indexes: ['b'] } } })
  const found = await database
    .collection('a')
    .find({ b: { $gte: 'd' } })
    .sort('b')
    .limit(1)
    .toArray()
  await database.close()
  return found
}
