/**
 * Writes golden/answers.json: what the real PocketBase answers to the requests. Run it after they have changed:
 *
 *     npm run node -- packages/backend/test/records/read/parity/record.ts
 *
 * It needs Go, or a program that POCKETBASE names.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPocketBase, VERSION } from '../../../../../../tools/test/pocketbase.ts'
import { PocketBase } from '../../../../../rules/test/pocketbase.ts'
import { REQUESTS } from './requests.ts'
import { WORLD } from './world.ts'

const binary = findPocketBase()
if (binary === undefined) throw new Error(`record: Go must be installed, so that PocketBase ${VERSION} can be built.`)
await using peer = await PocketBase.start(binary, WORLD)
const lines: string[] = []
for (const { path, as } of REQUESTS) {
  const { status, body } = await peer.get(`/api/collections/${path}`, as)
  lines.push(`    ${JSON.stringify([as, path, status, body])}`)
}
const text = `{\n  "pocketbase": "${VERSION}",\n  "answers": [\n${lines.join(',\n')}\n  ]\n}\n`
writeFileSync(join(import.meta.dirname, 'golden/answers.json'), text)
console.log(`${lines.length} answers of PocketBase ${VERSION}`)
