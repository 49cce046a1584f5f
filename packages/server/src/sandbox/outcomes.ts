/**
 * Checks the shape of what functions returned for documents: a function may tamper with the code that collects its
 * results.
 */
import { isObject } from 'pannier/internal'
import type { FailureKind, Outcome } from './protocol.ts'

/** Failures of one document. Any other failure fails the call. */
const KINDS: ReadonlySet<unknown> = new Set<FailureKind>(['failed', 'budget', 'memory'])
const SHAPELESS = { kind: 'failed', message: 'its results are not what results are' } as const

/** The outcomes in an answer of the sandbox, one for each document. */
export function outcomesOf<T>(
  answer: unknown,
  documents: number,
  isValue: (value: unknown) => value is T,
): readonly Outcome<T>[] {
  const given: readonly unknown[] = Array.isArray(answer) ? answer : []
  return Array.from({ length: documents }, (_, at) => outcomeOf(given[at], isValue))
}

function outcomeOf<T>(outcome: unknown, isValue: (value: unknown) => value is T): Outcome<T> {
  if (!isObject(outcome)) return { failure: SHAPELESS }
  const { value, failure } = outcome
  if (isValue(value)) return { value }
  if (!isObject(failure) || !KINDS.has(failure['kind'])) return { failure: SHAPELESS }
  const { kind, message } = failure
  return { failure: { kind: kind as FailureKind, message: typeof message === 'string' ? message : 'no reason' } }
}
