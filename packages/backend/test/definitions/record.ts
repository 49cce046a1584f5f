/**
 * Writes golden/answers.json: what the real PocketBase answers to the cases. Run it after the cases have changed:
 *
 *     npm run node -- packages/backend/test/definitions/record.ts
 *
 * It needs Go, or a program that POCKETBASE names.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPocketBase, VERSION } from '../../../../tools/test/pocketbase.ts'
import { askAll } from './ask.ts'

const binary = findPocketBase()
if (binary === undefined) throw new Error(`record: Go must be installed, so that PocketBase ${VERSION} can be built.`)
const answers = await askAll(binary)
const groups = Object.entries(answers).map(([group, replies]) => {
  const lines = replies.map((reply) => `    ${JSON.stringify(reply)}`)
  return `  ${JSON.stringify(group)}: [\n${lines.join(',\n')}\n  ]`
})
writeFileSync(join(import.meta.dirname, 'golden/answers.json'), `{\n${groups.join(',\n')}\n}\n`)
console.log(`${Object.values(answers).flat().length} answers of PocketBase ${VERSION}`)
