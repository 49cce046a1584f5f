/**
 * The contract of an app before a person sees something: it opens its database and asks for the first rows of a list. Each app is written
 * as its library's documentation advises, and imports nothing that an app of this kind would not have.
 */
import type { Answer } from '../../contenders/contender.ts'
import type { Person } from '../../documents.ts'

export const ROWS = 20
/** The list begins here: in the middle of what `created` may be. */
export const CREATED_FROM = '2022-04-14T15:06:40.000Z'

export interface App {
  /** In Node the path of a file, in a browser a name. */
  open(place: string): Promise<void>
  /** The first `ROWS` of those created from `CREATED_FROM` on, in that order, by an index. */
  firstRows(): Answer<readonly Person[]>
  /** Gets one person by id, where it is measured: Node. */
  get?(id: string): Answer<Person | undefined>
  /** Stores them, and sees to the index. */
  fill(people: readonly Person[]): Answer<void>
  close(): Answer<void>
  /** Where there is a log: empties it, then changes these people one after another. */
  fillLog?(ids: readonly string[], change: (person: Person, turn: number) => Person): Promise<void>
}
