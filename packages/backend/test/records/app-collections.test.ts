/** Goal: CouchDB's door shows a collection to those who see all of it, and not past a hook that changes what is read. */
import { expect, test } from 'vitest'
import type { Definition } from '../../src/definitions/definition.ts'
import { GUEST, SYSTEM } from '../../src/gateway/principal.ts'
import { appCollections } from '../../src/records/app-collections.ts'

test.each([
  [false, true],
  [true, false],
])('with hooks of reading: %s, a guest who may see all records sees them: %s', (hasHooks, isOpen) => {
  const definition = { id: 'p', name: 'posts', type: 'base', system: false } as Definition
  const { isOpenTo } = appCollections({
    definitions: { find: () => definition, all: () => [definition], subscribe: () => () => {} },
    access: { seesAll: () => true },
    hooks: { has: () => hasHooks, subscribe: () => () => {} },
  } as unknown as Parameters<typeof appCollections>[0])
  expect(isOpenTo(GUEST, 'posts')).toBe(isOpen)
  expect(isOpenTo(SYSTEM, 'posts')).toBe(true)
})
