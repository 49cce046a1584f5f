/** Runs hooks around what services do that are no writes of records: changes of definitions, messages, backups, settings. */
import type { Environment } from 'pannier/types'
import type { Backups } from './backups/backups.ts'
import type { DefinitionPair, Definitions } from './definitions/definitions.ts'
import type { Realtime } from './events/realtime.ts'
import type { RealtimeMessage, Subscriber } from './events/subscriber.ts'
import type { Settings } from './settings/settings.ts'
import type { HookApp } from './hooks/hook-app.ts'
import { HookRecord } from './hooks/hook-record.ts'
import type { CollectionEvent } from './hooks/hook-events.ts'
import type { Hooks } from './hooks/hooks.ts'

interface HookedServices {
  readonly environment: Environment
  readonly hooks: Hooks
  readonly app: HookApp
  readonly definitions: Definitions
  readonly settings: Settings
  readonly realtime: Realtime
  readonly backups: Backups
}

/** The services call hooks from now on. Close what it gives before anything else. */
export function hookServices(services: HookedServices): { close(): Promise<void> } {
  const { hooks, app, definitions, settings, realtime, backups } = services
  definitions.around = (pairs, check, write) => aroundChanges(services, pairs, check, write)
  realtime.messageHooks = {
    areThere: () => hooks.has(['onRealtimeMessageSend']),
    around: (subscriber, message, send) => aroundMessage(services, subscriber, message, send),
  }
  backups.around = (event, name, run) => hooks.trigger(event, { app, name }, [], run)
  let known = JSON.stringify(settings.values)
  settings.subscribe(() => {
    const next = JSON.stringify(settings.values)
    // A change of this server comes twice.
    if (next === known) return
    known = next
    // What a handler throws is logged: the settings are stored.
    void hooks.trigger('onSettingsReload', { app }, []).catch(() => {})
  })
  return { close: () => hooks.trigger('onTerminate', { app }, []).catch(() => {}) }
}

/** The first change is around the second. */
async function aroundChanges(
  services: HookedServices,
  [pair, ...others]: readonly DefinitionPair[],
  check: () => Promise<void>,
  write: () => Promise<void>,
): Promise<void> {
  if (pair === undefined) return write()
  const { hooks, app } = services
  const { before, after } = pair
  const collection = (after ?? before)!
  const tags = [collection.id, collection.name]
  const kind = after === undefined ? 'Delete' : before === undefined ? 'Create' : 'Update'
  const event = (type: CollectionEvent['type'] = kind.toLowerCase() as CollectionEvent['type']): CollectionEvent => ({
    app,
    collection,
    type,
  })
  try {
    await hooks.trigger(`onCollection${kind}`, event(), tags, async () => {
      if (kind !== 'Delete') await hooks.trigger('onCollectionValidate', event('validate'), tags, check)
      await hooks.trigger(`onCollection${kind}Execute`, event(), tags, async () => {
        if (kind === 'Delete') await check()
        await aroundChanges(services, others, check, write)
      })
    })
  } catch (error) {
    await hooks.trigger(`onCollectionAfter${kind}Error`, { ...event(), error }, tags)
    throw error
  }
  await hooks.trigger(`onCollectionAfter${kind}Success`, event(), tags)
}

/** Handlers change a message of one client, and no other. */
function aroundMessage(
  { environment, hooks, app, definitions }: HookedServices,
  { id, principal: { account } }: Subscriber,
  { topic, data, ...rest }: RealtimeMessage,
  send: (message: RealtimeMessage) => void,
): Promise<void> {
  const definition = account && definitions.find(account.collection)
  const client = { id, auth: definition && HookRecord.of(definition, account!.record, environment) }
  const message = { name: topic, data: structuredClone(data) }
  return hooks.trigger('onRealtimeMessageSend', { app, client, message }, [], async () =>
    send({ ...rest, topic: message.name, data: message.data }),
  )
}
