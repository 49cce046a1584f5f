/**
 * The blog whose relations are queried: 100 organizations, 50 permissions, 500 users and any number of posts. It comes
 * from a seed, so every process and page has the same one.
 */
import { seededRandom } from '../documents.ts'

export interface Organization {
  readonly _id: string
  readonly name: string
}

export interface Permission {
  readonly _id: string
  readonly name: string
  readonly active: boolean
}

export interface User {
  readonly _id: string
  readonly name: string
  readonly email: string
  readonly organization?: string
  readonly permissions: readonly string[]
}

export interface Post {
  readonly _id: string
  readonly title: string
  readonly text: string
  readonly public: boolean
  readonly type: readonly string[]
  readonly author?: string
}

export interface Blog {
  readonly organizations: readonly Organization[]
  readonly permissions: readonly Permission[]
  readonly users: readonly User[]
  readonly posts: readonly Post[]
}

export type CollectionName = keyof Blog

export interface BlogSize {
  readonly posts: number
  readonly seed: number
}

const ORGANIZATIONS = 100
const PERMISSIONS = 50
export const USERS = 500
/** Some users share a name. */
const USER_NAMES = 490
const PERMISSIONS_OF_USER = 3
const TITLE_CHARS = 20
const TEXT_CHARS = 500
export const TYPES: readonly string[] = ['a', 'b', 'c', 'd', 'e']
const WORDS =
  'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna aliqua'.split(
    ' ',
  )

/** 2 % of the users have no organization, 2.5 % no permissions, 0.5 % of the posts no author. */
export function makeBlog({ posts, seed }: BlogSize): Blog {
  const random = seededRandom(seed, 0)
  const below = (count: number): number => Math.floor(random() * count)
  const text = (chars: number): string => {
    let made = ''
    while (made.length < chars) made += `${WORDS[below(WORDS.length)]!} `
    return made.slice(0, chars).trim()
  }
  const organizations = Array.from({ length: ORGANIZATIONS }, (_, at) => ({ _id: makeId('o', at), name: `org ${at}` }))
  const permissions = Array.from({ length: PERMISSIONS }, (_, at) => ({
    _id: makeId('r', at),
    name: `perm ${at}`,
    active: at % 2 === 0,
  }))
  const users = Array.from({ length: USERS }, (_, at): User => {
    const chosen = new Set<string>()
    while (chosen.size < PERMISSIONS_OF_USER) chosen.add(permissions[below(PERMISSIONS)]!._id)
    return {
      _id: makeId('u', at),
      name: `user ${at % USER_NAMES}`,
      email: `user${at}@example.org`,
      ...(at % 50 !== 49 && { organization: organizations[below(ORGANIZATIONS)]!._id }),
      permissions: at % 40 === 39 ? [] : [...chosen],
    }
  })
  return {
    organizations,
    permissions,
    users,
    posts: Array.from({ length: posts }, (_, at): Post => ({
      _id: makeId('p', at),
      title: `title ${at} ${text(TITLE_CHARS)}`,
      text: text(TEXT_CHARS),
      public: at % 2 === 0,
      type: TYPES.filter((_, bit) => (at >> bit) & 1).slice(0, 3),
      ...(at % 200 !== 199 && { author: users[below(USERS)]!._id }),
    })),
  }
}

/** An id that has no order. */
function makeId(prefix: string, at: number): string {
  return prefix + String(Math.imul(at + 1, 2_654_435_761) >>> 0).padStart(10, '0')
}
