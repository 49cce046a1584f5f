/**
 * Goal: a database that moves while servers write to it loses nothing, doubles nothing, and is always at one place. That holds if the
 * move dies at any step, is taken for dead and comes back, is cancelled, or is overtaken by another.
 * Method: writers of two servers add to a counter and insert a document in one commit each, throughout. At the end the counter is the
 * number of their documents, and each acknowledged document is there.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { open, type Database } from '../../db/src/index.ts'
import { spawnTracked, stop } from '../../../tools/processes.ts'
import { FIRST_SEED, timeoutOf, times } from '../../../tools/test/seeds.ts'
import { seededRandom } from '../../db/testing/random.ts'
import { postgres } from '../src/index.ts'
import { moveDatabase, type MoveStep } from '../src/move.ts'
import { onPostgres } from './on-postgres.ts'
import { copiesOf, moved, placesAt, several } from './on-several.ts'

interface Item {
  readonly n: number
}

const STEPS: readonly MoveStep[] = [
  'begun',
  'made',
  'copied',
  'stopping',
  'stopped',
  'complete',
  'switched',
  'opened',
  'done',
]

/** Long enough for a machine that runs much else: a database that nobody can write to stays so for ever. */
const GO_ON_MS_MAX = 120_000

/** Writers of a server each, and what was acknowledged. */
class Writers {
  readonly #all: Database[] = []
  readonly #running: Promise<void>[] = []
  readonly acknowledged: string[] = []
  #isOver = false

  static async start(urls: readonly string[], name: string, documents = 300): Promise<Writers> {
    const writers = new Writers()
    for (let n = 0; n < 2; n++)
      writers.#all.push(await open(name, { storage: postgres(urls, { pollMs: 200 }), durability: 'strict' }))
    const items = writers.#all[0]!.collection<Item>('items')
    await items.insert([
      { _id: 'counter', n: 0 },
      ...Array.from({ length: documents }, (_, n) => ({ _id: `first ${n}`, n, text: 'x'.repeat(500) })),
    ])
    for (const [n, db] of writers.#all.entries()) writers.#running.push(writers.#write(db, `w${n}`, documents))
    return writers
  }

  async #write(db: Database, name: string, first: number): Promise<void> {
    const items = db.collection<Item>('items')
    for (let n = first; !this.#isOver; n++) {
      const _id = `${name} ${n}`
      await Promise.all([items.update('counter', (item) => ({ ...item, n: item.n + 1 })), items.insert({ _id, n })])
      this.acknowledged.push(_id)
      await sleep(5)
    }
  }

  /** Both write on: nobody waits for what is dead. */
  async goOn(): Promise<void> {
    const before = new Map(['w0', 'w1'].map((name) => [name, this.#count(name)]))
    for (const [name, count] of before)
      await expect.poll(() => this.#count(name), { timeout: GO_ON_MS_MAX }).toBeGreaterThan(count + 2)
  }

  async end(urls: readonly string[], name: string, documents = 300): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#running)
    for (const db of this.#all) await db.close()
    await using db = await open(name, { storage: postgres(urls) })
    const items = db.collection<Item>('items')
    const ids = new Set((await items.find().fields('_id').toArray()).map(({ _id }) => _id))
    expect(this.acknowledged.filter((id) => !ids.has(id))).toEqual([])
    expect(ids.size).toBe(1 + documents + this.acknowledged.length)
    expect((await items.get('counter'))!.n).toBe(this.acknowledged.length)
    expect((await db.check()).problems).toEqual([])
  }

  #count(name: string): number {
    return this.acknowledged.filter((id) => id.startsWith(name)).length
  }
}

onPostgres((get) => {
  test('databases move there and back under writes', { timeout: timeoutOf(300_000) }, async () => {
    const urls = several(get(), 3)
    const writers = await Writers.start(urls, 'shop', 3000)
    const storage = postgres(urls)
    for (let round = 0; round < times(3); round++) {
      const now = (await storage.placeOf('shop'))!
      const to = urls.find((url, n) => !url.endsWith(now) && n !== (round + 1) % urls.length)!
      let progress: number[] = []
      await moved(() => {
        progress = []
        return storage.move('shop', to, { onProgress: (done) => progress.push(done) })
      })
      expect(to.endsWith((await storage.placeOf('shop'))!)).toBe(true)
      expect(copiesOf(get(), urls, 'shop')).toEqual([{ at: urls.indexOf(to), isOpen: true }])
      expect([progress.at(-1), [...progress].sort((a, b) => a - b)]).toEqual([1, progress])
      await writers.goOn()
    }
    await writers.end(urls, 'shop', 3000)
  })

  test(
    'a move that dies at any step leaves the database at one place, and nobody waits for it',
    { timeout: timeoutOf(300_000) },
    async () => {
      const urls = several(get(), 2)
      await Promise.all(
        STEPS.map(async (dyingStep) => {
          const name = `dies ${dyingStep}`
          const writers = await Writers.start(urls, name)
          const places = placesAt(urls)
          const before = copiesOf(get(), urls, name)[0]!.at
          // As after SIGKILL: no statement comes any more.
          await new Promise<void>((resolve, reject) => {
            const onStep = (step: MoveStep): Promise<void> | undefined => {
              if (step !== dyingStep) return undefined
              resolve()
              return new Promise(() => {})
            }
            moved(() => moveDatabase(places, name, places.all[1 - before]!, { onStep })).catch(reject)
          })
          await writers.goOn()
          const isMoved = STEPS.indexOf(dyingStep) >= STEPS.indexOf('switched')
          expect(await postgres(urls).placeOf(name)).toBe(places.all[isMoved ? 1 - before : before]!.place)
          expect(copiesOf(get(), urls, name).filter(({ isOpen }) => isOpen)).toHaveLength(1)
          // Called again it finishes, and tidies up.
          await moved(() => postgres(urls).move(name, urls[1 - before]!))
          expect(copiesOf(get(), urls, name)).toEqual([{ at: 1 - before, isOpen: true }])
          await writers.goOn()
          await writers.end(urls, name)
          places.leave()
        }),
      )
    },
  )

  test('a move that was taken for dead and comes back does no harm', { timeout: timeoutOf(300_000) }, async () => {
    const urls = several(get(), 2)
    const steps: readonly MoveStep[] = ['stopping', 'stopped', 'complete']
    await Promise.all(
      steps.map(async (frozenStep) => {
        const name = `frozen ${frozenStep}`
        const writers = await Writers.start(urls, name)
        const places = placesAt(urls)
        const before = copiesOf(get(), urls, name)[0]!.at
        let thaw = (): void => {}
        const thawed = new Promise<void>((resolve) => (thaw = resolve))
        const { promise: frozen, resolve: freeze } = Promise.withResolvers<void>()
        const onStep = (step: MoveStep): Promise<void> | undefined => {
          if (step !== frozenStep) return undefined
          freeze()
          return thawed
        }
        const moving = moveDatabase(places, name, places.all[1 - before]!, { onStep }).then(
          () => 'moved',
          (error: { code: string }) => error.code,
        )
        // A slow one may have been taken for dead before it comes to that step.
        await Promise.race([frozen, moving])
        // Where nobody was stopped yet nobody cancels it.
        await sleep(6000)
        await writers.goOn()
        thaw()
        const outcome = await moving
        if (frozenStep !== 'stopping') expect(outcome).toBe('PANNIER_STALE')
        await writers.goOn()
        const at = outcome === 'moved' ? 1 - before : before
        expect(copiesOf(get(), urls, name)).toEqual([{ at, isOpen: true }])
        await writers.end(urls, name)
        places.leave()
      }),
    )
  })

  test(
    'a move is cancelled, or overtaken by another: the database stays, and no copy is left',
    { timeout: timeoutOf(300_000) },
    async () => {
      const urls = several(get(), 3)
      const writers = await Writers.start(urls, 'shop')
      const places = placesAt(urls)
      const before = copiesOf(get(), urls, 'shop')[0]!.at
      const [one, two] = places.all.filter((_postgres, n) => n !== before)
      for (const step of ['made', 'copied', 'stopped'] as const) {
        const cancelling = new AbortController()
        const onStep = (now: MoveStep): void => {
          if (now === step) cancelling.abort()
        }
        const moving = moveDatabase(places, 'shop', one!, { onStep, signal: cancelling.signal })
        await expect(moving).rejects.toMatchObject({ code: 'PANNIER_ABORTED' })
        expect(copiesOf(get(), urls, 'shop')).toEqual([{ at: before, isOpen: true }])
        await writers.goOn()
      }
      const overtaken = moveDatabase(places, 'shop', one!, {
        onStep: (step) => (step === 'copied' ? moved(() => moveDatabase(places, 'shop', two!, {})) : undefined),
      })
      await expect(overtaken).rejects.toMatchObject({ code: 'PANNIER_STALE' })
      expect(copiesOf(get(), urls, 'shop')).toEqual([{ at: places.all.indexOf(two!), isOpen: true }])
      await writers.end(urls, 'shop')
      places.leave()
    },
  )

  const kills = times(2)
  test(`${kills} moving processes are killed at any time`, { timeout: timeoutOf(300_000) }, async () => {
    const urls = several(get(), 2)
    const writers = await Writers.start(urls, 'shop', 3000)
    const script = join(import.meta.dirname, 'moving-process.ts')
    const random = seededRandom(FIRST_SEED)
    for (let kill = 0; kill < kills; kill++) {
      const child = spawnTracked(process.execPath, ['--conditions=pannier-source', script, 'shop', ...urls])
      await new Promise<void>((resolve) => child.stdout!.once('data', () => resolve()))
      await sleep(random.next() * 400)
      await stop(child, 'SIGKILL')
      await writers.goOn()
      // The last statement of the dead one may stop the writers once more.
      await expect.poll(() => copiesOf(get(), urls, 'shop').filter(({ isOpen }) => isOpen).length).toBe(1)
    }
    await writers.end(urls, 'shop', 3000)
  })
})
