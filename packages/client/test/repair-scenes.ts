/** Cases for the repairs that docs/internals/client.md argues for. Each fails when its repair is switched off in the source. */
import { expect, test } from 'vitest'
import { checkPlaces, importMutant, type Mutation } from '../../../tools/test/mutants.ts'
import { EVERYWHERE } from '../../../tools/test/seeds.ts'
import type { DatabaseStorage } from 'pannier'
import type { AppServer, User } from './app-server.ts'
import { Device, type AppClient } from './device.ts'

export interface RepairCase {
  /** What is true. */
  readonly name: string
  readonly run: (scene: RepairScene) => Promise<void>
  /** The repair, switched off: the test must fail then. */
  readonly without: readonly Mutation[]
}

export const inClient = (file: string, text: string, replacement: string): Mutation => ({
  file: `packages/client/src/${file}`,
  text,
  replacement,
})

const FOLDERS = ['packages/client/src', 'packages/client/test/device.ts']

/** A user with a project of their own, and devices of the client as it is or without a repair. */
export class RepairScene {
  readonly app: AppServer
  readonly ann: User
  readonly project: string
  readonly #Device: typeof Device
  readonly #opened: AppClient[] = []

  static async play(run: RepairCase['run'], app: AppServer, user: User, device: typeof Device): Promise<void> {
    const scene = new RepairScene(app, user, await app.add('projects', { name: 'p', members: [user.id] }), device)
    try {
      await run(scene)
    } finally {
      app.lose = () => undefined
      app.isDown = false
      for (const client of scene.#opened) await client.close()
    }
  }

  private constructor(app: AppServer, ann: User, project: string, device: typeof Device) {
    this.app = app
    this.ann = ann
    this.project = project
    this.#Device = device
  }

  device(storage?: DatabaseStorage): Device {
    return new this.#Device(this.app, storage)
  }

  /** A client that has signed in and synced, unless it is said otherwise. */
  async client(
    device: Device = this.device(),
    { isSynced = true }: { readonly isSynced?: boolean } = {},
  ): Promise<AppClient> {
    const client = await device.openAs(this.ann)
    this.#opened.push(client)
    if (isSynced) await client.sync()
    return client
  }

  /** Another handle on the database of a device. */
  async tab(device: Device): Promise<AppClient> {
    const client = await device.open()
    this.#opened.push(client)
    return client
  }

  /** The processes of all devices have ended. */
  abandon(): void {
    this.#opened.length = 0
  }

  addTask(values: object = {}): Promise<string> {
    return this.app.add('tasks', { title: 'one', project: this.project, ...values })
  }

  async editAtServer(id: string, values: object): Promise<void> {
    const { status, text } = await this.app.call(`PATCH /collections/tasks/records/${id}`, values)
    expect([status, text]).toEqual([200, expect.anything()])
  }

  /** Syncs. The `which`th request to the path is lost, or its answer. */
  async syncLosing(client: AppClient, path: 'pull' | 'push', what: 'request' | 'answer', which = 1): Promise<void> {
    let requests = 0
    this.app.lose = (requested) => (requested.endsWith(path) && ++requests === which ? what : undefined)
    await expect(client.sync()).rejects.toMatchObject({ code: 'PANNIER_PEER_UNREACHABLE' })
    this.app.lose = () => undefined
  }

  /** Begins to sync. The answer of the pull is on its way until `arrive` is called. */
  async beginPull(client: AppClient): Promise<{ arrive(): Promise<void> }> {
    const [answered, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    this.app.lose = (path) => {
      if (!path.endsWith('/pull')) return undefined
      this.app.lose = () => undefined
      return () => {
        answered.resolve()
        return held.promise
      }
    }
    const done = client.sync()
    await answered.promise
    return {
      arrive: async () => {
        held.resolve()
        await done
      },
    }
  }
}

/** Tests that each case holds; at night that it does not hold without a repair. */
export function testRepairs(
  cases: readonly RepairCase[],
  world: () => { readonly app: AppServer; readonly ann: User },
): void {
  test('the source has each repair once', () => checkPlaces(cases.flatMap(({ without }) => without)))
  for (const { name, run, without } of cases) {
    test(name, () => RepairScene.play(run, world().app, world().ann, Device))
    for (const mutation of EVERYWHERE ? without : [])
      test(`${name}; the test fails without: ${mutation.text}`, async () => {
        type Module = { readonly Device: typeof Device }
        const mutant = await importMutant<Module>('packages/client/test/device.ts', mutation, FOLDERS)
        await expect(RepairScene.play(run, world().app, world().ann, mutant.Device)).rejects.toThrow(
          /expected|instead of resolving/,
        )
      })
  }
}
