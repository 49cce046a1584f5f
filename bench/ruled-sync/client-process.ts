/**
 * The first sync of the real client, in a process of its own: into a database file, from nothing or from what a process before it has
 * left. Parameters: the URL, a folder, and after how many rows it is killed; 0: never. It prints a line of JSON.
 */
import { mkdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from '@pannier/client'
import { ANNA, ANNAS_PASSWORD, emailOf } from './world.ts'

const [url, folder, rowsMax] = process.argv.slice(2) as [string, string, string]
mkdirSync(folder, { recursive: true })
const client = await connect(url, {
  collections: { tasks: { indexes: ['project'] } },
  name: join(folder, 'anna'),
  live: false,
})
if (client.account === undefined) await client.signIn.password('users', emailOf(ANNA), ANNAS_PASSWORD)
const kept = await client.collection('tasks').find({}).count()
let firstMs = 0
const started = performance.now()
client.subscribeState(({ received }) => {
  if (firstMs === 0 && received > 0) firstMs = performance.now() - started
  if (Number(rowsMax) > 0 && received >= Number(rowsMax)) process.kill(process.pid, 'SIGKILL')
})
const before = process.cpuUsage()
await client.sync()
const allMs = performance.now() - started
const { user, system } = process.cpuUsage(before)
const { received } = client.state
const records = await client.collection('tasks').find({}).count()
writeSync(1, `\n${JSON.stringify({ kept, received, records, firstMs, allMs, processorMs: (user + system) / 1000 })}\n`)
process.exit()
