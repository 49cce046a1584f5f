/** The application that PocketBase's code reaches. */
import type { Backend } from '@pannier/backend'

export interface Application {
  readonly backend: Backend
  /** Values that handlers share: `$app.store()`. They are in memory. */
  readonly store: Map<string, unknown>
}
