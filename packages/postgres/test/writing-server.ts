/** A server that reads and writes until its input ends: `node writing-server.ts URL NAME`. A line for each note of its history. */
import { writeSync } from 'node:fs'
import { History } from '../../../tools/test/history.ts'
import { open } from '../../db/src/index.ts'
import { postgres } from '../src/index.ts'
import { ListServer } from './lists.ts'

const [url, name] = process.argv.slice(2)
let isOver = false
process.stdin.resume().once('end', () => (isOver = true))
const db = await open(name!, { storage: postgres(url!), durability: 'strict' })
const history = new History((note) => writeSync(1, `${JSON.stringify(note)}\n`))
await new ListServer(db, `w${process.pid}`, history).work(() => isOver)
await db.close()
writeSync(1, 'closed\n')
