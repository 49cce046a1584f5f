/** Collections of the application as databases of other doors. Views have no documents. Collections of the system have secrets. */
import type { Access } from '../access/access.ts'
import type { Actor } from '../access/actor.ts'
import { nameOfRecords, recordsName, type Definition } from '../definitions/definition.ts'
import type { Definitions } from '../definitions/definitions.ts'
import type { AppCollections } from '../gateway/databases.ts'
import type { Principal } from '../gateway/principal.ts'
import type { HookName } from '../hooks/hook-events.ts'
import type { Hooks } from '../hooks/hooks.ts'

/** Hooks that decide what a request gets to see, and run around REST alone. */
const READ_HOOKS: readonly HookName[] = ['onRecordsListRequest', 'onRecordViewRequest', 'onRecordEnrich']

interface AppCollectionsParts {
  readonly definitions: Definitions
  readonly access: Access
  readonly hooks: Hooks
}

export function appCollections({ definitions, access, hooks }: AppCollectionsParts): AppCollections {
  const served = (name: string): Definition | undefined => {
    const definition = definitions.find(name)
    return definition !== undefined && definition.name === name && isServed(definition) ? definition : undefined
  }
  return {
    find: (name) => {
      const definition = served(name)
      return definition && recordsName(definition)
    },
    nameOf: (collection) => nameOfRecords(definitions, collection),
    isTaken: (name) => definitions.find(name) !== undefined,
    names: () => definitions.all().flatMap((definition) => (isServed(definition) ? [definition.name] : [])),
    isOpenTo: (principal, name) => {
      const definition = served(name)
      if (definition === undefined || principal.isAdmin) return principal.isAdmin
      if (hooks.has(READ_HOOKS, [definition.id, definition.name])) return false
      return access.seesAll(readerOf(principal), definition)
    },
    subscribeRules: (listener) => {
      const stops = [definitions.subscribe(listener), hooks.subscribe(listener)]
      return () => stops.forEach((stop) => stop())
    },
  }
}

function isServed({ type, system }: Definition): boolean {
  return type !== 'view' && !system
}

/** As rules read a request that was none of REST. */
function readerOf(principal: Principal): Actor {
  return { principal, request: { context: 'default', method: 'GET', query: {}, headers: {} } }
}
