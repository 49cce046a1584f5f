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

export const route: Store<Route> = new Store(readRoute())

/** Whether what is typed is kept at a place. */
export type StaysAt = (path: readonly string[]) => boolean

/** A hold on typed text that would be lost by going elsewhere: the page asks first. */
interface Hold {
  readonly staysAt: StaysAt
  /** Resolves with whether the page may go. */
  readonly ask: () => Promise<boolean>
}

const holds = new Set<Hold>()
/** Entries of the tab's history are numbered by their states. Links make entries without one. */
let entry = (history.state as number | null) ?? 0
let shown = location.hash
let isAsking = false
let isAllowed = false
let isBack = (): void => {}

history.replaceState(entry, '')
addEventListener('popstate', () => {
  const { hash } = location
  const steps = hash === shown ? 0 : ((history.state as number | null) ?? entry + 1) - entry
  const hold = holdOf(readRoute().path)
  if (hold !== undefined && !isAllowed && hash !== shown) return void stay(hold, steps)
  isAllowed = false
  arrive(entry + steps)
  isBack()
})

function holdOf(path: readonly string[]): Hold | undefined {
  return [...holds].find(({ staysAt }) => !staysAt(path))
}

/** The browser is there already. It goes back, until the user lets it go. */
async function stay(hold: Hold, steps: number): Promise<void> {
  history.replaceState(entry + steps, '')
  const returned = new Promise<void>((resolve) => (isBack = resolve))
  history.go(-steps)
  if (isAsking) return
  isAsking = true
  await returned
  isAllowed = await hold.ask()
  isAsking = false
  if (isAllowed) history.go(steps)
}

function arrive(at: number): void {
  entry = at
  shown = location.hash
  history.replaceState(entry, '')
  route.set(readRoute())
}

/** Going back, forward, by links and by `askBefore` asks from now on; `goTo` does not. Returns what ends it. */
export function holdRoute(hold: Hold): () => void {
  holds.add(hold)
  return () => void holds.delete(hold)
}

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
  if (replaces) history.replaceState(entry, '', link)
  else history.pushState(++entry, '', link)
  arrive(entry)
}

/** For what a user presses in a form that may be unsaved: `go` leads elsewhere. */
export async function askBefore(go: () => void): Promise<void> {
  const [hold] = holds
  if (hold === undefined || (await hold.ask())) go()
}

/** Changes the query only; undefined removes a name. */
export function changeQuery(changes: Query, options?: { readonly replaces?: boolean }): void {
  const { path, query } = route.get()
  goTo(path, { ...query, ...changes }, options)
}
