/**
 * Asks a schema about documents. docs/internals/schemas.md is normative.
 *
 * The schema sees the document without the database's fields (names that start with '_'), except `_id`. A strict schema
 * without `_id` would refuse each document that has one. This is detected once (see `#withoutId`); then the schema sees
 * the content alone.
 */
import { isThenable } from '../../base/callback.ts'
import { PannierError } from '../../base/errors.ts'
import { andThen, isPromise, type MaybePromise } from '../../base/async.ts'
import { ArgumentError, badArgument } from '../../base/options.ts'
import { checkPlainObject, isPlainObject } from '../../codec/collation.ts'
import { isReserved } from '../../codec/encode-document.ts'
import type { StoredDocument } from '../../document/document-reader.ts'
import type { SchemaIssue, SchemaResult, StandardSchema } from './standard-schema.ts'

/** A problem of a document and its path, as `details.issues` of PANNIER_DOCUMENT_INVALID has it. */
export interface DocumentIssue {
  /** The schema's message. */
  readonly message: string
  /** From the document inwards; empty for the document itself. */
  readonly path: readonly (string | number)[]
}

type Fields = Readonly<Record<string, unknown>>

export class DocumentValidator {
  readonly #schema: StandardSchema['~standard']
  /** Whether the content is checked only: the schema is strict and knows no `_id`. */
  #contentOnly = false

  constructor(schema: StandardSchema) {
    this.#schema = schema['~standard']
  }

  /** Checks all documents. Gives them as they are to be stored. Throws, or rejects, for the first that is not valid. */
  checkAll(inputs: readonly unknown[], many: boolean): MaybePromise<Fields[]> {
    return andThen(this.checkEach(inputs, many), (checked) =>
      checked.map((document) => {
        if (document instanceof PannierError) throw document
        return document
      }),
    )
  }

  /** For each the document as it is to be stored, or what is wrong with it. `many`: errors name the position. */
  checkEach(inputs: readonly unknown[], many: boolean): MaybePromise<(Fields | PannierError)[]> {
    const checked = inputs.map((input, position) => this.check(input, many ? position : undefined))
    // Most schemas are synchronous, and a batch may be large.
    return checked.some(isPromise)
      ? Promise.all(checked.map(async (one) => one))
      : (checked as (Fields | PannierError)[])
  }

  /** The document as it is to be stored, or what is wrong with it. A TypeError for what is no document. */
  check(input: unknown, position?: number): MaybePromise<Fields | PannierError> {
    checkPlainObject(input)
    // A tombstone has no content that would have to be of use.
    if (input['_deleted'] === true) return input
    return andThen(this.#ask(input), (result) =>
      result.issues === undefined ? stored(input, result.value, position) : invalid(input, result.issues, position),
    )
  }

  /**
   * For `update`, whose function runs inside the write: what it makes of a document is validated there. That is done at once,
   * or another write could come between and would be lost.
   */
  checkUpdated(change: (document: StoredDocument) => unknown): (document: StoredDocument) => unknown {
    return (document) => {
      const changed = change(document)
      // What is no document at all is refused where it would be written.
      if (!isPlainObject(changed)) return changed
      const { _id = document._id } = changed
      if (_id !== document._id) return changed
      const checked = this.check({ ...changed, _id })
      if (isPromise(checked)) {
        checked.catch(() => {})
        throw badArgument('update()', 'the schema must be synchronous (or read the document and put() it)', checked)
      }
      if (checked instanceof PannierError) throw checked
      return checked
    }
  }

  #ask(input: Fields): MaybePromise<SchemaResult<unknown>> {
    const content = contentOf(input)
    const id = input['_id']
    if (id === undefined || this.#contentOnly) return this.#validate(content)
    return andThen(this.#validate({ _id: id, ...content }), (result) =>
      result.issues === undefined ? result : this.#withoutId(id, content, result),
    )
  }

  /**
   * Refused with its `_id`. Is it only for having one? A strict schema that knows no `_id` refuses any other unknown field in
   * the same words, one that objects to this `_id` does not.
   */
  #withoutId(id: unknown, content: Fields, refusal: SchemaResult<unknown>): MaybePromise<SchemaResult<unknown>> {
    const asked = this.#validate({ [UNKNOWN_FIELD]: id, ...content })
    return andThen(asked, (other) => {
      if (wordsOf(refusal, '_id') !== wordsOf(other, UNKNOWN_FIELD)) return refusal
      return andThen(this.#validate(content), (alone) => {
        // Equal words may also mean that nothing is wrong with the `_id`, but something else is.
        if (alone.issues === undefined) this.#contentOnly = true
        return alone.issues === undefined || alone.issues.length < (refusal.issues?.length ?? 0) ? alone : refusal
      })
    })
  }

  #validate(value: Fields): MaybePromise<SchemaResult<unknown>> {
    const result: unknown = this.#schema.validate(value)
    return isThenable(result) ? Promise.resolve(result).then(checkedResult) : checkedResult(result)
  }
}

function checkedResult(result: unknown): SchemaResult<unknown> {
  const { issues, ...rest } = (result ?? {}) as Partial<SchemaResult<unknown>>
  if (
    issues === undefined
      ? 'value' in rest
      : typeof (issues as Partial<Iterable<unknown>>)[Symbol.iterator] === 'function'
  )
    return result as SchemaResult<unknown>
  throw new ArgumentError('the schema must give a value or issues', result)
}

/** No schema knows it. */
const UNKNOWN_FIELD = '_idUnknownToAnySchema'

function wordsOf({ issues = [] }: SchemaResult<unknown>, name: string): string {
  return JSON.stringify(readable(issues)).replaceAll(name, ' ')
}

function contentOf(input: Fields): Fields {
  if (!Object.keys(input).some(isReserved)) return input
  return Object.fromEntries(Object.entries(input).filter(([name]) => !isReserved(name)))
}

/** The output of the schema, with the fields that it was not shown. */
function stored(input: Fields, output: unknown, position: number | undefined): Fields | PannierError {
  if (!isPlainObject(output)) throw new ArgumentError('the output of the schema must be a plain object', output)
  if (input['_id'] !== undefined && output['_id'] !== undefined && output['_id'] !== input['_id'])
    return invalid(input, [{ message: 'The schema changes the _id.', path: ['_id'] }], position)
  const kept = Object.entries(input).filter(([name]) => isReserved(name))
  return kept.length === 0 ? output : { ...output, ...Object.fromEntries(kept) }
}

function invalid(input: Fields, issues: readonly SchemaIssue[], position: number | undefined): PannierError {
  const id = input['_id']
  const found = readable(issues)
  const [first] = found
  const where = position === undefined ? '' : ` at position ${position}`
  const what = id === undefined ? `The document${where}` : `The document ${JSON.stringify(id)}${where}`
  const why = first === undefined ? '' : `: ${[first.path.join('.'), first.message].filter(Boolean).join(': ')}`
  const more = found.length > 1 ? ` (and ${found.length - 1} more)` : ''
  return new PannierError('PANNIER_DOCUMENT_INVALID', `${what} is not valid${why}${more}`, {
    details: { id, ...(position !== undefined && { position }), issues: found },
  })
}

/** Plain data: some libraries have arrays of classes of their own. */
function readable(issues: readonly SchemaIssue[]): DocumentIssue[] {
  return Array.from(issues, ({ message, path = [] }) => {
    const keys = Array.from(path, (segment) => (typeof segment === 'object' ? segment.key : segment))
    return { message, path: keys.map((key) => (typeof key === 'symbol' ? String(key) : key)) }
  })
}
