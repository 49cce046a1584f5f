/** A function of a design document has failed, was stopped, or refuses a document. */
import type { FailureKind } from './protocol.ts'

export class DesignFunctionError extends Error {
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'DesignFunctionError'
    this.kind = kind
  }
}

/** What `validate_doc_update` throws: answered with 403 or 401 and the reason. */
export class DocumentRefusedError extends Error {
  readonly error: 'forbidden' | 'unauthorized'
  readonly status: 401 | 403

  constructor(error: 'forbidden' | 'unauthorized', reason: string) {
    super(reason)
    this.name = 'DocumentRefusedError'
    this.error = error
    this.status = error === 'forbidden' ? 403 : 401
  }
}
