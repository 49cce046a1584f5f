/**
 * Subscriptions by what they are about. Equal subscriptions of equal actors are one group, which is asked about once. Groups that
 * want a certain text in a field are found by it, so that a change asks few of many.
 */
import type { BoundRule, RuleRecord } from '@pannier/rules'
import { requiredText, type RequiredText } from '@pannier/rules/compile'
import type { ReadAction } from '../access/access.ts'
import type { Actor } from '../access/actor.ts'
import type { Definition } from '../definitions/definition.ts'
import type { Principal } from '../gateway/principal.ts'
import type { Subscriber } from './subscriber.ts'
import type { Topic } from './topic.ts'

/** Equal subscriptions of equal actors. */
export interface SubscriptionGroup {
  readonly topic: Topic
  readonly actor: Actor
  /** With the number of the commit after which each of them gets messages. */
  readonly members: Map<Subscriber, number>
  /** The conditions for a record; they may depend on the time. */
  rules: () => readonly BoundRule[]
}

/** Binds the rules of a group. Undefined: no record can meet it. */
export type BindGroup = (
  group: Pick<SubscriptionGroup, 'topic' | 'actor'>,
  definition: Definition,
  action: ReadAction,
) => { readonly rules: () => readonly BoundRule[]; readonly isTimed: boolean } | undefined

/** The wanted groups for a change: by the records of before and after it. */
interface Wanted {
  /** The name of a topic: `posts/*` */
  readonly name: string
  readonly definition: Definition
  readonly action: ReadAction
  readonly records: readonly RuleRecord[]
  /** An object that changes with the definitions. */
  readonly schema: unknown
}

type Groups = Set<SubscriptionGroup>

/** The groups of one name. */
interface NamedGroups {
  readonly byKey: Map<string, SubscriptionGroup>
  /** Groups that are fresh: not bound yet. */
  readonly fresh: Groups
  /** Groups that any record may concern. */
  readonly general: Groups
  /** By the field, and by the text that it must have. */
  readonly byText: Map<string, Map<string, Groups>>
  readonly required: Map<SubscriptionGroup, RequiredText>
  schema: unknown
}

export class SubscriptionGroups {
  readonly #bind: BindGroup
  readonly #byName = new Map<string, NamedGroups>()
  /** How many names there are of a collection, by what stands before the slash. */
  readonly #collections = new Map<string, number>()

  constructor(bind: BindGroup) {
    this.#bind = bind
  }

  get isEmpty(): boolean {
    return this.#byName.size === 0
  }

  /** All groups of a name. */
  named(name: string): Iterable<SubscriptionGroup> {
    return this.#byName.get(name)?.byKey.values() ?? []
  }

  /** Whether there are subscriptions to records of the collection. */
  concern({ id, name }: Definition): boolean {
    return this.#collections.has(id) || this.#collections.has(name)
  }

  /** `after`: the number of the commit after which it gets messages. */
  join(subscriber: Subscriber, topic: Topic, after: number): void {
    const named = this.#byName.get(topic.name) ?? this.#add(topic.name)
    const key = keyOf(topic, subscriber.principal)
    let group = named.byKey.get(key)
    if (group === undefined) {
      const { query, headers } = topic
      const request = { context: 'realtime', method: 'GET', query, headers }
      group = { topic, actor: { principal: subscriber.principal, request }, members: new Map(), rules: () => [] }
      named.byKey.set(key, group)
      named.fresh.add(group)
    }
    group.members.set(subscriber, after)
  }

  /** `principal`: whose subscription it was. Gives the commit after which it got messages; undefined if it did not. */
  leave(subscriber: Subscriber, topic: Topic, principal: Principal): number | undefined {
    const named = this.#byName.get(topic.name)
    const key = keyOf(topic, principal)
    const group = named?.byKey.get(key)
    const after = group?.members.get(subscriber)
    if (named === undefined || group === undefined || after === undefined) return undefined
    group.members.delete(subscriber)
    if (group.members.size > 0) return after
    named.byKey.delete(key)
    unplace(named, group)
    if (named.byKey.size === 0) this.#remove(topic.name)
    return after
  }

  /** The groups that a change may concern. */
  find(wanted: Wanted): readonly SubscriptionGroup[] {
    const named = this.#byName.get(wanted.name)
    if (named === undefined) return []
    this.#place(named, wanted)
    const found = new Set(named.general)
    for (const [field, byText] of named.byText)
      for (const record of wanted.records)
        for (const group of byText.get(record[field] as string) ?? []) found.add(group)
    return [...found]
  }

  /** Binds the groups that are new; all of them if definitions were changed. */
  #place(named: NamedGroups, { definition, action, schema }: Wanted): void {
    const { byKey, fresh, general, byText, required } = named
    if (named.schema !== schema) {
      named.schema = schema
      general.clear()
      byText.clear()
      required.clear()
      for (const group of byKey.values()) fresh.add(group)
    }
    for (const group of fresh) {
      const bound = this.#bind(group, definition, action)
      if (bound === undefined) continue
      group.rules = bound.rules
      const text = bound.isTimed ? undefined : firstRequired(bound.rules())
      if (text === undefined) general.add(group)
      else {
        required.set(group, text)
        const texts = getOrAdd(byText, text.field, () => new Map<string, Groups>())
        getOrAdd(texts, text.text, () => new Set()).add(group)
      }
    }
    fresh.clear()
  }

  #add(name: string): NamedGroups {
    const [collection] = name.split('/', 1) as [string]
    this.#collections.set(collection, (this.#collections.get(collection) ?? 0) + 1)
    const named: NamedGroups = {
      byKey: new Map(),
      fresh: new Set(),
      general: new Set(),
      byText: new Map(),
      required: new Map(),
      schema: undefined,
    }
    this.#byName.set(name, named)
    return named
  }

  #remove(name: string): void {
    const [collection] = name.split('/', 1) as [string]
    this.#byName.delete(name)
    const remaining = this.#collections.get(collection)! - 1
    if (remaining === 0) this.#collections.delete(collection)
    else this.#collections.set(collection, remaining)
  }
}

function unplace({ fresh, general, byText, required }: NamedGroups, group: SubscriptionGroup): void {
  fresh.delete(group)
  general.delete(group)
  const text = required.get(group)
  if (text === undefined) return
  required.delete(group)
  const texts = byText.get(text.field)!
  const groups = texts.get(text.text)!
  groups.delete(group)
  if (groups.size === 0) texts.delete(text.text)
  if (texts.size === 0) byText.delete(text.field)
}

function firstRequired(rules: readonly BoundRule[]): RequiredText | undefined {
  return rules.map(requiredText).find((text) => text !== undefined)
}

/** The key of actors that see the same. An account that was changed is another actor. */
export function actorKey({ account, isAdmin, name, apiToken }: Principal): string {
  return JSON.stringify(
    account === undefined
      ? [isAdmin, name]
      : [account.collection, account.record['_id'], account.record['_rev'], apiToken?.id],
  )
}

function keyOf({ text }: Topic, principal: Principal): string {
  return actorKey(principal) + text
}

function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key) ?? make()
  map.set(key, found)
  return found
}
