/**
 * Writes golden/answers.json: what the real PocketBase answers to the cases. Run it after the cases have changed:
 *
 *     npm run node -- packages/rules/test/record.ts
 *
 * It needs Go, or a program that POCKETBASE names.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPocketBase, VERSION } from '../../../tools/test/pocketbase.ts'
import { CASES, lineOf } from './cases.ts'
import { PocketBase } from './pocketbase.ts'

const binary = findPocketBase()
if (binary === undefined) throw new Error(`record: Go must be installed, so that PocketBase ${VERSION} can be built.`)
await using peer = await PocketBase.start(binary)
const answers: (readonly [line: string, answer: string])[] = []
for (const each of CASES) answers.push([lineOf(each), await peer.answer(each)])
const lines = answers.map((answer) => `    ${JSON.stringify(answer)}`).join(',\n')
const text = `{\n  "pocketbase": "${VERSION}",\n  "answers": [\n${lines}\n  ]\n}\n`
writeFileSync(join(import.meta.dirname, 'golden/answers.json'), text)
console.log(`${answers.length} answers of PocketBase ${VERSION}`)
