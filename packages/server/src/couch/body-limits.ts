/** Limits of bodies, by what they hold. */
import type { BodyLimits } from '../http/request-body.ts'
import type { ServerContext } from './server-context.ts'

export function jsonLimits({ limits }: ServerContext): BodyLimits {
  return { bytesMax: limits.requestBytesMax, stallMsMax: limits.stallMsMax }
}

/** The limit of a body with documents and attachments, which have limits of their own. */
export function documentLimits({ limits }: ServerContext): BodyLimits {
  return { bytesMax: limits.uploadBytesMax, stallMsMax: limits.stallMsMax }
}

export function attachmentLimits({ limits }: ServerContext): BodyLimits {
  return { bytesMax: limits.attachmentBytesMax, stallMsMax: limits.stallMsMax }
}
