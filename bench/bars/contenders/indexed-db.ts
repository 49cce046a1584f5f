/** Plain IndexedDB: the lab's contender, with the bars' further operations. */
import type { CityScore, Contender } from './contender.ts'
import { answer, IndexedDbContender, skipKeys } from '../../contenders/indexed-db.ts'
import type { Person } from '../../documents.ts'

export function indexedDbContender(): Contender {
  return new BarsIndexedDbContender('relaxed')
}

class BarsIndexedDbContender extends IndexedDbContender implements Contender {
  countCity(city: string): Promise<number> {
    return answer(this.store().index('city').count(city))
  }

  /** An index can't hand out its keys without a cursor, which is slower than reading the documents. */
  async findScoresByCity(city: string): Promise<readonly CityScore[]> {
    const people = await this.findByCity(city)
    return people.map((person) => ({ city: person.city, score: person.score }))
  }

  async pageByAge(skip: number, limit: number): Promise<readonly Person[]> {
    const store = this.store()
    const keys = await skipKeys(store.index('age'), skip, limit)
    return Promise.all(keys.map((key) => answer<Person>(store.get(key))))
  }
}
