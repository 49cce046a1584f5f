/** TypeScript types of the collections, for the SDK of PocketBase and for `@pannier/client`. Names are keys, never identifiers, so none can clash. */
import type { Schema } from '@pannier/rules'
import { isMany, type FieldDefinition } from '../fields/field-definition.ts'
import type { Definition } from './definition.ts'
import type { InputTypes } from '../fields/field-type.ts'
import { holdsRecords, typeOfField } from '../fields/field-types.ts'
import { block, inputsOf, keyOf, type Property } from './field-declarations.ts'
import { ACCOUNT_SECRETS } from './system-fields.ts'

/** The client for which types are declared: PocketBase's SDK, or `@pannier/client`. */
export type TypesFor = 'pocketbase' | 'client'

const HEAD = `// Made by \`pannier types\` from the definitions of the collections. Don't edit it: make it again.
`

/** Declarations that are the same for all collections. */
const NAMES = `
/** The name of a collection. */
export type CollectionName = keyof Collections
/** A record as it is read. What rules or \`hidden\` may keep from a client is optional. */
export type RecordOf<Name extends CollectionName> = Collections[Name]['record']
/** What \`create\` takes. */
export type CreateOf<Name extends CollectionName> = Collections[Name]['create']
/** What \`update\` takes. */
export type UpdateOf<Name extends CollectionName> = Collections[Name]['update']
`

const IMPORTS: Readonly<Record<TypesFor, string>> = {
  client: `import type { Client } from '@pannier/client'\n`,
  pocketbase: `import type PocketBase from 'pocketbase'
import type { RecordOptions, RecordService } from 'pocketbase'
`,
}

const OWN: Readonly<Record<TypesFor, string>> = {
  client: `
/** The client with these types: \`const client: AppClient = await connect<Collections>(url, options)\` */
export type AppClient = Client<Collections>
`,
  pocketbase: `/** What \`expand\` may add to a record. */
export type ExpandOf<Name extends CollectionName> = Collections[Name]['expand']

/** \`collection('posts')\` */
export type ServiceOf<Name extends CollectionName> = Omit<RecordService<RecordOf<Name>>, 'create' | 'update'> & {
  create(body: CreateOf<Name> | FormData, options?: RecordOptions): Promise<RecordOf<Name>>
  update(id: string, body: UpdateOf<Name> | FormData, options?: RecordOptions): Promise<RecordOf<Name>>
}

/** The client with these types: \`const client = new PocketBase(url) as TypedPocketBase\` */
export type TypedPocketBase = Omit<PocketBase, 'collection'> & {
  collection<Name extends CollectionName>(name: Name): ServiceOf<Name>
}
`,
}

/** Types of written values that differ from the types of read values. */
const INPUTS: Readonly<Record<TypesFor, InputTypes>> = {
  client: { file: 'File | Blob | string', date: 'string' },
  pocketbase: { file: 'File | Blob | string', date: 'string | Date' },
}

/** A module of declarations. Those for PocketBase's SDK have every collection, and those for `@pannier/client` none of the system. */
export function typeDeclarations(all: readonly Definition[], schema: Schema, app: TypesFor): string {
  const declared = app === 'client' ? all.filter(({ system }) => !system) : all
  const collections = declared.map((definition) => {
    const { name, fields, type } = definition
    const input = (action: 'create' | 'update'): string =>
      type === 'view' ? 'never' : block(inputsOf(definition, action, INPUTS[app]))
    const expand = block([...relationsOf(definition, all), ...backRelationsOf(definition, all, schema)])
    const shown = fields.filter((field) => !(type === 'auth' && ACCOUNT_SECRETS.has(field.name)))
    const record = block([
      ...shown.map((field): Property => [
        field.name,
        typeOfField(field).readType(field),
        isHideable(definition, field),
      ]),
      ['collectionId', JSON.stringify(definition.id), false],
      ['collectionName', JSON.stringify(name), false],
      ...(app === 'client' ? [] : [['expand', `ExpandOf<${JSON.stringify(name)}>`, true] as const]),
    ])
    const expanded = app === 'client' ? '' : `    expand: ${expand}\n`
    return `  ${keyOf(name)}: {\n    record: ${record}\n${expanded}    create: ${input('create')}\n    update: ${input('update')}\n  }\n`
  })
  const head = HEAD + IMPORTS[app] + NAMES + OWN[app]
  return `${head}\n/** All collections, by name. */\nexport interface Collections {\n${collections.join('')}}\n`
}

/** Whether some who see the record don't see the field. */
function isHideable({ type }: Definition, { name, hidden, viewRule }: FieldDefinition): boolean {
  return hidden || viewRule !== undefined || (type === 'auth' && name === 'email')
}

function relationsOf({ fields }: Definition, all: readonly Definition[]): Property[] {
  return fields.flatMap((field): Property[] => {
    const to = holdsRecords(field) && all.find(({ id }) => id === field.collectionId)
    return to ? [[field.name, recordType(to, isMany(field)), true]] : []
  })
}

/** `comments_via_post` */
function backRelationsOf({ id }: Definition, all: readonly Definition[], schema: Schema): Property[] {
  return all.flatMap((owner) =>
    owner.fields.flatMap((field): Property[] => {
      if (!holdsRecords(field) || field.collectionId !== id) return []
      const isUnique = schema.find(owner.id)?.fields.get(field.name)?.isUnique === true
      return [[`${owner.name}_via_${field.name}`, recordType(owner, !isUnique), true]]
    }),
  )
}

function recordType({ name }: Definition, isList: boolean): string {
  return `RecordOf<${JSON.stringify(name)}>${isList ? '[]' : ''}`
}
