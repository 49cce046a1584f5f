/** The event of a request, for hooks. */
import type { Environment } from 'pannier/types'
import type { Actor, RequestInfo } from '../access/actor.ts'
import type { KnownDefinitions } from '../access/rule-records.ts'
import type { Definition } from '../definitions/definition.ts'
import type { Chance } from '../gateway/chance.ts'
import type { JsonObject } from '../gateway/documents.ts'
import type { HookApp } from './hook-app.ts'
import { HookRecord } from './hook-record.ts'

/** The event of a request: somebody asks for something. */
export interface RequestEvent {
  /** The application for the hook. */
  readonly app: HookApp
  /** The account that asks; undefined for guests. */
  readonly auth: HookRecord | undefined
  /** Whether a superuser asks. */
  hasSuperuserAuth(): boolean
  /** The request as rules read it. */
  requestInfo(): RequestInfo & { readonly body: Readonly<Record<string, unknown>> }
  /** The real address (IP) that the request came from. */
  realIP(): string | undefined
}

interface EventParts {
  readonly app: HookApp
  readonly definitions: KnownDefinitions
  readonly environment: Environment
}

/** The event of a request. `body`: its values, if they are read. */
export function requestEvent(
  { app, definitions, environment }: EventParts,
  { principal, request }: Actor,
  body: Readonly<Record<string, unknown>> = {},
): RequestEvent {
  const { account } = principal
  const definition = account && definitions.find(account.collection)
  return {
    app,
    auth: definition && HookRecord.of(definition, account!.record, environment),
    hasSuperuserAuth: () => principal.isAdmin,
    requestInfo: () => ({ ...request, body }),
    realIP: () => principal.address,
  }
}

/** A record that a request is about, as it is stored. */
export function recordOfEvent(definition: Definition, document: JsonObject, chance: Chance): HookRecord {
  return HookRecord.of(definition, document, chance)
}
