/** The records that paths of relations lead to, for hooks. No rule stops them. */
import type { Collection } from 'pannier'
import type { Definition } from '../definitions/definition.ts'
import { holdsRecords } from '../fields/field-types.ts'
import type { Chance } from '../gateway/chance.ts'
import type { JsonObject } from '../gateway/documents.ts'
import { invalid } from '../gateway/service-error.ts'
import { HookRecord } from '../hooks/hook-record.ts'

/** Records of one step of a path. */
const RECORDS_MAX = 1000

interface Reading {
  readonly environment: Chance
  definition(nameOrId: string): Definition
  records(definition: Definition): Pick<Collection<JsonObject>, 'find'>
}

/** By path: `author`, `author.team`, `comments_via_post`. @throws ServiceError INVALID for a path that leads nowhere */
export async function relatedRecords(
  record: HookRecord,
  paths: readonly string[],
  reading: Reading,
): Promise<Readonly<Record<string, readonly HookRecord[]>>> {
  const found: [path: string, records: readonly HookRecord[]][] = []
  for (const path of paths) {
    let [records, from] = [[record], record.collection()]
    for (const step of path.split('.')) [records, from] = await related(records, from, step, reading)
    found.push([path, records])
  }
  return Object.fromEntries(found)
}

async function related(
  records: readonly HookRecord[],
  from: Definition,
  step: string,
  { environment, definition, records: recordsOf }: Reading,
): Promise<[records: HookRecord[], of: Definition]> {
  const hooked = (of: Definition, documents: readonly (JsonObject | undefined)[]): [HookRecord[], Definition] => {
    const there = documents.filter((document) => document !== undefined)
    return [there.map((document) => HookRecord.of(of, document, environment)), of]
  }
  const field = from.fields.find(({ name }) => name === step)
  if (field !== undefined && holdsRecords(field)) {
    const to = definition(field.collectionId)
    const ids = new Set(records.flatMap((record) => [record.get(step)].flat().map(String)))
    ids.delete('')
    const wanted = [...ids].slice(0, RECORDS_MAX)
    const documents = await recordsOf(to)
      .find({ _id: { $in: wanted } })
      .toArray()
    const byId = new Map(documents.map((document) => [document['_id'], document]))
    return hooked(
      to,
      wanted.map((id) => byId.get(id)),
    )
  }
  const [, owner, back] = /^(\w+)_via_(\w+)$/.exec(step) ?? []
  const of = owner === undefined ? undefined : definition(owner)
  const leadsBack = of?.fields.find(({ name }) => name === back)
  if (of === undefined || leadsBack === undefined || !holdsRecords(leadsBack) || leadsBack.collectionId !== from.id)
    throw invalid(`'${from.name}' has no relation '${step}'.`)
  const ids = records.map(({ id }) => id)
  const pointing = recordsOf(of).find(
    leadsBack.maxSelect <= 1 ? { [back!]: { $in: ids } } : { $or: ids.map((id) => ({ [back!]: { $all: [id] } })) },
  )
  return hooked(of, await pointing.sort('_id').limit(RECORDS_MAX).toArray())
}
