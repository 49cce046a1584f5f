/** How databases come to hold what is measured, in a page and in Node. */
import { changePerson, makePeople, sampleIds } from '../documents.ts'
import type { DataSet } from '../documents.ts'
import type { App } from './apps/app.ts'

/** A little below Pannier's bounds of 1 MiB and 2,500 records, so that nothing empties the log. */
const LOG_TAIL = 2_250
const SALT = 5

export async function fill(app: App, place: string, set: DataSet): Promise<void> {
  await app.open(place)
  await app.fill(makePeople(set, 0, set.documents))
  await app.close()
}

/** By changes that no row shows. Leaves the database open: its process is killed. */
export async function fillLog(app: App, place: string, set: DataSet): Promise<void> {
  await app.open(place)
  await app.fillLog!(sampleIds(set, LOG_TAIL, SALT), changePerson)
}
