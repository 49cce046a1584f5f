/**
 * Where in the page the user is: the part of the address behind `#`. `#/records/posts?filter=…` has the path
 * `['records', 'posts']` and the query `filter`.
 */
import { Store, useStore } from './store.ts'

interface Route {
  readonly path: readonly string[]
  readonly query: Readonly<Record<string, string>>
}

type Query = Readonly<Record<string, string | undefined>>

function readRoute(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2)
  const parts = path.split('/').filter((part) => part !== '')
  return { path: parts.map(decoded), query: Object.fromEntries(new URLSearchParams(query)) }
}

/** Links of mails and of people may be malformed. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

const route = new Store<Route>(readRoute())
addEventListener('hashchange', () => route.set(readRoute()))
addEventListener('popstate', () => route.set(readRoute()))

export function useRoute(): Route {
  return useStore(route)
}

/** For links: `<a href={linkTo(['records', name])}>`. */
export function linkTo(path: readonly string[], query: Query = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '')
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
  return `#/${path.map(encodeURIComponent).join('/')}${search}`
}

/** `replaces`: the place before can't be gone back to. */
export function goTo(
  path: readonly string[],
  query: Query = {},
  { replaces = false }: { readonly replaces?: boolean } = {},
): void {
  const link = linkTo(path, query)
  if (link === location.hash) return
  if (replaces) history.replaceState(null, '', link)
  else history.pushState(null, '', link)
  route.set(readRoute())
}

/** Changes the query only; undefined removes a name. */
export function changeQuery(changes: Query, options?: { readonly replaces?: boolean }): void {
  const { path, query } = route.get()
  goTo(path, { ...query, ...changes }, options)
}
