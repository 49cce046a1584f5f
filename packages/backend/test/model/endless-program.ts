/** A server that runs statements which never end. */
import { open } from 'pannier'
import { memory } from 'pannier/memory'
import { openBackend, SYSTEM } from '../../src/index.ts'

const database = await open('app', { storage: memory() })
const backend = await openBackend(database, { readModel: 'file' })
await backend.definitions.create(SYSTEM, { name: 'posts', fields: [{ name: 'n', type: 'number' }] })
await backend.sql.run(SYSTEM, 'SELECT count(*) FROM posts')
void backend.sql.run(SYSTEM, 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n')
// The statement has begun by then.
setTimeout(() => process.stdout.write('runs\n'), 2000)
