/** Random records of the world's collections, and rules of few paths, so that comparisons often speak of the same rows. */
import fc from 'fast-check'
import type { RuleRecord } from '../src/index.ts'
import type { World } from './answer.ts'

const SOME = ['a', 'b', 'ab', '']
const idsOf = (collection: string): string[] => [0, 1, 2].map((index) => `${collection}${index}`)
const text = fc.constantFrom(...SOME)
const one = (collection: string): fc.Arbitrary<string> => fc.constantFrom('', 'gone', ...idsOf(collection))
const many = (collection: string): fc.Arbitrary<string[]> =>
  fc.uniqueArray(fc.constantFrom('gone', ...idsOf(collection)), { maxLength: 3 })
const table = (collection: string, fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<RuleRecord[]> =>
  fc.tuple(...idsOf(collection).map((id) => fc.record({ id: fc.constant(id), ...fields })))

export const world: fc.Arbitrary<World> = fc.record({
  orgs: table('orgs', { name: text }),
  perms: table('perms', { name: text }),
  users: table('users', { name: text, nick: text, org: one('orgs'), perms: many('perms') }),
  posts: table('posts', { title: text, author: one('users'), reviewers: many('users') }),
  likes: table('likes', { post: one('posts'), by: one('users') }),
})

const PATHS = [
  'title',
  'author',
  'author.name',
  'author.org.name',
  'author.perms.name',
  'author.perms:each',
  'reviewers:each',
  'reviewers.name',
  'reviewers.nick',
  'reviewers.perms.name',
  'reviewers.org.name',
  'likes_via_post.by',
  'likes_via_post.by.name',
  '@collection.perms.name',
  '@collection.perms:other.name',
]
/** Few paths in one rule, so that its comparisons often speak of the same rows. */
export const rule: fc.Arbitrary<string> = fc.shuffledSubarray(PATHS, { minLength: 1, maxLength: 3 }).chain((paths) => {
  const path = fc.constantFrom(...paths)
  const value = fc.oneof({ weight: 3, arbitrary: text.map((word) => `'${word}'`) }, path)
  const comparison = fc
    .tuple(path, fc.constantFrom('?=', '?=', '?!=', '=', '!='), value)
    .map((parts) => parts.join(' '))
  const search = fc.constantFrom(
    "search('a')",
    "search('b') = false",
    "search('ab') != true",
    "search('a b') ?!= false",
    "search('a') = search('b')",
    "search('a') ~ '1'",
  )
  const { made } = fc.letrec<{ readonly made: string }>((tie) => ({
    made: fc.oneof(
      { depthSize: 'small' },
      { weight: 5, arbitrary: comparison },
      search,
      fc
        .tuple(tie('made'), fc.constantFrom('&&', '&&', '||'), tie('made'))
        .map(([left, join, right]) => `(${left}) ${join} (${right})`),
    ),
  }))
  return made
})
