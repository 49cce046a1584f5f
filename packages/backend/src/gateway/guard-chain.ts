/** Guards, asked one after another. */
import { isPannierError, PannierError } from 'pannier'
import { awaitUser, callUser, type Expected, type FollowingGuard, isObject } from 'pannier/internal'
import type { JsonObject } from './documents.ts'
import type { GuardedChange, GuardedWrite, Judge, Refusal, Write, WriteGuard } from './guards.ts'
import { errorText, LOG_LEVELS, type LogWriter } from './log-entry.ts'
import { ServiceError } from './service-error.ts'

const GUARD = 'guards'
const A_JUDGE: Expected<Judge | undefined> = {
  what: 'a function, or undefined',
  is: (value): value is Judge | undefined => value === undefined || typeof value === 'function',
}
const A_REFUSAL: Expected<Refusal | undefined> = {
  what: 'an error, or undefined',
  is: (value): value is Refusal | undefined => value === undefined || value instanceof Error,
}

/** Guards in their order, as one. */
export class GuardChain {
  readonly #guards: readonly WriteGuard[]
  readonly #logs: LogWriter

  /** Guards are asked in this order. What one of them throws after a write is logged. */
  constructor(guards: readonly WriteGuard[], logs: LogWriter) {
    this.#guards = guards
    this.#logs = logs
  }

  /** Whether any of them wants to see documents before the transaction. */
  get prepares(): boolean {
    return this.#guards.some(({ prepare }) => prepare !== undefined)
  }

  /** The documents as the guards return them, in their order; or why one is refused. */
  async prepare(write: GuardedWrite): Promise<readonly (JsonObject | Refusal)[]> {
    const { documents } = write
    let verdicts: readonly (JsonObject | Refusal)[] = documents
    for (const guard of this.#guards) {
      if (guard.prepare === undefined) continue
      // Most guards have nothing to say to most documents.
      const places = verdicts === documents ? undefined : passing(verdicts)
      if (places?.length === 0) break
      const asked = places === undefined ? documents : (places.map((place) => verdicts[place]!) as JsonObject[])
      const given = asked === documents ? write : { ...write, documents: asked }
      const prepared = await awaitUser(GUARD, 'prepare', () => guard.prepare!(given), {
        what: 'a document or an error for each document',
        is: (answer) =>
          Array.isArray(answer) &&
          answer.length === asked.length &&
          answer.every((one) => one instanceof Error || isObject(one)),
      } as Expected<readonly (JsonObject | Refusal)[]>)
      if (prepared === asked) continue
      if (places === undefined) verdicts = prepared
      else {
        const next = [...verdicts]
        for (const [index, place] of places.entries()) next[place] = prepared[index]!
        verdicts = next
      }
    }
    return verdicts
  }

  /** The judges inside the transaction. Ask it after `prepare`. */
  decide(write: Write): readonly Judge[] {
    return this.#guards.flatMap((guard) => callUser(GUARD, 'decide', () => guard.decide?.(write), A_JUDGE) ?? [])
  }

  /**
   * The judges of documents that a delete takes along, or changes. A refusal is one of the delete. `nameOf`: by which users know a
   * collection of the library.
   */
  following(write: Write, nameOf: (collection: string) => string | undefined): FollowingGuard {
    return (collection) => {
      const database = nameOf(collection)
      const judges = database === undefined ? [] : this.decide({ ...write, database })
      if (judges.length === 0) return undefined
      return ({ old, document, reader }) => {
        const refusal = judgedBy(judges, { old: old(), document: document(), reader })
        return refusal && asRefusal(asServiceError(refusal))
      }
    }
  }

  /** The documents are stored: what a guard throws now refuses nothing. */
  written(write: Write, documents: readonly JsonObject[]): void {
    for (const guard of this.#guards) {
      try {
        callUser(GUARD, 'written', () => guard.written?.(write, documents))
      } catch (error) {
        const message = `A guard failed after a write to ${write.database}. ${errorText(error)}`
        this.#logs.write({ level: LOG_LEVELS.error, message })
      }
    }
  }
}

/** The first refusal of a document. */
export function judgedBy(judges: readonly Judge[], change: GuardedChange): Refusal | undefined {
  for (const judge of judges) {
    const refusal = callUser(GUARD, 'a judge', () => judge(change), A_REFUSAL)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** As a guard gives it to the library. */
export function asRefusal(refusal: Refusal): PannierError {
  if (refusal instanceof PannierError) return refusal
  return new PannierError('PANNIER_DOCUMENT_INVALID', refusal.message, { cause: refusal })
}

/** The refusal that the library got from `asRefusal`, or its own reason. */
export function reasonIn(error: PannierError): Refusal {
  return error.cause instanceof ServiceError ? error.cause : error
}

export function asServiceError(refusal: Refusal): ServiceError {
  if (!isPannierError(refusal)) return refusal as ServiceError
  const code = refusal.code === 'PANNIER_CONFLICT' ? 'CONFLICT' : 'INVALID'
  return new ServiceError(code, refusal.message, { cause: refusal })
}

function passing(verdicts: readonly (JsonObject | Refusal)[]): readonly number[] {
  return Array.from(verdicts.keys()).filter((place) => !(verdicts[place] instanceof Error))
}
