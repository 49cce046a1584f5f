/** Goal: the contracts of page stores and coordinators hold on PostgreSQL, with NOTIFY and without it. */
import { describe, test } from 'vitest'
import { coordinatorSuite } from '../../db/testing/conformance/coordinator.ts'
import { pageStoreSuite } from '../../db/testing/conformance/page-store.ts'
import { prefixed } from '../../db/testing/suite.ts'
import { systemEnvironment } from '../../db/src/database/lifecycle/environment.ts'
import { postgres } from '../src/index.ts'
import { newName, onPostgres } from './on-postgres.ts'

onPostgres((get) => {
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
