/**
 * Writes the golden encrypted database of an encryption format, and a sealed snapshot of it: run once by hand when the format has
 * changed, never again for the same version (docs/internals/encryption.md). From the root of the repository:
 *
 *     npm run node packages/db/test/compatibility/make-golden-encrypted.ts
 *
 * It is opened by a password of either derivation and by a recovery key. A rotation of its key is under way: some pages are sealed with
 * the old one, and none of the log.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { open } from '../../src/index.ts'
import { ENCRYPTION_FORMAT } from '../../src/storage/encrypted/envelope.ts'
import { goldenNotes, PASSWORDS, type GoldenNote } from './golden-encrypted.ts'

const folder = join(import.meta.dirname, '../golden')
const path = join(folder, `encryption-${ENCRYPTION_FORMAT}.encrypted`)
if (existsSync(path)) throw new Error(`${path} exists: a golden database is never made again.`)

const [first, second] = PASSWORDS
const db = await open(path, { encryption: { password: first, derivation: 'pbkdf2' } })
const notes = db.collection<GoldenNote>('notes', { indexes: ['number'] })
await notes.insert(goldenNotes(0, 300))
await db.flush()
await db.encryption!.addPassword(second, { label: 'the second' })
const recoveryKey = await db.encryption!.makeRecoveryKey()
const snapshot = new Uint8Array(await new Response(db.snapshot()).arrayBuffer())
writeFileSync(join(folder, `encryption-${ENCRYPTION_FORMAT}.sealed`), snapshot)
const controller = new AbortController()
const { signal } = controller
await db.encryption!.rotateKey({ signal, onProgress: () => controller.abort() }).catch(() => {})
for (const note of goldenNotes(300, 20)) await notes.insert(note)
await db.close()
writeFileSync(join(folder, `encryption-${ENCRYPTION_FORMAT}.recovery-key`), `${recoveryKey}\n`)
