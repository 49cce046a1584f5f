/** A server, as one of several, of the cities: `node one-server.ts POSTGRES_URL`. Prints its port. */
import { createServer } from '@pannier/server'
import { postgres } from '@pannier/postgres'
import { LOOPBACK } from '../../tools/web/loopback.ts'
import { bundlePage } from './bundle.ts'
import { pagePlugin } from './page-plugin.ts'
import { DATABASE } from './servers.ts'

const [url = ''] = process.argv.slice(2)
const server = await createServer({
  storage: { storage: postgres(url), name: DATABASE },
  logger: false,
  http: { plugins: [pagePlugin(await bundlePage())] },
})
const listening = await server.listen({ host: LOOPBACK, port: 0 })
process.stdout.write(`${new URL(listening).port}\n`)
process.once('SIGTERM', () => void server.close().then(() => process.exit(0)))
