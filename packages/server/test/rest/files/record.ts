/**
 * Writes golden/files.json: what the real PocketBase answers to the cases. Run it after the cases have changed:
 *
 *     npm run node -- packages/server/test/rest/files/record.ts
 *
 * It needs Go, or a program that POCKETBASE names.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPocketBase, PocketBaseServer, VERSION } from '../../../../../tools/test/pocketbase.ts'
import { askAll } from './ask.ts'
import { fileCases } from './cases.ts'

const binary = findPocketBase()
if (binary === undefined) throw new Error(`record: Go must be installed, so that PocketBase ${VERSION} can be built.`)
await using peer = await PocketBaseServer.start(binary)
const answers = await askAll(peer.url, peer.token, await fileCases())
const lines = answers.map((answer) => `    ${JSON.stringify(answer)}`).join(',\n')
const text = `{\n  "pocketbase": "${VERSION}",\n  "answers": [\n${lines}\n  ]\n}\n`
mkdirSync(join(import.meta.dirname, 'golden'), { recursive: true })
writeFileSync(join(import.meta.dirname, 'golden/files.json'), text)
console.log(`${answers.length} answers of PocketBase ${VERSION}`)
