/**
 * Goal: a move that fails, is aborted or is cut off anywhere leaves the database whole at one end at least, with everything that was
 * acknowledged, and nothing in the way: the next move of what is left succeeds.
 * Method: every call of either end in turn meets a fault, or an abort; then both ends are looked at, by another process.
 * Every few calls fail; with more EFFORT more of them.
 */
import { describe, expect, test } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { open } from '../../src/database/lifecycle/open.ts'
import { holdsDatabase } from '../../src/kv/restore-snapshot.ts'
import { isPannierError } from '../../src/base/errors.ts'
import type { PageStore, DatabaseStorage } from '../../src/storage/page-store.ts'
import type { SimulatedPlace } from '../../testing/crash-host.ts'
import { RawFileStorage } from '../../testing/raw-file-storage.ts'
import { SimulatedStorage, type Fault } from '../../testing/simulated-page-store.ts'
import { virtualEnvironment } from '../../testing/virtual-environment.ts'
import { deviceKey } from '../storage/encrypted/fixture.ts'
import { EVERYWHERE, firstOf, strideOf } from '../../../../tools/test/seeds.ts'

type Place = DatabaseStorage & SimulatedPlace

const NAME = 'notes'
const FAULTS: Readonly<Record<string, Fault>> = {
  'an error of what has not happened': { kind: 'error', code: 'PANNIER_IO_FAILED', happens: false },
  'an error of what has happened': { kind: 'error', code: 'PANNIER_IO_FAILED', happens: true },
  'the end of the process before': { kind: 'gone', happens: false },
  'the end of the process after': { kind: 'gone', happens: true },
}
const STRIDE = strideOf(47)

/** What the code of one process sees of a place: nothing more once it has gone. */
class Process {
  isAlive = true
  calls = 0
  onCall: () => void = () => {}
  private readonly number = ++processes

  sees(place: DatabaseStorage): DatabaseStorage {
    const { kind, scope } = place
    return {
      kind,
      scope,
      // Locks are those of living processes.
      identify: (name) => `${this.number} ${place.identify(name)}`,
      has: (name) => this.ask(() => place.has(name)),
      open: (name) => this.ask(async () => this.guarded(await place.open(name))),
      destroy: (name) => this.ask(() => place.destroy(name)),
    }
  }

  private ask<T>(work: () => T): T | Promise<never> {
    this.calls++
    this.onCall()
    return this.isAlive ? work() : new Promise<never>(() => {})
  }

  private guarded(store: PageStore): PageStore {
    return new Proxy(store, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as ((...parameters: unknown[]) => unknown) | undefined
        if (method === undefined) return undefined
        return (...parameters: unknown[]) => this.ask(() => method.apply(target, parameters))
      },
    })
  }
}

let processes = 0

interface Scene {
  readonly source: Place
  readonly target: Place
  readonly isEncrypted: boolean
}

function openIn(storage: DatabaseStorage, { isEncrypted }: Scene): Promise<Database> {
  return open(NAME, {
    storage,
    environment: virtualEnvironment(),
    ...(isEncrypted && { encryption: { key: deviceKey } }),
  })
}

/** A move; before it `prepare` says what goes wrong. Gives how it ended, and what was acknowledged. */
async function move(
  scene: Scene,
  prepare: (process: Process, abort: AbortController) => void,
): Promise<{ readonly outcome: unknown; readonly ids: readonly string[] }> {
  const { source, target, isEncrypted } = scene
  const life = new Process()
  const gone = new Promise<'gone'>((resolve) => {
    for (const place of [source, target]) {
      place.onGone = () => {
        life.isAlive = false
        resolve('gone')
      }
    }
  })
  const db = await openIn(life.sees(source), scene)
  const notes = db.collection('notes')
  const ids = Array.from({ length: 60 }, (_, n) => `n${n}`)
  // More than is staged at a time, and something in the log.
  await notes.insert(ids.slice(1).map((_id) => ({ _id, text: 'x'.repeat(20_000) })))
  await notes.insert({ _id: ids[0]!, text: '' })
  const abort = new AbortController()
  prepare(life, abort)
  const meanwhile = notes.insert({ _id: 'meanwhile' }).then(
    () => ids.push('meanwhile'),
    () => {},
  )
  const options = { signal: abort.signal, ...(isEncrypted && { encryption: { key: deviceKey } }) }
  const moved = db.moveTo(life.sees(target), options).then(() => 'moved')
  const outcome = await Promise.race([moved.catch((error: unknown) => error), gone])
  await Promise.race([meanwhile, gone])
  for (const place of [source, target]) place.disarm()
  if (life.isAlive) await db.close()
  life.isAlive = false
  return { outcome, ids }
}

async function isThere(place: DatabaseStorage): Promise<boolean> {
  const store = await place.open(NAME)
  const found = await holdsDatabase(store)
  await store.close()
  return found
}

async function checkContent(db: Database, ids: readonly string[]): Promise<void> {
  const found = (await db.collection('notes').list().toArray()).map(({ id }) => id)
  // What was never answered may have happened.
  expect(found.filter((id) => id !== 'meanwhile' || ids.includes(id)).sort()).toEqual([...ids].sort())
  expect((await db.check()).problems).toEqual([])
}

/** Whoever comes next finds the database, and can move it. */
async function look(scene: Scene, outcome: unknown, ids: readonly string[]): Promise<void> {
  const { source, target } = scene
  const [atSource, atTarget] = [await isThere(source), await isThere(target)]
  if (outcome === 'moved') expect([atSource, atTarget]).toEqual([false, true])
  else if (outcome !== 'gone') expect(isPannierError(outcome), String(outcome)).toBe(true)
  expect(atSource || atTarget).toBe(true)
  const next = new Process()
  if (atTarget) {
    const copy = await openIn(next.sees(target), scene)
    await checkContent(copy, ids)
    await copy.close()
  }
  if (!atSource) return
  const db = await openIn(next.sees(source), scene)
  await checkContent(db, ids)
  await db.moveTo(next.sees(target), { ...(scene.isEncrypted && { encryption: { key: deviceKey } }) })
  expect(await isThere(source)).toBe(false)
  const moved = await openIn(next.sees(target), scene)
  await checkContent(moved, ids)
  await moved.close()
}

/** A move asks for nothing of its ends but their contract. */
const ENDS: Readonly<Record<string, readonly [() => Place, () => Place]>> = {
  'page stores': [() => new SimulatedStorage(), () => new SimulatedStorage()],
  ...(EVERYWHERE && {
    'raw files to a page store': [() => new RawFileStorage(), () => new SimulatedStorage()],
    'a page store to raw files': [() => new SimulatedStorage(), () => new RawFileStorage()],
  }),
}

describe.each(Object.entries(ENDS))('%s', (_, [makeSource, makeTarget]) => {
  describe.each([false, true])('encrypted: %s', (isEncrypted) => {
    const newScene = (): Scene => ({ source: makeSource(), target: makeTarget(), isEncrypted })

    test.each(Object.entries(FAULTS))('%s', { timeout: 600_000 }, async (what, fault) => {
      for (const end of ['source', 'target'] as const) {
        for (let call = firstOf(Object.keys(FAULTS).indexOf(what), STRIDE); ; call += STRIDE) {
          const scene = newScene()
          const place = scene[end]
          let last = 0
          const { outcome, ids } = await move(scene, () => place.failAt((last = place.calls + call), fault))
          const isReached = place.calls >= last
          await look(scene, outcome, ids)
          if (!isReached) break
        }
      }
    })

    test('an abort', { timeout: 600_000 }, async () => {
      for (let call = firstOf(0, STRIDE); ; call += STRIDE) {
        const scene = newScene()
        let isReached = false
        const { outcome, ids } = await move(scene, (life, abort) => {
          const last = life.calls + call
          life.onCall = () => {
            if (life.calls < last || isReached) return
            isReached = true
            abort.abort()
          }
        })
        if (outcome !== 'moved') {
          expect(outcome).toMatchObject({ code: 'PANNIER_ABORTED' })
          expect(await isThere(scene.target)).toBe(false)
        }
        await look(scene, outcome, ids)
        if (!isReached) break
      }
    })
  })
})
