/** Fills the database of an app, or its log, as the query string asks, and installs the app's service worker. */
import type { App } from '../apps/app.ts'
import { fill, fillLog } from '../filling.ts'
import { DATABASE, post } from './protocol.ts'

const APPS: Readonly<Record<string, () => Promise<{ readonly app: App }>>> = {
  pannier: () => import('../apps/pannier.ts'),
  'pannier-encrypted': () => import('../apps/pannier-encrypted.ts'),
  'pannier-opfs': () => import('../apps/pannier-opfs.ts'),
  'pannier-opfs-encrypted': () => import('../apps/pannier-opfs-encrypted.ts'),
  'indexed-db': () => import('../apps/indexed-db.ts'),
  dexie: () => import('../apps/dexie.ts'),
  rxdb: () => import('../apps/rxdb.ts'),
  'pouchdb-indexeddb': () => import('../apps/pouchdb-indexeddb.ts'),
  'sqlite-wasm': () => import('../apps/sqlite-wasm.ts'),
}

const asked = new URLSearchParams(location.search)
const set = { documents: Number(asked.get('documents')), seed: Number(asked.get('seed')), ids: 'random' } as const

try {
  const name = asked.get('app')!
  const { app } = await APPS[name]!()
  if (asked.get('log') === 'full') {
    await fillLog(app, DATABASE, set)
  } else {
    await fill(app, DATABASE, set)
    await installServiceWorker(name)
  }
  await post({ filled: true })
} catch (error) {
  await post({ error: String(error) })
}

async function installServiceWorker(name: string): Promise<void> {
  const { installing } = await navigator.serviceWorker.register(`/service-worker/${name}/service-worker.js`)
  if (installing === null) return
  await new Promise<void>((resolve, reject) => {
    installing.addEventListener('statechange', () => {
      if (installing.state === 'activated') resolve()
      if (installing.state === 'redundant') reject(new Error('the service worker was not installed'))
    })
  })
}
