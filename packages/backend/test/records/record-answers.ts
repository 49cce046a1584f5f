/** Asks a real PocketBase that is empty: `npm run node -- packages/backend/test/records/record-answers.ts http://127.0.0.1:8090` */
import { writeFileSync } from 'node:fs'
import { askPocketBase } from './ask-pocketbase.ts'

const [, , base] = process.argv
if (base === undefined) throw new Error('Name the address of a PocketBase that has nothing but a superuser.')
const answers = await askPocketBase(base)
writeFileSync(
  new URL('write-answers.json', import.meta.url),
  `[\n${answers.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`,
)
