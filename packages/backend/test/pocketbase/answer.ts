/** What our own fields answer to the cases, in the order of `askAll`. */
import { virtualEnvironment } from 'pannier/testing'
import { applyInput } from '../../src/fields/apply-input.ts'
import { checkField } from '../../src/fields/check-field.ts'
import { completeFields } from '../../src/fields/complete-fields.ts'
import type { FieldDefinition } from '../../src/fields/field-definition.ts'
import { checkValue, presentValue } from '../../src/fields/field-types.ts'
import { NewFile } from '../../src/fields/new-file.ts'
import { ServiceError } from '../../src/gateway/service-error.ts'
import { type Answer, asked } from './ask.ts'
import { FILES, MODIFIERS, OPTIONS, VALUES } from './cases.ts'

type Values = Readonly<Record<string, unknown>>

export async function answerAll(): Promise<Answer[]> {
  const files: Answer[] = []
  for (const { field, files: given } of FILES) files.push([asked(field, given), await upload(fieldOf(field), given)])
  return [
    ...VALUES.flatMap(({ field, inputs }) =>
      inputs.map((input): Answer => [asked(field, input), write(fieldOf(field), undefined, { f: input }).answer]),
    ),
    ...MODIFIERS.flatMap(({ field, start, bodies }) =>
      bodies.map((body): Answer => {
        const { values } = write(fieldOf(field), undefined, { f: start })
        return [asked(field, start, body), write(fieldOf(field), values, body).answer]
      }),
    ),
    ...files,
    ...OPTIONS.map((field): Answer => [asked(field), options({ name: 'f', ...field })]),
  ]
}

function fieldOf(field: Values): FieldDefinition {
  return completeFields([{ ...field, name: 'f' }])[0]!
}

function write(field: FieldDefinition, old: Values | undefined, body: Values): { values: Values; answer: unknown } {
  const values = applyInput([field], old, body, { now: NOW, isSuperuser: true, chance })
  const error = checkValue(field, values['f'], { old: old?.['f'] })
  return { values, answer: error ?? { value: presentValue(field, values['f']) } }
}

async function upload(field: FieldDefinition, files: readonly (readonly [string, string])[]): Promise<unknown> {
  const uploads = files.map(([name, content]) => {
    const blob = new Blob([Buffer.from(content, 'latin1')])
    return NewFile.from({ name, size: blob.size, stream: () => blob.stream() }, chance)
  })
  const { values, answer } = write(field, undefined, { f: await Promise.all(uploads) })
  if (!('value' in (answer as object))) return answer
  const names = [values['f']].flat().map((file) => (file as NewFile).name)
  return { value: Array.isArray(values['f']) ? names : names[0] }
}

const ID = { name: 'id', type: 'text', primaryKey: true }
const chance = virtualEnvironment()
const NOW = '2026-11-22 15:04:49.813Z'

function options(input: Values): unknown {
  try {
    // Every collection has an `id`.
    const [id, field] = completeFields([ID, input]) as [FieldDefinition, FieldDefinition]
    const typeOf = (id: string): 'auth' | undefined => (id === '_pb_users_auth_' ? 'auth' : undefined)
    const definition = { type: 'base', fields: [id, field] } as const
    return checkField(field, { definition, old: undefined, typeOf, chance }) ?? field
  } catch (error) {
    if (error instanceof ServiceError) return { message: error.message, data: {} }
    throw error
  }
}
