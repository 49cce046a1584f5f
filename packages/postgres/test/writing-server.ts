/** A process that adds to a counter until its input ends: `node writing-server.ts URL NAME`. Tells each acknowledged write by a line. */
import { writeSync } from 'node:fs'
import { open } from '../../db/src/index.ts'
import { postgres } from '../src/index.ts'

const [url, name] = process.argv.slice(2)
let isOver = false
process.stdin.resume().once('end', () => (isOver = true))
const db = await open(name!, { storage: postgres(url!), durability: 'strict' })
const items = db.collection<{ n: number }>('items')
writeSync(1, 'ready\n')
for (let i = 0; !isOver; i++) {
  const id = `${process.pid}-${i}`
  writeSync(1, `try ${id}\n`)
  await Promise.all([items.update('counter', (item) => ({ ...item, n: item.n + 1 })), items.insert({ _id: id, n: i })])
  writeSync(1, `done ${id}\n`)
}
await db.close()
writeSync(1, 'closed\n')
