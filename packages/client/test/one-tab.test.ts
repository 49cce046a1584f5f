/** Goal: one tab works at a time, the others are shown its state, and the next one continues. Frozen tabs are tested in browsers. */
import { afterEach, expect, test, vi } from 'vitest'
import { virtualEnvironment } from '../../db/testing/virtual-environment.ts'
import { inOneTab } from '../src/one-tab.ts'

const environment = virtualEnvironment()

/** What a tab does, in its order. */
interface Tab {
  readonly events: string[]
  readonly end: AbortController
  readonly tell: () => void
}

function openTab(name: string, state: string): Tab {
  const end = new AbortController()
  const events: string[] = []
  const tell = inOneTab({
    environment,
    name,
    signal: end.signal,
    work: async (signal) => {
      events.push('works')
      signal.addEventListener('abort', () => events.push('stops'))
    },
    tell: () => state,
    onTold: (told) => events.push(`sees ${String(told)}`),
  })
  return { events, end, tell }
}

afterEach(() => vi.unstubAllGlobals())

test('one of two tabs works, the other sees its state, and works when the first one ends', async () => {
  const first = openTab('two tabs', 'a')
  await environment.until(() => first.events.length > 0)
  const second = openTab('two tabs', 'b')
  await environment.until(() => second.events.length > 0)
  first.tell()
  await environment.until(() => second.events.length > 1)
  expect(first.events).toEqual(['works'])
  expect(new Set(second.events)).toEqual(new Set(['sees a']))
  first.end.abort()
  await environment.until(() => second.events.includes('works'))
  second.end.abort()
  expect(first.events).toEqual(['works', 'stops'])
  expect(second.events.slice(-2)).toEqual(['works', 'stops'])
})

test('each tab works where there are no locks', () => {
  vi.stubGlobal('navigator', {})
  const tabs = [openTab('no locks', 'a'), openTab('no locks', 'b')]
  expect(tabs.map(({ events }) => events)).toEqual([['works'], ['works']])
})
