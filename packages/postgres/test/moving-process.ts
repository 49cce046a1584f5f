/** A process that moves a database to and fro until it is killed: `node moving-process.ts NAME URL URL`. Says when it begins. */
import { writeSync } from 'node:fs'
import { postgres } from '../src/index.ts'

const [name, ...urls] = process.argv.slice(2)
const storage = postgres(urls)
const place = await storage.placeOf(name!)
writeSync(1, 'ready\n')
for (let n = urls[0]!.endsWith(place!) ? 1 : 0; ; n = 1 - n) await storage.move(name!, urls[n]!)
