/** Awaits one promise of a table, and only a thread keeps its process. Prints what the promise gave. `node lonely-program.ts NAME` */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemEnvironment } from 'pannier/internal'
import { migrateDown, migrateUp } from '../../server/src/migrations/migrations.ts'
import { Sandbox } from '../../server/src/sandbox/sandbox.ts'
import { writeMigrations } from './folder.ts'

const environment = systemEnvironment()

/** The names of the migrations that were applied, and reverted. */
async function migrations(): Promise<unknown> {
  const pocketbase = mkdtempSync(join(tmpdir(), 'lonely-'))
  try {
    writeMigrations(pocketbase, {
      '1_hives.js': `migrate(
        (app) => app.save(new Collection({ type: 'base', name: 'hives', fields: [{ type: 'text', name: 'name' }] })),
        (app) => app.delete(app.findCollectionByNameOrId('hives')),
      )`,
    })
    const file = { path: join(pocketbase, 'pannier.sqlite'), folder: undefined, pocketbase, environment }
    return [await migrateUp(file), await migrateDown(file, 1)]
  } finally {
    rmSync(pocketbase, { recursive: true, force: true })
  }
}

const AWAITED: Readonly<Record<string, () => Promise<unknown>>> = {
  migrations,
  'a function of a design document': () => {
    const map = 'function (doc) { emit(doc.a, 1) }'
    return new Sandbox({ environment }).program({ functions: { map }, modules: {} }).call('map', 'map', [[{ a: 5 }]])
  },
}

console.log(JSON.stringify(await AWAITED[process.argv[2]!]!()))
