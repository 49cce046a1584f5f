/** A Pannier server in a process of its own (processes.ts): `pannier-process.ts DIR PORT`. */
import { startServer } from '../test/test-server.ts'
import { serve } from './process-entry.ts'

const [dir = '', port = '0'] = process.argv.slice(2)

serve(async () => {
  const running = await startServer({ dir, port: Number(port) })
  return { url: running.url, close: () => running.close() }
})
