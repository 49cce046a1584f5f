/** A process that writes, says so, and closes its database when it is told to. Its URL and `waitMsMax` are the parameters. */
import { open } from 'pannier'
import { postgres } from '../src/index.ts'

const [, , url, waitMsMax] = process.argv
const db = await open('shop', { storage: postgres(url!, { waitMsMax: Number(waitMsMax) }) })
await db.collection('items').insert({ _id: 'one' })
process.once('message', () => {
  void db
    .close()
    .catch(() => {})
    .then(() => {
      process.send!('closed', () => process.disconnect!())
    })
})
process.send!('written')
