/** A page with the products that people move from. It runs the code of the guide that moves them, and makes what is moved. */
import * as dexie from 'dexie'
import * as pannier from 'pannier'
import PouchDB from 'pouchdb'
import * as rxdb from 'rxdb'
import * as storage from 'rxdb/plugins/storage-dexie'

const MODULES = { dexie, pannier, pouchdb: { PouchDB }, rxdb, 'rxdb/plugins/storage-dexie': storage }

declare global {
  var recipes: typeof recipesTab
}

const recipesTab = {
  /** Runs the body of a module whose imports are read from `modules`. What it returns comes back; of an error, its message. */
  async run(code: string): Promise<unknown> {
    // oxlint-disable-next-line no-implied-eval -- it is the code of a page of the guide
    const body = new Function('modules', `return (async () => { ${code} })()`) as (modules: object) => Promise<unknown>
    try {
      return await body(MODULES)
    } catch (error) {
      return `${error as Error}`
    }
  },
}
globalThis.recipes = recipesTab
