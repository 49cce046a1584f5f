/** TypeScript types of the collections, for hooks. */
import type { Definition } from './definition.ts'
import type { InputTypes } from '../fields/field-type.ts'
import { typeOfField } from '../fields/field-types.ts'
import { block, inputsOf, keyOf, type Property } from './field-declarations.ts'

/** The first line. A file that begins otherwise is somebody else's. */
const HOOK_DECLARATIONS_MARK =
  "// Made by the server from the definitions of the collections, again whenever they change. Don't edit it."

const SERVER = '@pannier/server'
const HEAD = `${HOOK_DECLARATIONS_MARK}
import type { HookRecord, Hooks as HooksOf, UploadedFile } from '${SERVER}'

/** What a hook file gets. */
export type Hooks = HooksOf<Collections>
/** A record of a collection. */
export type RecordOf<Name extends keyof Collections> = HookRecord<Collections[Name]>
`

/** A module of declarations. It has every collection, those of the system too. */
export function hookDeclarations(all: readonly Definition[]): string {
  const collections = all.map((definition) => {
    const values = definition.fields.map((field): Property => [field.name, typeOfField(field).readType(field), false])
    const changes = definition.type === 'view' ? [] : changesOf(definition)
    return `  ${keyOf(definition.name)}: {\n    values: ${block(values)}\n    changes: ${block(changes)}\n  }\n`
  })
  return `${HEAD}\n/** All collections, by name. */\nexport type Collections = {\n${collections.join('')}}\n`
}

/**
 * The properties that hooks may set, of a new record and of a stored one. Hooks name files that are stored or give new ones, and set a
 * password without its confirmation.
 */
function changesOf(definition: Definition): Property[] {
  const fields = new Set(definition.fields.map(({ name }) => name))
  const all = [...inputsOf(definition, 'create', INPUTS), ...inputsOf(definition, 'update', INPUTS)]
  const types = new Map(all.map(([name, type]) => [name, type]))
  return [...types].flatMap(([name, type]): Property[] => {
    const isConfirmation = CONFIRMATIONS.has(name) && !fields.has(name)
    return isConfirmation ? [] : [[name, type, false]]
  })
}

const INPUTS: InputTypes = { file: 'string | File | Blob | Uint8Array | UploadedFile', date: 'string | Date' }
const CONFIRMATIONS: ReadonlySet<string> = new Set(['passwordConfirm', 'oldPassword'])
