/** A small database for the tests of the panels. */
import { open, type Database } from 'pannier'
import { memory } from 'pannier/memory'
import { virtualEnvironment, type VirtualEnvironment } from '../../db/testing/virtual-environment.ts'

export const clock: VirtualEnvironment = virtualEnvironment()

let databases = 0

export async function openShop(people = 120): Promise<Database> {
  const db = await open(`devtools-${databases++}`, { storage: memory(), environment: clock })
  const cities = ['Oslo', 'Rome', 'Lima']
  await db.collection('people', { indexes: ['city', 'age'] }).insert(
    Array.from({ length: people }, (_, at) => ({
      _id: `p${String(at).padStart(5, '0')}`,
      name: `Person ${at}`,
      city: cities[at % 3],
      age: at % 90,
    })),
  )
  return db
}
