/**
 * Writes golden/fields.json: what the real PocketBase answers to the cases. Run it after the cases have changed:
 *
 *     npm run node -- packages/backend/test/pocketbase/record.ts
 *
 * It needs Go, or a program that POCKETBASE names.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPocketBase, PocketBaseServer, VERSION } from '../../../../tools/test/pocketbase.ts'
import { askAll } from './ask.ts'

const binary = findPocketBase()
if (binary === undefined) throw new Error(`record: Go must be installed, so that PocketBase ${VERSION} can be built.`)
await using peer = await PocketBaseServer.start(binary)
const answers = await askAll(peer)
const lines = answers.map((answer) => `    ${JSON.stringify(answer)}`).join(',\n')
const text = `{\n  "pocketbase": "${VERSION}",\n  "answers": [\n${lines}\n  ]\n}\n`
writeFileSync(join(import.meta.dirname, 'golden/fields.json'), text)
console.log(`${answers.length} answers of PocketBase ${VERSION}`)
