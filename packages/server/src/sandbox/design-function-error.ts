/** A function of a design document failed, was stopped, or refused a document. */
import { ServiceError } from '@pannier/backend'
import type { FailureKind } from './protocol.ts'

export class DesignFunctionError extends ServiceError {
  readonly kind: FailureKind

  constructor(kind: FailureKind, message: string, options?: ErrorOptions) {
    const code = kind === 'unavailable' ? 'UNAVAILABLE' : kind === 'failed' ? 'FUNCTION_FAILED' : 'FUNCTION_STOPPED'
    super(code, message, options)
    this.name = 'DesignFunctionError'
    this.kind = kind
  }
}
