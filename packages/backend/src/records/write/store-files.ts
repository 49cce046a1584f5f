/** Puts uploaded files where their content is kept, before the write that names them. */
import type { RecordFiles } from '../../files/record-files.ts'
import { fileFieldMeant } from '../../fields/apply-input.ts'
import { toText } from '../../fields/cast.ts'
import { isMany, patternOf } from '../../fields/field-definition.ts'
import { checkValue, ownValue } from '../../fields/field-types.ts'
import { NewFile } from '../../fields/new-file.ts'
import { generate } from '../../fields/pattern.ts'
import { canBeId, listOf, type PreparedInput } from './draft.ts'

export type FileStore = Pick<RecordFiles, 'store' | 'adopt'>

interface StoredFiles {
  readonly prepared: PreparedInput
  /** Releases what it keeps. Call it when the write has ended. */
  release(): void
}

/** `id`: of a record that is there. Files that their fields refuse are not stored. @throws ServiceError UNAVAILABLE */
export async function storeFiles(files: FileStore, input: PreparedInput, id: string | undefined): Promise<StoredFiles> {
  const uploads = acceptable(input)
  const given = id ?? toText(lastOf(input, 'id'))
  const newId = given === '' && uploads.length > 0 ? generatedId(input) : undefined
  const record = newId ?? given
  if (newId === undefined && canBeId(given)) await files.adopt(input.definition, given)
  const isStored = uploads.length > 0 && isId(input, record)
  const stored = isStored ? await files.store(input.definition, record, uploads) : undefined
  if (stored === undefined) return { prepared: input, release: () => {} }
  const { names: elsewhere, release } = stored
  return {
    prepared: { ...input, elsewhere, ...(newId !== undefined && { drawn: { ...input.drawn, id: newId } }) },
    release,
  }
}

/** Whether an id can stand in a key. The write refuses any other id. */
function isId({ definition: { fields } }: PreparedInput, id: string): boolean {
  const field = fields.find(({ name }) => name === 'id')
  return field !== undefined && canBeId(id) && checkValue(field, id, { old: undefined }) === undefined
}

/** The last value of a field: changes of hooks come after the input. */
function lastOf({ input, changes }: PreparedInput, name: string): unknown {
  return changes.findLast(([key]) => key === name)?.[1] ?? ownValue(input, name)
}

function acceptable({ definition: { fields }, input, changes }: PreparedInput): readonly NewFile[] {
  return [...Object.entries(input), ...changes].flatMap(([key, value]) => {
    const field = fileFieldMeant(fields, key)
    if (field === undefined) return []
    const isAccepted = (file: NewFile): boolean =>
      checkValue(field, isMany(field) ? [file] : file, { old: undefined }) === undefined
    return listOf(value).filter((file): file is NewFile => file instanceof NewFile && isAccepted(file))
  })
}

function generatedId({ definition: { fields }, chance, drawn }: PreparedInput): string | undefined {
  const id = fields.find(({ name }) => name === 'id')
  const pattern = id === undefined ? '' : patternOf(id)
  return pattern === '' ? undefined : (drawn?.['id'] ?? generate(pattern, chance))
}
