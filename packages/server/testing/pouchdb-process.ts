/** express-pouchdb in a process of its own (processes.ts): `pouchdb-process.ts [DIR]`; in memory without a folder. */
import { serve } from './process-entry.ts'
import { pouchServer } from './pouchdb-server.ts'

const [dir] = process.argv.slice(2)

serve(() => pouchServer(undefined, dir))
