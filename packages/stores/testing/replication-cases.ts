/** Cases of a replication in a component. */
import type { Replication } from 'pannier'
import { assertEqual } from '../../db/testing/check.ts'
import type { SuiteContext } from '../../db/testing/suite.ts'
import type { Binding, Mounted } from './binding.ts'
import { aWhile, becomes, Fixture, last } from './fixture.ts'

export function replicationCases({ test, create }: SuiteContext<() => Binding>): void {
  const behaves = (name: string, body: (app: Fixture) => Promise<void>): void =>
    test(`replication: ${name}`, () => Fixture.run(create(), body))

  behaves('without one it is idle', async (app) => {
    const shown = app.mount('replication', { db: app.db, replication: undefined })
    await aWhile()
    assertEqual([last(shown).status, last(shown).unsent], ['idle', undefined])
  })

  behaves('offline, the changes that are not sent are counted', async (app) => {
    const sync = offline(app)
    const shown = app.mount('replication', { db: app.db, replication: sync })
    await says(shown, 'offline 3')
    await app.put('dan', 'Dan', 'Rome')
    await says(shown, 'offline 4')
    await end(sync)
  })

  behaves('its end is shown', async (app) => {
    const sync = offline(app)
    const shown = app.mount('replication', { db: app.db, replication: sync })
    await says(shown, 'offline 3')
    await end(sync)
    await says(shown, 'cancelled 3')
  })

  behaves('one that could not begin has failed', async (app) => {
    const sync = app.db.sync('https://couch.test', { colections: [] } as never)
    const shown = app.mount('replication', { db: app.db, replication: sync })
    await becomes(() => last(shown).status, 'failed')
    assertEqual(String(last(shown).error).includes("did you mean 'collections'?"), true)
  })

  behaves('unmounting does not end it', async (app) => {
    const sync = offline(app)
    const shown = app.mount('replication', { db: app.db, replication: sync })
    await says(shown, 'offline 3')
    shown.unmount()
    const before = shown.renders.length
    await app.put('dan', 'Dan', 'Rome')
    await aWhile()
    assertEqual([sync.status, shown.renders.length], ['offline', before])
    await end(sync)
  })
}

/** A replication without a network. */
function offline({ db }: Fixture): Replication {
  const network = { isOnline: () => false, subscribe: () => () => {} }
  const fetch = (): Promise<never> => Promise.reject(new TypeError('no network'))
  const sync = db.sync('https://couch.test', { collections: ['people'], live: true, network, fetch })
  sync.then(undefined, () => {})
  return sync
}

async function end(sync: Replication): Promise<void> {
  sync.cancel()
  await sync
}

async function says(mounted: Mounted<'replication'>, expected: string): Promise<void> {
  await becomes(() => `${last(mounted).status} ${last(mounted).unsent}`, expected)
}
