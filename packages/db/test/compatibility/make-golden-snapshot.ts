/**
 * Writes the golden snapshot of a format version: run once by hand when the format has changed, never again for the same
 * version (docs/internals/snapshot-format.md). From the root of the repository:
 *
 *     npm run node packages/db/test/compatibility/make-golden-snapshot.ts
 *
 * It is made of the golden database of format 1, so what it has to hold is written down already (golden/format-1.json).
 */
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from '../../src/index.ts'
import { SNAPSHOT_VERSION } from '../../src/pager/snapshot-file.ts'

const folder = join(import.meta.dirname, '../golden')
const path = join(folder, `snapshot-${SNAPSHOT_VERSION}.snapshot`)
if (existsSync(path)) throw new Error(`${path} exists: a golden snapshot is never made again.`)
const work = mkdtempSync(join(tmpdir(), 'pannier-golden-'))
const copy = join(work, 'copy.pannier')
copyFileSync(join(folder, 'format-1.pannier'), copy)
const db = await open(copy)
writeFileSync(
  path,
  new Uint8Array(await new Response(db.snapshot() as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer()),
)
await db.close()
rmSync(work, { recursive: true })
