/** Accounts for visitors of the page: two of one team, one of another. */

export interface Visitor {
  readonly id: string
  readonly name: string
  readonly about: string
}

export const VISITORS: readonly [Visitor, ...Visitor[]] = [
  { id: personId(0, 0), name: 'Ann', about: 'leads team Atlas' },
  { id: personId(0, 1), name: 'Ben', about: 'is a member of team Atlas' },
  { id: personId(1, 2), name: 'Cleo', about: 'is a member of team Basalt' },
]

/** The password of all visitors: the data is made up, and the server answers this machine alone. */
export const PASSWORD = 'pannier-demo'

export function personId(team: number, person: number): string {
  return `person${team}x${person}`
}

/** The address by which a person logs in. */
export function addressOf(id: string): string {
  return `${id}@example.com`
}
