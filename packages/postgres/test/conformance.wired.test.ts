/** Goal: the contracts of page stores and coordinators hold on PostgreSQL, with NOTIFY and without it. No failure ends the process. */
import { afterAll, describe, test } from 'vitest'
import { coordinatorSuite } from '../../db/testing/conformance/coordinator.ts'
import { pageStoreSuite } from '../../db/testing/conformance/page-store.ts'
import { eventually, prefixed } from '../../db/testing/suite.ts'
import { systemEnvironment } from '../../db/src/database/lifecycle/environment.ts'
import { postgres } from '../src/index.ts'
import { newName, onPostgres } from './on-postgres.ts'

onPostgres((get) => {
  // Closed handles still take back what they have asked for. They would try it again in the next file.
  afterAll(() => {
    const connected = "select count(*) from pg_stat_activity where application_name = 'pannier'"
    return eventually(() => get().server.sql('postgres', connected) === '0')
  })

  pageStoreSuite({
    test: prefixed(test, 'page store'),
    create: async () => ({ storage: postgres(get().url), name: newName() }),
  })

  for (const notify of [true, false]) {
    describe(notify ? 'coordinator' : 'coordinator without NOTIFY', () => {
      coordinatorSuite({
        test,
        isSilent: !notify,
        create: () => {
          const name = newName()
          // Each handle is of a process of its own.
          return () => postgres(get().url, { notify }).coordinator!(name, systemEnvironment())
        },
      })
    })
  }
})
