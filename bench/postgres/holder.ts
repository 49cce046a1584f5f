/** A server that has the turn and does nothing more: `node holder.ts URL NAME`. */
import { writeSync } from 'node:fs'
import { open } from 'pannier'
import { postgres } from '@pannier/postgres'

const [url, name] = process.argv.slice(2)
const db = await open(name!, { storage: postgres(url!), durability: 'strict' })
await db.collection('people').insert({ _id: 'held' })
writeSync(1, 'held\n')
setInterval(() => {}, 1000)
