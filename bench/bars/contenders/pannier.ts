/** Pannier: the lab's contender, with the bars' further operations. */
import type { IndexInput, DatabaseStorage } from 'pannier'
import type { FieldPath } from 'pannier/types'
import type { CityScore, Contender } from './contender.ts'
import { PannierContender } from '../../contenders/pannier.ts'
import type { Person } from '../../documents.ts'

/** The indexes after the index on city was widened. */
const INDEXES: readonly IndexInput<FieldPath<Person>>[] = ['age', ['city', 'score']]

export function pannierContender(storage?: DatabaseStorage): Contender {
  return new BarsPannierContender(storage === undefined ? {} : { storage }, INDEXES)
}

/** With a device key, so that opening does not derive a key from a password. */
export async function encryptedPannierContender(): Promise<Contender> {
  // The same in each phase.
  const secret = new Uint8Array(32).fill(7)
  const key = await crypto.subtle.importKey('raw', secret, 'AES-GCM', false, ['encrypt', 'decrypt'])
  return new BarsPannierContender({ encryption: { key } }, INDEXES)
}

class BarsPannierContender extends PannierContender implements Contender {
  override async buildIndexes(): Promise<void> {
    await this.declare(['age', 'city'])
  }

  async widenIndex(): Promise<void> {
    await this.people.dropIndex('city')
    await this.declare(INDEXES)
  }

  emptyLog(): Promise<void> {
    return this.database.flush()
  }

  async rewrite(id: string, change: (person: Person) => Person): Promise<void> {
    await this.people.update(id, change)
  }

  countCity(city: string): Promise<number> {
    return this.people.find({ city }).count()
  }

  async provenCount(
    query: { readonly age: readonly [gte: number, lt: number] } | { readonly city: string },
  ): Promise<number | undefined> {
    const selector = 'city' in query ? query : { age: { $gte: query.age[0], $lt: query.age[1] } }
    const { rows, rowsExact } = await this.people.find(selector).explain()
    return rowsExact ? rows : undefined
  }

  findScoresByCity(city: string): Promise<readonly CityScore[]> {
    return this.people.find({ city }).fields('city', 'score').toArray()
  }

  pageByAge(skip: number, limit: number): Promise<readonly Person[]> {
    return this.people.find().sort('age').skip(skip).limit(limit).toArray()
  }
}
